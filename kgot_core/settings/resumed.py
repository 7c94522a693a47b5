"""The settings of a run that goes on: those it began with, and what was set to another value since."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from kgot_core.errors import UsageError
from kgot_core.plugins import PluginRegistry
from kgot_core.settings.build import Entry, build, is_guarded, lay
from kgot_core.settings.keys import Catalogue
from kgot_core.settings.layers import Override, Sources, override_layer
from kgot_core.settings.names import key_text, parse_key
from kgot_core.settings.plain import SECRET, TEXT
from kgot_core.settings.secrets import Secret
from kgot_core.settings.settings import Settings
from kgot_core.settings.values import toml_value


def resumed_settings(
    recorded: Settings,
    now: Sources,
    overrides: Iterable[str | Override],
    registry: PluginRegistry,
    folder: Path,
) -> Settings:
    """Puts the layers on one another as when the run began: files and environment, what was given then, what is now.

    What is not set any more stays as it was. A key that was typed and kept nowhere may be set in the environment now.

    Args:
        recorded: What the run began with.
        now: Files and environment as they are.
        overrides: What is given now.
        registry: Whose providers' keys are checked.
        folder: Where relative paths of ``overrides`` start.

    Raises:
        UsageError: A setting is wrong, or may not be set in its file.
    """
    catalogue = Catalogue(registry)
    given = {path: entry for path, entry in recorded.entries.items() if entry.origin.kind == "given"}
    table = {path: entry for path, entry in recorded.entries.items() if path not in given}
    table = build(now.layers, catalogue, now.env, table)
    lay(table, {path: entry for path, entry in given.items() if not (path in table and _is_lost(entry))})
    table = build([override_layer(overrides, folder)], catalogue, now.env, table)
    return Settings.of(table, recorded.folder, now.env, catalogue)


def refuse_foreign(recorded: Settings, now: Settings, registry: PluginRegistry) -> None:
    """Refuses what a run of somebody else's sets and only a trusted file may set, unless it is set here, too.

    Args:
        recorded: What the run began with.
        now: Files, environment and what is given, as they are.
        registry: Whose providers say what is guarded.

    Raises:
        UsageError: There is such a setting.
    """
    catalogue = Catalogue(registry)
    foreign = []
    for path, entry in recorded.entries.items():
        key = catalogue.find(path)
        here = now.entries[path].value if path in now.entries else key.default
        if is_guarded(key, path, entry.value) and _comparable(entry.value) != _comparable(here):
            foreign.append(key_text(path))
    if foreign:
        named = ", ".join(sorted(foreign))
        raise UsageError(
            f"this run was not begun by you here, and sets {named}, which may send your keys elsewhere",
            hint="resume only what you trust: give each of these with --set (library: settings=)",
        )


def _comparable(value: Any) -> Any:
    if isinstance(value, Secret):
        return dict(value.reference)
    return tuple(value) if isinstance(value, list) else value


def changed_settings(then: Mapping[str, Any], now: Mapping[str, Any], registry: PluginRegistry) -> list[str]:
    """Names the settings that matter and have changed, with both values.

    Args:
        then: What :meth:`Settings.to_json` gave when the run began.
        now: The same now.
        registry: Whose providers say what matters.
    """
    catalogue = Catalogue(registry)
    before, after = then["values"], now["values"]
    return [
        f"the setting {name} ({_shown(before, name)} then, {_shown(after, name)} now)"
        for name in sorted({*before, *after})
        if _plain(before.get(name)) != _plain(after.get(name))
        and not any(_is_secret(values.get(name)) for values in (before, after))
        and _matters(catalogue, name)
    ]


def _matters(catalogue: Catalogue, name: str) -> bool:
    path = parse_key(name)
    # The model of each role is compared by itself, also where it was passed in code.
    return not (path[0] == "models" and path[2:] == ("model",)) and catalogue.find(path).matters


def _is_lost(entry: Entry) -> bool:
    return isinstance(entry.value, Secret) and "given" in entry.value.reference


def _plain(value: Any) -> Any:
    """Gives what is set, however it was given: the text of a variable is what it says in TOML."""
    marked = isinstance(value, Mapping) and value.keys() == {TEXT}
    return toml_value(value[TEXT]) if marked else value


def _is_secret(value: Any) -> bool:
    return isinstance(value, Mapping) and value.keys() == {SECRET}


def _shown(values: Mapping[str, Any], name: str) -> str:
    return str(_plain(values[name])) if name in values else "unset"
