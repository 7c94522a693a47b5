"""The library's doors: :func:`solve` and :func:`resume` for a script, :func:`open_session` for everything else."""

from __future__ import annotations

import asyncio
import contextlib
import os
import threading
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from kgot_core.contracts.backend import GraphBackend, OpenContext
from kgot_core.contracts.sink import Sink
from kgot_core.contracts.task import Answer, JsonSchema
from kgot_core.errors import UsageError
from kgot_core.plugins import PluginRegistry
from kgot_core.run.concurrency.threads import DaemonExecutor
from kgot_core.session.recorded import recorded_settings
from kgot_core.session.session import Session
from kgot_core.session.starting import NamedGraph
from kgot_core.settings import Override, Settings, Sources
from kgot_core.settings.start import config_folder, load_plugins, refuse_failures

if TYPE_CHECKING:
    from langchain_core.embeddings import Embeddings
    from langchain_core.language_models import BaseChatModel
    from langchain_core.tools import BaseTool
    from pydantic import BaseModel

T = TypeVar("T")
CANCEL_SECONDS = 5.0


def open_session(
    settings: Mapping[str, Any] | None = None,
    *,
    models: Mapping[str, BaseChatModel | Embeddings] | None = None,
    tools: Sequence[BaseTool | Callable[..., Any]] = (),
    backend: GraphBackend | Callable[[OpenContext], GraphBackend] | None = None,
    sinks: Sequence[Sink] = (),
    runs: Path | str | Literal["settings"] | None = "settings",
    schema: JsonSchema | type[BaseModel] | None = None,
    graph: NamedGraph | None = None,
    keep_graph: bool = False,
    env: Mapping[str, str] | None = None,
    folder: Path | None = None,
) -> Session:
    """Opens a session: ``async with kgot_core.open(...) as session: answer = await session.solve("...")``.

    Args:
        settings: Settings by dotted key (``{"loop.max_iterations": 3}``) or as nested tables; they win over files and
            environment.
        models: Chat models of LangChain by role, ``{"graph": model}``, and an embedding model for ``embedding``; they
            win over the settings.
        tools: LangChain tools or plain functions with a docstring, beside those of the settings.
        backend: A graph backend, or a function that opens one; wins over the settings.
        sinks: Where events go beside the run's folder.
        runs: Folder for run folders (a relative one lies in the working folder), ``None`` to keep runs in memory,
            ``"settings"`` for the setting ``runs_dir``.
        schema: JSON schema or Pydantic class that fills ``Answer.value``.
        graph: Graph that each run starts from: a snapshot, the name of a file, or a run (its path, its id, the
            beginning of it, or ``last``).
        keep_graph: Go on with the graph that the store holds, and leave it there; in a store that holds several the
            setting ``graph.name`` says which.
        env: The environment; the process's own by default.
        folder: The working folder; the process's own by default.

    Raises:
        UsageError: A setting is wrong.
        PluginError: A plugin of the setting ``plugins.load`` cannot be loaded.
    """
    environment = dict(os.environ if env is None else env)
    folder = (folder or Path.cwd()).absolute()
    registry, loaded = load_settings(
        environment, folder, [*_overrides(settings or {}), *_overrides({"graph.keep": True} if keep_graph else {})]
    )
    place = loaded.core.runs_dir if runs == "settings" else runs
    return Session(
        registry,
        loaded,
        models=models,
        tools=tools,
        backend=backend,
        sinks=sinks,
        runs=None if place is None else folder / place,
        schema=schema,
        graph=graph,
    )


def solve(question: str, *, files: Iterable[Path | str] = (), **options: Any) -> Answer:
    """Answers one question and waits for it; may be called from anywhere, a running event loop included.

    Args:
        question: The question.
        files: Attachments.
        options: As for :func:`open_session`.

    Raises:
        UsageError: The question, a file or a setting is wrong.
    """
    session = open_session(**options)

    async def work() -> Answer:
        async with session:
            return await session.solve(question, attachments=files)

    return _wait(work)


def resume(
    run: Path | str,
    *,
    question: str | None = None,
    files: Iterable[Path | str] = (),
    force: bool = False,
    settings: Mapping[str, Any] | None = None,
    schema: JsonSchema | type[BaseModel] | None = None,
    env: Mapping[str, str] | None = None,
    folder: Path | None = None,
    **objects: Any,
) -> Answer:
    """Goes on with a run that was broken off, with the settings it began with, and waits for its answer.

    Args:
        run: The run's folder.
        question: The question that the run should have; that of its record by default.
        files: Where attachments are that are not at their places any more, by the names that they had.
        force: Goes on although something has changed: recorded answers stay, what follows is asked in the new way.
        settings: Settings that are to be others than those of the record.
        schema: JSON schema or Pydantic class of the answer's value; that of the record by default.
        env: The environment; the process's own by default.
        folder: The working folder; the process's own by default.
        objects: ``models``, ``tools``, ``backend`` and ``sinks`` as for :func:`open_session`, as the run had them.

    Raises:
        UsageError: There is no such run, it is still running, or something that matters has changed.
        ReplayDiverged: It would ask something else than its record holds.
    """
    environment = dict(os.environ if env is None else env)
    place = (folder or Path.cwd()).absolute()
    registry, loaded, recorded = recorded_settings(place / run, environment, _overrides(settings or {}), place)
    session = Session(registry, loaded, schema=schema or recorded, **objects)

    async def work() -> Answer:
        async with session:
            return await session.resume(place / run, question=question, attachments=files, force=force)

    return _wait(work)


def load_settings(
    env: Mapping[str, str], folder: Path, overrides: Sequence[str | Override], plugins: Sequence[str] = ()
) -> tuple[PluginRegistry, Settings]:
    """Reads the settings and loads the plugins that they allow.

    Args:
        env: The environment.
        folder: The working folder.
        overrides: What callers set.
        plugins: Modules or files to load besides.

    Raises:
        UsageError: A setting is wrong.
        PluginError: One of ``plugins`` cannot be loaded.
    """
    sources = Sources.read(folder, env, overrides, config_folder(env))
    registry, chosen = load_plugins(sources, plugins)
    refuse_failures(registry, chosen)
    return registry, Settings.build(sources, registry)


def _overrides(settings: Mapping[str, Any]) -> list[str | Override]:
    return [Override(key, value, "code") for key, value in settings.items()]


def _wait(work: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Runs a coroutine on the private loop and waits for it."""
    loop = _loop(os.getpid())
    with contextlib.suppress(RuntimeError):
        if asyncio.get_running_loop() is loop:
            raise UsageError("solve cannot wait within another run", hint="use: await session.solve(...)")
    ended = threading.Event()

    async def whole() -> T:
        try:
            return await work()
        finally:
            ended.set()

    future = asyncio.run_coroutine_threadsafe(whole(), loop)
    try:
        return future.result()
    except BaseException:
        # An interrupt reaches the waiting thread only: the run must be told, and given the time to record its end.
        if not future.done():
            future.cancel()
            ended.wait(CANCEL_SECONDS)
        raise


@cache
def _loop(process: int) -> asyncio.AbstractEventLoop:
    """Gives the private event loop on which :func:`solve` runs, one for each process, started when first needed.

    Args:
        process: The process; a fork has the parent's loop in memory, but not the thread that runs it.
    """
    loop = asyncio.new_event_loop()
    loop.set_default_executor(DaemonExecutor())
    threading.Thread(target=loop.run_forever, daemon=True, name="kgot-loop").start()
    return loop
