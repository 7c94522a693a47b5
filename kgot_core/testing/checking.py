"""The suites of an installed plugin's providers, for ``kgot plugins check``."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from kgot_core.errors import PluginError
from kgot_core.providers import Problem, Provider, ProviderKind, ToolProvider
from kgot_core.settings import Settings, Sources, provider_settings
from kgot_core.settings.start import config_folder, load_plugins
from kgot_core.testing.backend_suite import BackendSuite
from kgot_core.testing.format_suite import FormatSuite
from kgot_core.testing.sandbox_suite import SandboxSuite
from kgot_core.testing.scheduler_suite import SchedulerSuite
from kgot_core.testing.sink_suite import SinkSuite
from kgot_core.testing.solver_suite import SolverSuite
from kgot_core.testing.strategy_suite import StrategySuite
from kgot_core.testing.tool_suite import NoToolSuite, ToolSuite, offers_nothing
from kgot_core.testing.tool_trial import TriedToolSuite
from kgot_core.testing.voter_suite import VoterSuite


def test_classes(name: str, folder: Path, sets: Sequence[str], plugins: Sequence[str]) -> Mapping[str, type]:
    """Gives a test class for each provider of a plugin, by the name of the class.

    Args:
        name: Name of the package, its module or something that it offers.
        folder: Folder whose settings count.
        sets: Settings as ``KEY=VALUE``.
        plugins: Modules or files to load besides the installed ones.

    Raises:
        PluginError: The plugin cannot be used.
    """
    sources = Sources.read(folder, os.environ, sets, config_folder(os.environ))
    registry, _ = load_plugins(sources, plugins)
    settings = Settings.build(sources, registry)
    classes: dict[str, type] = {}
    for record in registry.find(name):
        if record.state != "ok":
            raise PluginError(record.line)
        for provider in record.providers:
            values = provider_settings(settings, provider)
            title = "".join(
                part.capitalize() for part in f"{provider.kind}-{provider.name}".replace("_", "-").split("-")
            )
            classes[f"Test{title}"] = _class(f"Test{title}", provider, values)
    return classes


test_classes.__test__ = False  # type: ignore[attr-defined]


def _class(name: str, provider: Provider, settings: Any) -> type:
    if provider.kind != "model" and (problem := provider.check(settings)):
        # Once, and not for each test of the suite.
        return type(name, (), {"test_is_ready": _skipped(f"the {provider.kind} {provider.name}: {_line(problem)}")})
    if isinstance(provider, ToolProvider) and provider.trial is not None:
        return type(name, (TriedToolSuite,), {"provider": provider, "settings": settings})
    if isinstance(provider, ToolProvider) and offers_nothing(provider, settings):
        return type(name, (NoToolSuite,), {"provider": provider, "settings": settings})
    suites: Mapping[ProviderKind, type] = {
        "backend": BackendSuite,
        "solver": SolverSuite,
        "strategy": StrategySuite,
        "tool": ToolSuite,
        "voter": VoterSuite,
        "sandbox": SandboxSuite,
        "scheduler": SchedulerSuite,
        "sink": SinkSuite,
        "format": FormatSuite,
    }
    if provider.kind in suites:
        return type(name, (suites[provider.kind],), {"provider": provider, "settings": settings})
    reason = f"the {provider.kind} {provider.name} needs an address: subclass the suite of its kind in a test"
    return type(name, (), {"test_is_not_checked": _skipped(reason)})


def _line(problem: Problem) -> str:
    return f"{problem.message} ({problem.hint})" if problem.hint else problem.message


def _skipped(reason: str) -> Any:
    def test(self: object) -> None:
        pytest.skip(reason)

    return test
