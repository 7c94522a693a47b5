"""Choose the tools that bring what is missing, and call them (paper, B.1.1 ``define_tool_calls``)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from kgot_core.contracts.model import Completion, ToolCallRequest
from kgot_core.contracts.run import Run
from kgot_core.contracts.tools import ToolResult
from kgot_core.contracts.voter import Ballot, Vote
from kgot_core.errors import Unreadable
from kgot_core.reading.toolcalls import read_tool_calls
from kgot_core.run.concurrency.side_by_side import side_by_side
from kgot_core.run.desks.toolbox import unknown_tool
from kgot_core.run.desks.voting import record
from kgot_core.run.prompting.transcript import asked_again

DEFAULT_TOOL = "ask_llm"
CORRECTIONS = 2


async def choose_tools(run: Run, missing: str) -> tuple[ToolCallRequest, ...]:
    """Lets the tool chain choose calls; wrong ones go back with the reason, and if none fits, a model is asked.

    Args:
        run: The run at this step.
        missing: What is missing.

    Returns:
        Distinct calls that can be made.
    """
    slots = {"question": asked_again(run.task.question), "missing": missing}
    good, problems = await _voted(run, run.prompt("choose_tools", **slots), missing)
    for attempt in range(1, 1 + CORRECTIONS if problems else 1):
        tail = run.prompt("choose_again", problems="\n".join(f"- {problem}" for problem in problems), **slots)
        reply = await run.ask_with_state(f"correction-{attempt}", "choose_tools", tail, role="tool")
        calls, problems = _read(run, reply.completions[0])
        good = _distinct([*good, *calls])
        if not problems:
            break
    if not good and any(spec.name == DEFAULT_TOOL for spec in run.tools.specs):
        question = f"{run.task.question}\n\nWanted now: {missing}"
        good = [ToolCallRequest(DEFAULT_TOOL, {"question": question})]
    return tuple(good)


async def call_tools(run: Run, calls: Sequence[ToolCallRequest]) -> tuple[ToolResult, ...]:
    """Runs the calls side by side; results come in the order of the calls."""
    return await side_by_side(run.tools.call(f"{run.path}/{number}", call) for number, call in enumerate(calls, 1))


async def _voted(run: Run, tail: str, missing: str) -> tuple[list[ToolCallRequest], list[str]]:
    """Puts the choice to the vote; gives the calls that won, and what is wrong with others of the same sample."""
    size = run.options.choose_tools_votes

    async def draw(first: int, count: int) -> Sequence[Vote]:
        step = "choice" if first == 1 else f"choice-{first}"
        temperature = run.options.vote_temperature if size > 1 else None
        reply = await run.ask_with_state(step, "choose_tools", tail, role="tool", n=count, temperature=temperature)
        return [_vote(*_read(run, completion)) for completion in reply.completions]

    at_once = size == 1 or await run.samples_at_once("at-once", "tool")
    # A sample without a call that can be made is corrected, with the reason, where no other has one either.
    ballot = Ballot("choose_tools", size, draw, at_once=at_once, redraw=False, basis=missing, with_state=True)
    choice = await run.vote(ballot)
    best = (choice.supporting() or choice.votes)[0]
    if size > 1:
        record(run, ballot, choice, best.text)
    calls, problems = best.payload or ([], [best.reason])
    return calls, problems


def _vote(calls: Sequence[ToolCallRequest], problems: Sequence[str]) -> Vote:
    distinct = _distinct(calls)
    lines = [f"{call.name}({json.dumps(dict(call.arguments), ensure_ascii=False, default=str)})" for call in distinct]
    key = "; ".join(sorted(_call_key(call) for call in distinct))
    return Vote(key or None, "; ".join(problems), (distinct, list(problems)), "\n".join(lines))


def _call_key(call: ToolCallRequest) -> str:
    """The same call written twice counts as one: case, spaces and the order of arguments do not matter."""
    arguments = json.dumps(dict(call.arguments), sort_keys=True, ensure_ascii=False, default=str)
    return " ".join(f"{call.name}({arguments})".casefold().split())


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
