"""What a plugin offers: a name, a sentence, its settings, and a function that opens the real thing.

A provider is plain data in a light module, so that listing plugins imports no driver: ``open`` and ``check`` import
what they need when they are called.
"""

from __future__ import annotations

from kgot_core.providers.base import NoSettings, Problem, Provider, ProviderKind, later, ready
from kgot_core.providers.kinds import (
    FOLDER,
    BackendProvider,
    FormatProvider,
    ModelProvider,
    SandboxProvider,
    SchedulerProvider,
    SinkProvider,
    SolverProvider,
    StrategyProvider,
    ToolProvider,
    VoterProvider,
    keeps_nothing,
)

__all__ = [
    "FOLDER",
    "BackendProvider",
    "FormatProvider",
    "ModelProvider",
    "NoSettings",
    "Problem",
    "Provider",
    "ProviderKind",
    "SandboxProvider",
    "SchedulerProvider",
    "SinkProvider",
    "SolverProvider",
    "StrategyProvider",
    "ToolProvider",
    "VoterProvider",
    "keeps_nothing",
    "later",
    "ready",
]
