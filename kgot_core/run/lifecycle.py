"""A run from its first event to its last: opened, run by its strategy, recorded whatever happens, closed."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from kgot_core.contracts.backend import OpenContext
from kgot_core.contracts.task import Answer, Evidence, Outcome, Task, Usage
from kgot_core.errors import KgotError, ReplayDiverged, StoreUnavailable
from kgot_core.events import RunFinished, RunStarted
from kgot_core.graph.values import JsonValue
from kgot_core.run.code import CodeDesk
from kgot_core.run.context import Progress, RunContext
from kgot_core.run.files import FileShelf, describe_attachment
from kgot_core.run.folder import RunWriter
from kgot_core.run.graph import GraphDesk
from kgot_core.run.journal import Journal
from kgot_core.run.model import ModelDesk
from kgot_core.run.opening import OpenedGraph, open_graph, open_tools
from kgot_core.run.parts import Parts
from kgot_core.run.rules import graph_rules
from kgot_core.run.threads import in_thread
from kgot_core.run.tool_context import CallContext
from kgot_core.run.toolbox import ToolDesk
from kgot_core.run.transcript import Transcript

CLOSING_SECONDS = 5.0
log = logging.getLogger(__name__)
# Without a handler of its own a library's warnings would be printed by logging's last resort.
logging.getLogger("kgot_core").addHandler(logging.NullHandler())


async def run_task(
    parts: Parts,
    task: Task,
    files: FileShelf,
    start: RunStarted,
    journal: Journal,
    writer: RunWriter | None,
    context: OpenContext,
) -> Answer:
    """Runs a task to its end.

    Args:
        parts: What the session has opened.
        task: The task.
        files: Its attachments; closed at the end.
        start: The run's first event.
        journal: The run's journal.
        writer: Writes the answer into the run's folder; ``None`` in memory.
        context: What the store is opened with.

    Returns:
        The answer, for every way in which a run may end but cancellation.

    Raises:
        asyncio.CancelledError: The run was cancelled; it is recorded as such.
    """
    folder = writer.folder if writer else None
    journal.emit("", start)
    code = CodeDesk(journal, parts.sandbox, parts.code_limits)
    opened: list[OpenedGraph] = []
    try:
        outcome = await _answer(parts, task, journal, files, code, context, opened)
    except asyncio.CancelledError:
        for graph in opened:
            if graph.backend is not None:
                graph.backend.cancel()
        code.cancel()
        _finish(journal, writer, Outcome("The run was cancelled", "cancelled"), folder)
        raise
    except ReplayDiverged:
        raise
    except KgotError as error:
        outcome = Outcome("The run failed", "failed", reason=_cause(error))
    except Exception as error:  # plugins run in here; their faults end the run with one line, too
        log.exception("the run %s failed", journal.run)
        outcome = Outcome("The run failed", "failed", reason=f"unexpected {type(error).__name__}: {error}")
    finally:
        await _close(parts, opened, code, files)
    return _finish(journal, writer, outcome, folder)


async def _answer(
    parts: Parts,
    task: Task,
    journal: Journal,
    files: FileShelf,
    code: CodeDesk,
    context: OpenContext,
    opened: list[OpenedGraph],
) -> Outcome:
    graph = await open_graph(journal, parts, context)
    opened.append(graph)
    models = ModelDesk(journal, parts.clients, parts.model_names)
    calls = CallContext(task.question, files, parts.sandbox, models, journal, code.run, parts.prompts.fill)
    specs, tools = await open_tools(journal, parts.tools, calls)
    limits = parts.options.limits
    desk = GraphDesk(
        journal, graph.dialect, graph.state, graph.backend, parts.graph_seconds, parts.graph_rows, parts.schema
    )
    rules = graph_rules(parts.prompts, graph.dialect, parts.solver.form, parts.schema_text)
    run = RunContext(
        task=task,
        options=parts.options,
        graph=desk,
        tools=ToolDesk(journal, specs, tools, limits.max_tool_retries, calls.enter),
        files=files,
        solver=parts.solver,
        sandbox=parts.sandbox,
        journal=journal,
        models=models,
        code=code,
        prompts=parts.prompts,
        transcript=Transcript(task, files, graph.dialect, graph.state, parts.state_tokens),
        voters=parts.voters,
        rules={"graph": rules, "tool": parts.prompts.fill("tool_rules")},
        progress=Progress(parts.options.result_tokens),
    )
    try:
        return await parts.strategy.run(run)
    finally:
        if len(graph.state) != run.progress.state_size:
            run.record_state()


def started(parts: Parts, task: Task, files: FileShelf) -> RunStarted:
    """Makes a run's first event."""
    return RunStarted(
        versions=dict(parts.versions),
        question=task.question,
        files=tuple({**describe_attachment(files.path(name)), "name": name} for name in files.names()),
        plan=dict(parts.plan),
        prompts=parts.prompts.digest,
    )


def _finish(journal: Journal, writer: RunWriter | None, outcome: Outcome, folder: Path | None) -> Answer:
    answer = Answer(
        text=outcome.text,
        status=outcome.status,
        how=outcome.how,
        value=outcome.value,
        reason=outcome.reason,
        evidence=outcome.evidence,
        iterations=outcome.iterations,
        usage=journal.usage,
        run=journal.run,
        folder=folder,
    )
    data = answer_to_json(answer)
    journal.emit("", RunFinished(answer=data))
    if writer is not None:
        writer.write_answer(data)
    return answer


async def _close(parts: Parts, opened: list[OpenedGraph], code: CodeDesk, files: FileShelf) -> None:
    """Gives back what the run held, in the reverse order of opening; what hangs is left behind."""

    def work() -> None:
        code.close()
        for graph in opened:
            if graph.backend is not None and parts.close_backend:
                graph.backend.close()
        files.close()

    try:
        await asyncio.shield(in_thread(work, CLOSING_SECONDS))
    except TimeoutError:
        return


def _cause(error: KgotError) -> str:
    if isinstance(error, StoreUnavailable):
        return f"{error}; what was written so far is in the run's folder"
    return str(error)


def answer_to_json(answer: Answer) -> dict[str, JsonValue]:
    """Gives an answer as ``answer.json`` and ``--json`` show it; the run's folder is not part of it."""
    return {
        "run": answer.run,
        "status": answer.status,
        "text": answer.text,
        "value": answer.value,
        "how": answer.how,
        "reason": answer.reason,
        "iterations": answer.iterations,
        "evidence": [{**asdict(item), "sources": list(item.sources)} for item in answer.evidence],
        "usage": asdict(answer.usage),
        "cost": answer.cost,
    }


def answer_from_json(data: Mapping[str, Any], folder: Path | None = None) -> Answer:
    """Reads an answer from its JSON form."""
    return Answer(
        text=data["text"],
        status=data["status"],
        how=data["how"],
        value=data["value"],
        reason=data["reason"],
        evidence=tuple(
            Evidence(item["element"], item["text"], tuple(item["sources"]), item["iteration"])
            for item in data["evidence"]
        ),
        iterations=data["iterations"],
        usage=Usage(**data["usage"]),
        run=data["run"],
        folder=folder,
    )
