"""Opens a run's store and tools; recorded, so that a replay needs neither, and a run that goes on gets the same."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from kgot_core.contracts.backend import GraphBackend, OpenContext
from kgot_core.contracts.dialect import Dialect, dialect_from_json
from kgot_core.contracts.model import ToolSpec
from kgot_core.errors import KgotError, StoreError
from kgot_core.events import GraphOpened, GraphWritten, ToolsOpened
from kgot_core.graph.elements import snapshot_from_json, snapshot_to_json
from kgot_core.graph.fold import TaskGraph
from kgot_core.run.concurrency.held import Held
from kgot_core.run.concurrency.threads import in_thread
from kgot_core.run.desks.tool_context import CallContext
from kgot_core.run.desks.toolbox import OpenTool, describe
from kgot_core.run.faults import said
from kgot_core.run.parts import Parts, ToolEntry
from kgot_core.run.record.journal import Journal
from kgot_core.run.record.restoring import check_tools, restore_store

if TYPE_CHECKING:
    from langchain_core.tools import BaseTool

    from kgot_core.providers import ToolProvider

OPENING_SECONDS = 120.0


@dataclass(frozen=True)
class OpenedGraph:
    """A store that was opened, or the record of one.

    Attributes:
        dialect: Its language.
        state: The core's own graph, with what the store held.
        backend: The store; ``None`` in a replay.
    """

    dialect: Dialect
    state: TaskGraph
    backend: GraphBackend | None


async def open_graph(journal: Journal, parts: Parts, context: OpenContext, store: Held[GraphBackend]) -> OpenedGraph:
    """Opens the run's graph on a thread, into ``store``.

    Raises:
        StoreError: The store cannot be opened.
    """

    def work() -> GraphOpened:
        backend = store.keep(_backend(parts, context))
        return GraphOpened(
            backend=parts.backend,
            dialect=asdict(backend.dialect),
            snapshot=snapshot_to_json(backend.snapshot()),
        )

    async def make() -> GraphOpened:
        return await in_thread(work, OPENING_SECONDS)

    event = await journal.call(GraphOpened, "open/graph", {"mode": context.scope.mode}, make)
    state = TaskGraph(snapshot_from_json(event.snapshot))
    if store.thing is None and journal.mode == "go on":

        def again() -> None:
            store.become(
                restore_store(
                    journal, event, context, parts.graph_seconds, lambda opened: store.keep(_backend(parts, opened))
                )
            )

        await in_thread(again, OPENING_SECONDS + parts.graph_seconds * len(list(journal.recorded.events(GraphWritten))))
    if store.thing is not None:
        return OpenedGraph(store.thing.dialect, state, store.thing)
    return OpenedGraph(dialect_from_json(event.dialect, parts.dialect_kind), state, None)


def _backend(parts: Parts, context: OpenContext) -> GraphBackend:
    backend: Any = parts.open_backend(context)
    if not isinstance(backend, GraphBackend):
        raise StoreError(f"the backend {parts.backend} gave a {type(backend).__name__}, not a GraphBackend")
    return backend


async def open_tools(
    journal: Journal, entries: Sequence[ToolEntry], context: CallContext, left_out: dict[str, str] | None = None
) -> tuple[tuple[ToolSpec, ...], Mapping[str, OpenTool]]:
    """Makes the run's tools; one that cannot be made is left out with one line.

    Args:
        journal: The run's journal.
        entries: What is to be opened.
        context: What the tools may use.
        left_out: Gets the causes by the name of a tool that is left out.

    Raises:
        ReplayDiverged: The run goes on, but one of its tools has changed, or is not there any more.
    """
    tools: dict[str, OpenTool] = {}

    async def make() -> ToolsOpened:
        left_out: dict[str, str] = {}
        specs: list[Mapping[str, Any]] = []
        for entry in entries:
            try:
                # A tool may import much, or look for its server, and other runs go on meanwhile.
                made = await in_thread(partial(_make, entry, context), OPENING_SECONDS)
            except TimeoutError as error:
                late = f"it could not be made within {OPENING_SECONDS:g} seconds"
                left_out[entry.provider.name] = said(error) if str(error) else late
                continue
            except (Exception, SystemExit) as error:  # a tool is a plugin; its fault must not end the run
                left_out[entry.provider.name] = said(error)
                continue
            for tool in made:
                if tool.tool.name in tools:
                    left_out[tool.tool.name] = "another tool has this name"
                    continue
                tools[tool.tool.name] = tool
                specs.append(asdict(describe(tool.tool)))
        return ToolsOpened(specs=tuple(specs), left_out={**context.left_out, **left_out})

    event = await journal.call(ToolsOpened, "open/tools", {}, make)
    if left_out is not None:
        left_out |= event.left_out
    specs = tuple(_spec_from_json(spec) for spec in event.specs)
    if journal.mode == "go on" and not tools:
        now = await make()
        if journal.strict:
            check_tools(_by_name(specs), _by_name(_spec_from_json(journal.plain(spec)) for spec in now.specs))
    return specs, tools


def _by_name(specs: Iterable[ToolSpec]) -> dict[str, ToolSpec]:
    return {spec.name: spec for spec in specs}


def _make(entry: ToolEntry, context: CallContext) -> list[OpenTool]:
    if entry.ready:
        raise KgotError(entry.ready)
    made = entry.tools or entry.provider.create(entry.settings, context)
    return [OpenTool(tool, _declared(tool, entry.provider)) for tool in made]


def _declared(tool: BaseTool, provider: ToolProvider) -> ToolProvider:
    """Gives what is declared of a tool: by itself, else by its provider."""
    effect = (tool.metadata or {}).get("effect")
    return replace(provider, effect=effect) if effect in ("read", "write") else provider


def _spec_from_json(data: Mapping[str, Any]) -> ToolSpec:
    return ToolSpec(data["name"], data["description"], data["parameters"])
