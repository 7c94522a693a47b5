"""Settings as plain JSON, for the plan of a run: no secret is ever in it, only where each comes from."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kgot_core.errors import UsageError
from kgot_core.settings.build import Entry, build
from kgot_core.settings.keys import Catalogue
from kgot_core.settings.layers import Given, Origin
from kgot_core.settings.names import KeyPath, key_text, parse_key
from kgot_core.settings.secrets import Secret
from kgot_core.settings.settings import Settings

SECRET = "@secret"
TEXT = "@text"


def to_json(settings: Settings) -> dict[str, Any]:
    """Gives the settings in force, the core's defaults too, so that a later default changes no run.

    Returns:
        ``{"folder": ..., "values": {KEY: VALUE}, "origins": {KEY: [KIND, WHERE]}}``. A secret is
        ``{"@secret": {...}}`` with where it comes from; the text of a variable whose type only a provider knows is
        ``{"@text": ...}``.
    """
    values: dict[str, Any] = {}
    origins: dict[str, list[str]] = {}
    for key in Catalogue().core.values():
        if key.path[0] != "models" and key.path not in settings.entries:
            values[key.name] = _plain(settings.default(key))
            origins[key.name] = ["default", "default"]
    for path, entry in settings.entries.items():
        values[key_text(path)] = _value(entry)
        origins[key_text(path)] = [entry.origin.kind, entry.origin.where]
    return {"folder": str(settings.folder), "values": values, "origins": origins}


def from_json(data: Mapping[str, Any], env: Mapping[str, str]) -> Settings:
    """Reads what :func:`to_json` gave; see :meth:`Settings.from_json`."""
    try:
        folder, values, origins = Path(data["folder"]), dict(data["values"]), dict(data["origins"])
        places = {parse_key(name): _origin(origins.get(name, ["given", "code"]), folder) for name in values}
    except (KeyError, TypeError, ValueError) as error:
        raise UsageError(f"these are no settings of a run: {error}") from error
    ready: dict[KeyPath, Entry] = {}
    layer: list[Given] = []
    for (path, origin), value in zip(places.items(), values.values(), strict=True):
        marks = value if isinstance(value, dict) else {}
        if isinstance(reference := marks.get(SECRET), Mapping):
            ready[path] = Entry(Secret({str(name): str(part) for name, part in reference.items()}), origin)
        elif isinstance(text := marks.get(TEXT), str):
            ready[path] = Entry(text, origin, text=True)
        else:
            layer.append(Given(path, value, origin))
    catalogue = Catalogue()
    return Settings.of(build([layer], catalogue, env, ready), folder, env, catalogue)


def _value(entry: Entry) -> Any:
    if isinstance(entry.value, Secret):
        return {SECRET: dict(entry.value.reference)}
    return {TEXT: entry.value} if entry.text else _plain(entry.value)


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def _origin(found: Any, folder: Path) -> Origin:
    kind, where = found
    if kind not in ("default", "file", "env", "given"):
        raise ValueError(f"{kind!r} is no kind of origin")
    return Origin(kind, str(where), Path(where).parent if kind == "file" else folder)
