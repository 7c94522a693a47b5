"""Choose the tools that bring what is missing, and call them (paper, B.1.1 ``define_tool_calls``)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from kgot_core.contracts.model import Completion, ToolCallRequest
from kgot_core.contracts.run import Run
from kgot_core.contracts.tools import ToolResult
from kgot_core.errors import Unreadable
from kgot_core.reading.toolcalls import read_tool_calls
from kgot_core.run.side_by_side import side_by_side
from kgot_core.run.toolbox import unknown_tool
from kgot_core.run.transcript import asked_again

DEFAULT_TOOL = "ask_llm"
CORRECTIONS = 2


async def choose_tools(run: Run, missing: str) -> tuple[ToolCallRequest, ...]:
    """Asks the tool chain for calls; wrong ones go back with the reason, and if none fits, a model is asked.

    Args:
        run: The run at this step.
        missing: What is missing.

    Returns:
        Distinct calls that can be made.
    """
    slots = {"question": asked_again(run.task.question), "missing": missing}
    tail = run.prompt("choose_tools", **slots)
    good: list[ToolCallRequest] = []
    for attempt in range(1 + CORRECTIONS):
        step = "choice" if attempt == 0 else f"correction-{attempt}"
        reply = await run.ask_with_state(step, "choose_tools", tail, role="tool")
        calls, problems = _read(run, reply.completions[0])
        good = _distinct([*good, *calls])
        if not problems:
            break
        tail = run.prompt("choose_again", problems="\n".join(f"- {problem}" for problem in problems), **slots)
    if not good and any(spec.name == DEFAULT_TOOL for spec in run.tools.specs):
        question = f"{run.task.question}\n\nWanted now: {missing}"
        good = [ToolCallRequest(DEFAULT_TOOL, {"question": question})]
    return tuple(good)


async def call_tools(run: Run, calls: Sequence[ToolCallRequest]) -> tuple[ToolResult, ...]:
    """Runs the calls side by side; results come in the order of the calls."""
    return await side_by_side(run.tools.call(f"{run.path}/{number}", call) for number, call in enumerate(calls, 1))


def _read(run: Run, completion: Completion) -> tuple[list[ToolCallRequest], list[str]]:
    """Takes the model's calls, or those it wrote as text, apart into good ones and problems."""
    names = [spec.name for spec in run.tools.specs]
    calls = list(completion.tool_calls)
    problems: list[str] = []
    if not calls:
        try:
            reading = read_tool_calls(completion.text, names, _parameters(run))
        except Unreadable as error:
            return [], [error.message]
        calls = list(reading.calls)
        problems += [unknown_tool(unknown.name, unknown.suggestion, names) for unknown in reading.unknown]
    good = []
    for call in calls:
        problem = run.tools.problem(call)
        if problem:
            problems.append(problem)
        else:
            good.append(call)
    return good, problems


def _parameters(run: Run) -> dict[str, list[str]]:
    return {spec.name: list(_mapping(spec.parameters.get("properties"))) for spec in run.tools.specs}


def _mapping(value: object) -> Mapping[str, object]:
    return value if isinstance(value, Mapping) else {}


def _distinct(calls: Sequence[ToolCallRequest]) -> list[ToolCallRequest]:
    seen = {
        json.dumps([call.name, dict(call.arguments)], sort_keys=True, default=str): call for call in reversed(calls)
    }
    return [call for call in calls if any(call is kept for kept in seen.values())]
