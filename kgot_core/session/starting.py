"""Which graph the runs of a session start from: an empty one, a given one, or what the store holds."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeAlias

from kgot_core.contracts.backend import ScopeMode
from kgot_core.contracts.strategy import Strategy
from kgot_core.errors import UsageError
from kgot_core.graph.elements import GraphSnapshot
from kgot_core.graph.losses import Losses
from kgot_core.plugins import PluginRegistry
from kgot_core.providers import BackendProvider
from kgot_core.run.given import GivenGraph
from kgot_core.run.parts import Parts
from kgot_core.session.graphs import read_graph
from kgot_core.settings import Settings

NamedGraph: TypeAlias = GraphSnapshot | Path | str
KEPT = "kept"
"""Name of the graph that is kept where the user gives none."""


def graph_scope(settings: Settings, strategy: Strategy) -> dict[str, Any]:
    """Gives the parts ``graph_mode`` and ``graph_name`` (see :class:`~kgot_core.run.parts.Parts`)."""
    keep = settings.core.graph.keep
    mode: ScopeMode = "new" if not keep else "read_only" if strategy.reads_only else "keep"
    return {"graph_mode": mode, "graph_name": (settings.core.graph.name or KEPT) if keep else ""}


def refuse_keeping(provider: BackendProvider, values: Any, settings: Settings) -> None:
    """Refuses to go on with the graph of a store that keeps none.

    Args:
        provider: The store.
        values: Its settings.
        settings: All settings.

    Raises:
        UsageError: It is asked to, and cannot.
    """
    graph = settings.core.graph
    if graph.keep and (problem := provider.keeps(values, graph.name)):
        raise UsageError(
            f"the backend {provider.name} has no graph to go on with: {problem.message}", hint=problem.hint
        )


def refuse_nothing_to_ask(parts: Parts) -> None:
    """Refuses to begin a run that only reads, and has nothing to read.

    Raises:
        UsageError: It has not.
    """
    own = not parts.close_backend
    if parts.strategy.reads_only and parts.graph_mode == "new" and parts.given is None and not own:
        raise UsageError(
            "there is no graph to ask", hint="give one, a file or a run, or ask what a store holds (graph.keep)"
        )


def given_graph(
    registry: PluginRegistry,
    settings: Settings,
    strategy: Strategy,
    graph: NamedGraph | None,
    runs: Sequence[Path],
) -> GivenGraph | None:
    """Reads the graph that runs start from.

    Args:
        registry: The plugins; they bring the formats.
        settings: The settings in force.
        strategy: Who runs the tasks.
        graph: The graph, or the name of its file or run; ``None`` where there is none.
        runs: Where runs are found by name, beside the setting ``runs_dir``.

    Raises:
        UsageError: It cannot be used, or a strategy that only reads has two.
    """
    if strategy.reads_only and settings.core.graph.keep and graph is not None:
        raise UsageError("a stored graph is only read here, so no other one can be taken into it")
    if graph is None:
        return None
    if isinstance(graph, GraphSnapshot):
        return GivenGraph.of("passed in code", graph)
    losses = Losses()
    places = [*runs, Path(settings.core.runs_dir)]
    found = read_graph(registry, str(graph), *places, settings=settings, losses=losses)
    return GivenGraph.of(str(graph), found, losses.lines())
