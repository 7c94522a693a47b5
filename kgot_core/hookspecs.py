"""Every extension point of kgot, on one page.

A plugin is a light module, named by an entry point of the group ``kgot``, with any of these functions marked by
:data:`hookimpl`. Each returns an iterable of providers (plain data, see :mod:`kgot_core.providers`). A provider is
chosen by its configured name, never by the order of registration; no hook is ``firstresult``.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import pluggy

if TYPE_CHECKING:
    from kgot_core import providers

PROJECT = "kgot"
hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)
"""Marks a function of a plugin module as the implementation of the hook of its name."""


@hookspec
def kgot_graph_backends() -> Iterable[providers.BackendProvider]:  # type: ignore[empty-body]
    """Graph stores for ``--backend``."""


@hookspec
def kgot_solvers() -> Iterable[providers.SolverProvider]:  # type: ignore[empty-body]
    """Ways in which a graph gives answers, for ``--solver``."""


@hookspec
def kgot_tools() -> Iterable[providers.ToolProvider]:  # type: ignore[empty-body]
    """Tools that a run may use."""


@hookspec
def kgot_voters() -> Iterable[providers.VoterProvider]:  # type: ignore[empty-body]
    """Ways to turn several samples into one choice, for ``--voter``."""


@hookspec
def kgot_schedulers() -> Iterable[providers.SchedulerProvider]:  # type: ignore[empty-body]
    """Ways to run many tasks."""


@hookspec
def kgot_strategies() -> Iterable[providers.StrategyProvider]:  # type: ignore[empty-body]
    """Who runs the whole task, for ``--strategy``."""


@hookspec
def kgot_models() -> Iterable[providers.ModelProvider]:  # type: ignore[empty-body]
    """Chat and embedding models, named ``provider:model``."""


@hookspec
def kgot_sandboxes() -> Iterable[providers.SandboxProvider]:  # type: ignore[empty-body]
    """Jails for model-written Python."""


@hookspec
def kgot_event_sinks() -> Iterable[providers.SinkProvider]:  # type: ignore[empty-body]
    """Further places for a run's events."""


@hookspec
def kgot_graph_formats() -> Iterable[providers.FormatProvider]:  # type: ignore[empty-body]
    """File formats of graphs, for ``kgot graph``."""
