"""A run from its first event to its last: opened, run by its strategy, recorded whatever happens, closed."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable, Sequence

from kgot_core.contracts.backend import GraphBackend, OpenContext
from kgot_core.contracts.task import Answer, Outcome, Task
from kgot_core.errors import KgotError, ReplayDiverged
from kgot_core.events import RunStarted
from kgot_core.run.caps import Budget
from kgot_core.run.concurrency.held import Held
from kgot_core.run.concurrency.threads import in_thread
from kgot_core.run.context import Progress, RunContext
from kgot_core.run.desks.code import CodeDesk
from kgot_core.run.desks.embedding import EmbeddingDesk
from kgot_core.run.desks.files import FileShelf, describe_attachment
from kgot_core.run.desks.graph import GraphDesk
from kgot_core.run.desks.model import ModelDesk
from kgot_core.run.desks.tool_context import CallContext
from kgot_core.run.desks.toolbox import ToolDesk
from kgot_core.run.ending import checked, failure, finish, was_cancelled
from kgot_core.run.faults import said
from kgot_core.run.given import take_given
from kgot_core.run.opening import open_graph, open_tools
from kgot_core.run.parts import Parts
from kgot_core.run.prompting.rules import graph_rules
from kgot_core.run.prompting.transcript import Transcript
from kgot_core.run.record.folder import RunWriter
from kgot_core.run.record.journal import Journal

CLOSING_SECONDS = 4.0
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
    store: Held[GraphBackend] = Held(owned=parts.close_backend)
    code = CodeDesk(journal, parts.sandbox, parts.code_limits, lambda: files.made_packages)
    opened: list[Callable[[], None]] = []
    stop = True
    try:
        journal.emit("", start)
        with parts.purse.run(context.folder, lambda: journal.usage):
            outcome = checked(await _answer(parts, task, journal, files, code, context, store, opened), parts.strategy)
        stop = False
    except asyncio.CancelledError as error:
        if was_cancelled():
            finish(journal, writer, Outcome("The run was cancelled", "cancelled"))
            raise
        outcome = failure(journal, error)
    except ReplayDiverged:
        raise
    except (Exception, SystemExit) as error:  # plugins run in here; their faults end the run with one line, too
        outcome = failure(journal, error)
    finally:
        await _close(store, code, files, opened, stop)
    return finish(journal, writer, outcome)


async def _answer(
    parts: Parts,
    task: Task,
    journal: Journal,
    files: FileShelf,
    code: CodeDesk,
    context: OpenContext,
    store: Held[GraphBackend],
    opened: list[Callable[[], None]],
) -> Outcome:
    graph = await open_graph(journal, parts, context, store)
    budget = Budget(parts.options.caps, lambda: journal.usage, lambda: journal.seconds, 0.0, parts.purse)
    models = ModelDesk(journal, parts.clients, parts.model_names, budget)
    embedding = EmbeddingDesk(journal, parts.embedder, parts.model_names.get("embedding", ""), budget)
    calls = CallContext(
        task.question,
        files,
        parts.sandbox,
        models,
        embedding,
        journal,
        code.run,
        parts.prompts.fill,
        opened.append,
        parts.among_runs,
    )
    specs, tools = await open_tools(journal, parts.tools, calls)
    retries = parts.options.limits.max_tool_retries
    toolbox = ToolDesk(journal, specs, tools, retries, calls.enter, budget, reveal=files.reveal)
    calls.attach(toolbox)
    desk = GraphDesk(
        journal,
        graph.dialect,
        graph.state,
        graph.backend,
        parts.graph_seconds,
        parts.graph_rows,
        parts.schema,
        reads_only=parts.strategy.reads_only,
    )
    if parts.given is not None:
        await take_given(journal, desk, parts.given, parts.graph_seconds)
    rules = graph_rules(parts.prompts, graph.dialect, parts.solver.form, parts.schema_text)
    run = RunContext(
        task=task,
        options=parts.options,
        graph=desk,
        tools=toolbox,
        files=files,
        solver=parts.solver,
        sandbox=parts.sandbox,
        journal=journal,
        models=models,
        embedding=embedding,
        code=code,
        prompts=parts.prompts,
        transcript=Transcript(task, files, graph.dialect, graph.state, parts.state_tokens),
        voters=parts.voters,
        rules={"graph": rules, "tool": parts.prompts.fill("tool_rules"), "judge": rules},
        progress=Progress(parts.options.result_tokens, state_size=len(graph.state)),
        budget=budget,
    )
    try:
        return await parts.strategy.run(run)
    finally:
        if len(graph.state) != run.progress.state_size:
            # Where the disk is full, this is not the news that counts.
            with contextlib.suppress(KgotError):
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


async def _close(
    store: Held[GraphBackend], code: CodeDesk, files: FileShelf, opened: Sequence[Callable[[], None]], stop: bool
) -> None:
    """Gives back what the run held.

    Args:
        store: The graph.
        code: The sandbox for scripts.
        files: The run's files.
        opened: What tools want to be called, to close what they have opened.
        stop: Something may still be running in them.
    """
    await close_all(
        [*([store.cancel, code.cancel] if stop else []), code.close, store.close, *reversed(opened), files.close]
    )


async def close_all(steps: Sequence[Callable[[], None]]) -> None:
    """Takes closing steps one after another, each whatever the others do; what hangs is left behind."""

    def work() -> None:
        for step in steps:
            try:
                step()
            except BaseException as error:  # this thread is ours alone, so an interrupt here is a plugin's too
                log.warning("%s while a run was closed", said(error))

    with contextlib.suppress(TimeoutError):
        await asyncio.shield(in_thread(work, CLOSING_SECONDS))
