"""A session: models, tools and settings that several runs share."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from kgot_core.contracts.backend import GraphBackend, GraphScope, OpenContext
from kgot_core.contracts.sink import Sink
from kgot_core.contracts.task import Answer, JsonSchema, Task
from kgot_core.errors import UsageError
from kgot_core.events import Event, from_record
from kgot_core.run.files import FileShelf
from kgot_core.run.folder import RunWriter
from kgot_core.run.journal import Journal
from kgot_core.run.lifecycle import run_task, started
from kgot_core.run.parts import Parts
from kgot_core.run.threads import in_thread
from kgot_core.session.opening import Given, open_parts

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langchain_core.tools import BaseTool

    from kgot_core.plugins import PluginRegistry
    from kgot_core.settings import Settings


class Session:
    """Models, tools and settings that several runs share; made by :func:`kgot_core.open`.

    An asynchronous context manager. Several tasks may be solved at once; two sessions do not see each other.

    Args:
        registry: The plugins.
        settings: The settings in force.
        models: Models by role that win over the settings' names: chat models of LangChain. They are not closed.
        tools: LangChain tools or plain functions beside those of the settings.
        backend: An open backend or a function that opens one; an open one is not closed and serves one run at a time.
        sinks: Further sinks; not closed.
        runs: Folder for run folders; ``None`` keeps runs in memory.
        schema: JSON schema of the answers' value.
        value_class: Pydantic class that the value is turned into.
    """

    def __init__(
        self,
        registry: PluginRegistry,
        settings: Settings,
        *,
        models: Mapping[str, BaseChatModel] | None = None,
        tools: Sequence[BaseTool | Any] = (),
        backend: GraphBackend | Any = None,
        sinks: Sequence[Sink] = (),
        runs: Path | None = None,
        schema: JsonSchema | None = None,
        value_class: Any = None,
    ) -> None:
        self._registry = registry
        self._settings = settings
        self._given = Given(models=models or {}, tools=tools, backend=backend, schema=schema)
        self._value_class = value_class
        self._sinks = tuple(sinks)
        self._runs = runs
        self._parts: Parts | None = None

    async def __aenter__(self) -> Self:
        self._parts = await in_thread(lambda: open_parts(self._registry, self._settings, self._given))
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        parts, self._parts = self._parts, None
        for client in set(parts.clients.values()) if parts else ():
            close = getattr(client, "aclose", None)
            if close is not None:
                await close()

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
            attachments: Files, for a question given as text.
            sinks: Sinks of this run beside those of the session.
            folder: Folder of this run; by default a new one below the session's folder for runs.

        Raises:
            UsageError: The question is empty, an attachment cannot be read, or the folder cannot be written.
            asyncio.CancelledError: The run was cancelled; what it had is on disk.
        """
        parts = self._opened()
        task = _task(task, attachments)
        run = _new_id()
        if folder is None and self._runs is not None:
            folder = self._runs / run
        files = FileShelf(task.files, folder / "files" if folder is not None else None)
        writer = RunWriter(folder) if folder is not None else None
        journal = Journal(run, writer, [_Kept(sink) for sink in (*self._sinks, *sinks)], redact=self._redact())
        context = OpenContext(GraphScope(run), parts.sandbox, folder)
        try:
            answer = await run_task(parts, task, files, started(parts, task, files), journal, writer, context)
            return self._with_value(answer)
        finally:
            journal.close()

    @property
    def sandbox_name(self) -> str:
        """Name of the sandbox in which model-written Python runs."""
        return self._opened().sandbox.name

    async def stream(self, task: Task | str, *, attachments: Iterable[Path | str] = ()) -> AsyncIterator[Event]:
        """Answers a task and gives its events as they happen; the last is a ``RunFinished`` with the answer.

        Leaving the iteration early cancels the run.
        """
        queue: asyncio.Queue[Event | None] = asyncio.Queue()
        running = asyncio.create_task(self.solve(task, attachments=attachments, sinks=[_QueueSink(queue)]))
        running.add_done_callback(lambda _: queue.put_nowait(None))
        try:
            while (event := await queue.get()) is not None:
                yield event
            await running
        finally:
            if not running.done():
                running.cancel()
                await asyncio.gather(running, return_exceptions=True)

    def _with_value(self, answer: Answer) -> Answer:
        if self._value_class is None or answer.value is None:
            return answer
        return replace(answer, value=self._value_class.model_validate(answer.value))

    def _opened(self) -> Parts:
        if self._parts is None:
            raise UsageError("the session is not open", hint="use it in: async with kgot_core.open(...) as session")
        return self._parts

    def _redact(self) -> Any:
        hidden = sorted(self._settings.secrets() | _usual_secrets(self._settings.env), key=len, reverse=True)
        hidden = [text for text in hidden if len(text) >= 6]

        def redact(text: str) -> str:
            for secret in hidden:
                if secret in text:
                    text = text.replace(secret, "[secret]")
            return text

        return redact


class _Kept(Sink):
    """A sink that belongs to the caller: it is told, but not closed."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink

    def emit(self, record: Mapping[str, Any]) -> None:
        self._sink.emit(record)


class _QueueSink(Sink):
    def __init__(self, queue: asyncio.Queue[Event | None]) -> None:
        self._queue = queue

    def emit(self, record: Mapping[str, Any]) -> None:
        event = from_record(record)
        if event is not None:
            self._queue.put_nowait(event)


def _task(task: Task | str, attachments: Iterable[Path | str]) -> Task:
    if isinstance(task, str):
        task = Task(task, tuple(Path(path) for path in attachments))
    if not task.question.strip():
        raise UsageError("the question is empty")
    return task


def _new_id() -> str:
    """Gives a run id that sorts by time and is unique without asking anybody."""
    return f"{time.strftime('%Y%m%d-%H%M%S')}-{secrets.token_hex(3)}"


def _usual_secrets(env: Mapping[str, str]) -> set[str]:
    """Keys of usual provider variables: they are no settings of ours, but must not be written either."""
    marks = ("_API_KEY", "_TOKEN", "_SECRET", "_PASSWORD")
    return {value for name, value in env.items() if name.endswith(marks) and value}
