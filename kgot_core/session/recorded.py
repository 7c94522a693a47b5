"""The settings and plugins of a run that goes on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from kgot_core.contracts.task import JsonSchema
from kgot_core.plugins import PluginRegistry
from kgot_core.run.record.folder import read_records
from kgot_core.session.started import read_start
from kgot_core.settings import Override, Settings, Sources
from kgot_core.settings.resumed import refuse_foreign, resumed_settings
from kgot_core.settings.seal import is_sealed
from kgot_core.settings.start import config_folder, load_plugins, refuse_failures


def recorded_settings(
    run: Path,
    env: Mapping[str, str],
    overrides: Iterable[str | Override],
    folder: Path,
    plugins: Sequence[str] = (),
) -> tuple[PluginRegistry, Settings, JsonSchema | None]:
    """Gives the settings that a run began with, with what was set to another value since, and its plugins.

    Args:
        run: The run's folder.
        env: The environment; keys are read from there anew.
        overrides: What callers set.
        folder: The working folder.
        plugins: Modules or files to load besides.

    Returns:
        The plugins, the settings, and the schema of the answer's value.

    Raises:
        UsageError: There is no run that can be read, a setting is wrong, or a run that this user did not begin sets
            what only a trusted file may set.
        PluginError: One of ``plugins`` cannot be loaded.
    """
    start = read_start(run, list(read_records(run)))
    recorded = Settings.from_json(start.plan["settings"], env=env)  # type: ignore[arg-type]
    given = list(overrides)
    # A kgot.toml is looked for where the run began.
    place = recorded.folder if recorded.folder.is_dir() else folder
    config = config_folder(env)
    sources, here = Sources.read(place, env, (), config), Sources.read(place, env, given, config)
    # What a record names is data: modules and files of plugins are loaded only where that is set or given now.
    registry, chosen = load_plugins(here, plugins)
    refuse_failures(registry, chosen)
    settings = resumed_settings(recorded, sources, given, registry, folder)
    if not is_sealed(config, start.plan, start.seal):
        refuse_foreign(recorded, Settings.build(here, registry), registry)
    return registry, settings, start.plan["schema"]  # type: ignore[return-value]
