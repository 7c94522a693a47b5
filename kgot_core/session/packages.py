"""The packages of a run: all that are loaded with their versions, and those that take part."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, version

from kgot_core.graph.values import JsonValue
from kgot_core.plugins import PluginRegistry
from kgot_core.plugins.record import CORE
from kgot_core.providers import ProviderKind
from kgot_core.settings import Settings

STAGES = ("decide", "choose_tools", "parse", "final")


def versions(registry: PluginRegistry) -> dict[str, str]:
    """Gives the packages that are loaded, with their versions."""
    found = {record.distribution: record.version for record in registry.records if record.state == "ok"}
    try:
        found.setdefault("kgot-core", version("kgot-core"))
    except PackageNotFoundError:
        found.setdefault("kgot-core", "0")
    return {name: text for name, text in sorted(found.items()) if name}


def packages(registry: PluginRegistry, settings: Settings, used: Iterable[tuple[ProviderKind, str]]) -> list[JsonValue]:
    """Names the packages that take part: the core, and those that bring one of the providers in use."""
    core = settings.core
    wanted = [*used, ("solver", core.solver[0]), ("strategy", core.strategy)]
    wanted += [("voter", settings.voter(stage)) for stage in STAGES]
    names = {
        distribution
        for kind, name in wanted
        for distribution, provider in registry.all(kind)
        if provider.name == name.rpartition(":")[2]
    }
    return [*sorted(names | {CORE} - {""})]
