"""Puts the core's settings into their dataclasses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from kgot_core.settings.build import Entry, build
from kgot_core.settings.keys import Catalogue
from kgot_core.settings.layers import Sources
from kgot_core.settings.names import KeyPath
from kgot_core.settings.schema import CoreSettings, PluginSettings


def plugin_settings(sources: Sources) -> PluginSettings:
    """Reads ``plugins.*`` alone, which is needed before the plugins are loaded.

    Raises:
        UsageError: One of them is wrong.
    """
    catalogue = Catalogue(only={"plugins": PluginSettings})
    layers = [[given for given in layer if given.path[0] == "plugins"] for layer in sources.layers]
    entries = build(layers, catalogue, sources.env)
    return PluginSettings(**{path[1]: entry.value for path, entry in entries.items()})


def core_settings(entries: Mapping[KeyPath, Entry], folder: Path, catalogue: Catalogue) -> CoreSettings:
    """Gives the core's settings, those of models apart; a default that is a path starts at the working folder."""
    top: dict[str, Any] = {"runs_dir": str(folder / CoreSettings.runs_dir)}
    sections: dict[str, dict[str, Any]] = {}
    for path, entry in entries.items():
        if path[0] == "models" or path not in catalogue.core:
            continue
        if len(path) == 1:
            top[path[0]] = entry.value
        else:
            sections.setdefault(path[0], {})[path[1]] = entry.value
    defaults = CoreSettings()
    for section in fields(CoreSettings):
        if section.name in sections:
            top[section.name] = type(getattr(defaults, section.name))(**sections[section.name])
    return CoreSettings(**top)
