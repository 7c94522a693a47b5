"""A session: models, tools and settings that several runs share."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from kgot_core.contracts.backend import GraphBackend, GraphScope, OpenContext
from kgot_core.contracts.sink import Sink
from kgot_core.contracts.task import Answer, JsonSchema, Task
from kgot_core.errors import UsageError
from kgot_core.events import Event
from kgot_core.pool.leasing import Slots, leased
from kgot_core.run.concurrency.threads import in_thread
from kgot_core.run.lifecycle import run_task, started
from kgot_core.run.parts import Parts
from kgot_core.run.purse import Purse
from kgot_core.run.record.folder import RunWriter
from kgot_core.run.record.journal import Journal
from kgot_core.session.broken_run import BrokenRun
from kgot_core.session.models import close_models
from kgot_core.session.new_run import new_id, new_shelf, new_task, refuse_run_folder
from kgot_core.session.opening import Given, open_parts
from kgot_core.session.redaction import redactor
from kgot_core.session.schema import json_schema, validated
from kgot_core.session.sinks import Kept, NamedSink, Opened, QueueSink, find_sinks
from kgot_core.session.slots import close_slot_sandboxes, with_slot_sandboxes
from kgot_core.session.starting import NamedGraph, refuse_nothing_to_ask
from kgot_core.session.store import open_pool
from kgot_core.settings.seal import seal
from kgot_core.settings.start import config_folder

if TYPE_CHECKING:
    from langchain_core.embeddings import Embeddings
    from langchain_core.language_models import BaseChatModel
    from langchain_core.tools import BaseTool
    from pydantic import BaseModel

    from kgot_core.plugins import PluginRegistry
    from kgot_core.settings import Settings

SLOTS_LOST = 2
"""In how many slots a run may lose its server before it fails: it may be the run that breaks them."""


class Session:
    """Models, tools and settings that several runs share; made by :func:`kgot_core.open`.

    An asynchronous context manager. Several tasks may be solved at once; two sessions do not see each other.

    Args:
        registry: The plugins.
        settings: The settings in force.
        models: Models by role that win over the settings' names: chat models of LangChain, for ``embedding`` an
            embedding model. They are not closed.
        tools: LangChain tools or plain functions beside those of the settings.
        backend: An open backend or a function that opens one; an open one is not closed and serves one run at a time.
        sinks: Further sinks; not closed.
        runs: Folder for run folders; ``None`` keeps runs in memory.
        schema: JSON schema or Pydantic class of the answers' value.
        graph: Graph that each run starts from: a snapshot, or the name of a file or run.
        beside: Folders where that run may lie, beside ``runs`` and the setting ``runs_dir``.
        purse: What the runs may spend together; no limit by default.

    Raises:
        UsageError: The schema is none.
    """

    def __init__(
        self,
        registry: PluginRegistry,
        settings: Settings,
        *,
        models: Mapping[str, BaseChatModel | Embeddings] | None = None,
        tools: Sequence[BaseTool | Any] = (),
        backend: GraphBackend | Any = None,
        sinks: Sequence[Sink] = (),
        runs: Path | None = None,
        schema: JsonSchema | type[BaseModel] | None = None,
        graph: NamedGraph | None = None,
        beside: Sequence[Path] = (),
        purse: Purse | None = None,
    ) -> None:
        self._registry = registry
        self._settings = settings
        places = (*((runs,) if runs is not None else ()), *beside)
        self._given = Given(models or {}, tools, backend, json_schema(schema), graph, places, purse or Purse())
        self._value_class = schema if isinstance(schema, type) else None
        self._sinks = tuple(sinks)
        self._named_sinks: Sequence[NamedSink] = ()
        self._runs = runs.absolute() if runs is not None else None
        self._parts: Parts | None = None
        self._slots: Slots | None = None
        self._redact = redactor(settings, self._given.models.values())
        # An open backend holds one graph, and so does what a store keeps: their runs come one after another.
        one = isinstance(backend, GraphBackend) or settings.core.graph.keep
        self._turn: AbstractAsyncContextManager[Any] = asyncio.Lock() if one else contextlib.nullcontext()
        self._streams: set[asyncio.Task[Answer]] = set()

    async def __aenter__(self) -> Self:
        self._slots = await in_thread(lambda: open_pool(self._registry, self._settings, self._given.backend))
        parts = await in_thread(lambda: open_parts(self._registry, self._settings, self._given, self._slots))
        self._parts = with_slot_sandboxes(parts, self._slots, self._settings)
        self._named_sinks = find_sinks(self._registry, self._settings)
        return self

    async def __aexit__(self, *ended: object) -> None:
        parts, self._parts = self._parts, None
        # A stream that was left is told so by the loop, at a time of its own.
        await _cancel(*self._streams)
        if parts is not None:
            await close_models([*parts.clients.values(), parts.embedder], self._given.models.values())
            await close_slot_sandboxes(parts)

    async def solve(
        self,
        task: Task | str,
        *,
        attachments: Iterable[Path | str] = (),
        sinks: Sequence[Sink] = (),
        folder: Path | None = None,
    ) -> Answer:
        """Answers a task. Every way a run may end is an answer with its status; see ``Answer.raise_for_status``.

        Args:
            task: A task, or its question.
            attachments: Files beside those of the task.
            sinks: Sinks of this run beside those of the session.
            folder: Folder of this run; by default a new one below the session's folder for runs.

        Raises:
            UsageError: The question is empty, an attachment cannot be read, or the folder cannot be written.
            asyncio.CancelledError: The run was cancelled; what it had is on disk.
        """
        parts = self._opened()
        refuse_nothing_to_ask(parts)
        task = new_task(task, attachments, self._redact)
        run = new_id()
        if folder is None and self._runs is not None:
            refuse_run_folder(self._runs)
            folder = self.folder_of(run)
        files = new_shelf(task, folder, self._settings.core.files)
        async with self._turn, leased(self._slots) as slot:
            writer = RunWriter(folder) if folder is not None else None
            journal = Journal(run, writer, self._told(sinks, run, folder), redact=self._redact)
            scope = GraphScope(parts.graph_name or run, parts.graph_mode)
            context = OpenContext(scope, parts.sandbox, folder, slot=slot.name, run=run)
            try:
                start = started(parts, task, files)
                if writer is not None:
                    start = replace(start, seal=seal(config_folder(self._settings.env), journal.plain(start.plan)))
                answer = await run_task(parts, task, files, start, journal, writer, context)
            finally:
                journal.close()
            lost = answer.status == "failed" and await slot.is_lost()
        if lost and folder is not None:
            return await self.resume(folder, sinks=sinks)
        return self._with_value(answer)

    async def resume(
        self,
        run: Path | str,
        *,
        question: str | None = None,
        attachments: Iterable[Path | str] = (),
        sinks: Sequence[Sink] = (),
        force: bool = False,
    ) -> Answer:
        """Goes on with a run that was broken off; what it had been answered is not asked again.

        Args:
            run: The run's folder. One that is at its end gives its answer once more.
            question: The question that the run should have; that of its record by default.
            attachments: Where attachments are that are not at their places any more, by the names that they had.
            sinks: Sinks beside those of the session.
            force: Goes on although something has changed: recorded answers stay, what follows is asked in the new way.

        Raises:
            UsageError: There is no such run, it is still running, or something that matters has changed.
            ReplayDiverged: It would ask something else than its record holds.
            asyncio.CancelledError: The run was cancelled; what it had is on disk.
        """
        parts = self._opened()
        for tries_left in reversed(range(SLOTS_LOST + 1)):
            async with self._turn:
                broken = await BrokenRun.reopen(Path(run), self._redact)
                try:
                    if broken.answer is not None:
                        return self._with_value(broken.answer)
                    ready = broken.ready(parts, question, attachments, self._registry, force)
                    told = self._told(sinks, broken.run, broken.folder)
                    async with leased(self._slots) as slot:
                        answer = await broken.go_on(ready, parts, told, slot.name)
                        lost = tries_left and answer.status == "failed" and await slot.is_lost()
                finally:
                    broken.close()
            if not lost:
                break
        return self._with_value(answer)

    @property
    def sandbox_name(self) -> str:
        """Name of the sandbox in which model-written Python runs."""
        return self._opened().sandbox.name

    def folder_of(self, run: str) -> Path | None:
        """Gives the folder of a run that was given none of its own; ``None`` where runs stay in memory."""
        return None if self._runs is None else self._runs / run

    async def stream(self, task: Task | str, *, attachments: Iterable[Path | str] = ()) -> AsyncIterator[Event]:
        """Answers a task and gives its events as they happen; the last is a ``RunFinished`` with the answer.

        Leaving the iteration early cancels the run.
        """
        queue: asyncio.Queue[Event | None] = asyncio.Queue()
        running = asyncio.create_task(self.solve(task, attachments=attachments, sinks=[QueueSink(queue)]))
        self._streams.add(running)
        running.add_done_callback(self._streams.discard)
        running.add_done_callback(lambda _: queue.put_nowait(None))
        try:
            while (event := await queue.get()) is not None:
                yield event
            await running
        finally:
            await _cancel(running)

    def _told(self, sinks: Sequence[Sink], run: str, folder: Path | None) -> list[Sink]:
        told: list[Sink] = [Kept(sink) for sink in (*self._sinks, *sinks)]
        return told + [Opened(named, {"run": run, "folder": folder}) for named in self._named_sinks]

    def _with_value(self, answer: Answer) -> Answer:
        return validated(answer, self._value_class, self._redact)

    def _opened(self) -> Parts:
        if self._parts is None:
            raise UsageError("the session is not open", hint="use it in: async with kgot_core.open(...) as session")
        return self._parts


async def _cancel(*tasks: asyncio.Task[Any]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
