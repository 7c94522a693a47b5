"""The order in which a process starts: sources are read, then plugins loaded, then all settings checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from kgot_core.errors import PluginError
from kgot_core.settings.layers import Sources
from kgot_core.settings.typed import plugin_settings

if TYPE_CHECKING:
    from kgot_core.plugins import PluginRegistry
    from kgot_core.settings.schema import PluginSettings


def config_folder(env: Mapping[str, str]) -> Path:
    """Gives the user's config folder: the variable ``KGOT_CONFIG_DIR``, else where the platform has it."""
    if given := env.get("KGOT_CONFIG_DIR"):
        return Path(given).absolute()
    from platformdirs import user_config_path

    return user_config_path("kgot", appauthor=False)


def load_plugins(sources: Sources, extra: Sequence[str] = ()) -> tuple[PluginRegistry, PluginSettings]:
    """Loads the installed plugins that the settings allow, then the user's own. One that fails stops nothing.

    Args:
        sources: What was read.
        extra: Modules or files ``FILE.py`` to load besides those of ``plugins.load``.

    Raises:
        PluginError: A plugin of the user's own cannot be used.
        UsageError: A setting ``plugins.*`` is wrong.
    """
    from kgot_core.plugins import PluginRegistry

    settings = plugin_settings(sources)
    registry = PluginRegistry()
    registry.load(settings.disabled)
    for spec in (*settings.load, *extra):
        registry.load_extra(spec)
    return registry, settings


def refuse_failures(registry: PluginRegistry, settings: PluginSettings) -> None:
    """Refuses to go on with plugins that cannot be used, where ``plugins.strict`` says so.

    Raises:
        PluginError: There are some.
    """
    if settings.strict and registry.failures:
        names = ", ".join(record.distribution for record in registry.failures)
        raise PluginError(f"plugins that cannot be used: {names}", hint="the setting plugins.strict refuses to go on")
