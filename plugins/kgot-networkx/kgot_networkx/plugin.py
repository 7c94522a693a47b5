"""The entry point: one backend and two file formats."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterable
from typing import TYPE_CHECKING

from kgot_core.hookspecs import hookimpl
from kgot_core.providers import BackendProvider, FormatProvider, Problem, later
from kgot_networkx.settings import NetworkxSettings

if TYPE_CHECKING:
    from kgot_core.contracts.backend import GraphBackend, OpenContext


def check(settings: NetworkxSettings) -> Problem | None:
    """Tells whether networkx is installed and the settings make sense."""
    if problem := check_library(settings):
        return problem
    for name in ("memory_mb", "output_chars", "script_chars", "load_seconds"):
        if getattr(settings, name) <= 0:
            return Problem(f"backends.networkx.{name} must be above 0, not {getattr(settings, name)}")
    return None


def open_backend(settings: NetworkxSettings, context: OpenContext) -> GraphBackend:
    """Opens an empty graph."""
    from kgot_networkx.backend import NetworkxBackend

    return NetworkxBackend(settings, context)


def check_library(settings: object) -> Problem | None:
    """Tells whether networkx is installed."""
    if importlib.util.find_spec("networkx") is None:
        return Problem("networkx is not installed", "pip install 'networkx>=3.4,<4'")
    return None


@hookimpl
def kgot_graph_backends() -> Iterable[BackendProvider]:
    """The backend ``networkx``."""
    return [
        BackendProvider(
            name="networkx",
            summary="A graph in memory, written and queried in ordinary Python with networkx, inside the sandbox.",
            settings=NetworkxSettings,
            check=check,
            open=open_backend,
        )
    ]


@hookimpl
def kgot_graph_formats() -> Iterable[FormatProvider]:
    """Files of graph programs."""
    return [
        FormatProvider(
            name="graphml",
            summary="GraphML, for networkx, Gephi, yEd, igraph and others.",
            check=check_library,
            suffixes=(".graphml",),
            read=later("kgot_networkx.formats:read_graphml"),
            write=later("kgot_networkx.formats:write_graphml"),
        ),
        FormatProvider(
            name="gexf",
            summary="GEXF, for Gephi.",
            check=check_library,
            suffixes=(".gexf",),
            read=later("kgot_networkx.formats:read_gexf"),
            write=later("kgot_networkx.formats:write_gexf"),
        ),
    ]
