"""Writes the tables of settings, events and hooks from the code: ``python docs/generate.py``; a test compares."""

from __future__ import annotations

import dataclasses
import inspect
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

from kgot_core import events, hookspecs
from kgot_core.plugins import PluginRegistry
from kgot_core.providers import ProviderKind
from kgot_core.settings.keys import keys_of
from kgot_core.settings.schema import SECTIONS, CoreSettings, ModelSettings
from kgot_core.settings.values import type_text

HERE = Path(__file__).parent


def settings_page() -> str:
    """Gives the page of all settings."""
    registry = PluginRegistry()
    registry.load()
    lines = [
        (HERE / "settings.head.md").read_text(encoding="utf-8"),
        "## The core's own\n",
        *_table(CoreSettings, ()),
        "\n## `models.<role>`\n",
        "Roles: " + ", ".join(f"`{role}`" for role in _roles()) + ".\n",
        *_table(ModelSettings, ("models", "<role>")),
    ]
    for kind in get_args(ProviderKind):
        for distribution, provider in registry.all(kind):
            if dataclasses.fields(provider.settings):
                head = (SECTIONS[kind], provider.name)
                lines += [f"\n## `{'.'.join(head)}` ({distribution})\n", *_table(provider.settings, head)]
    return "\n".join(lines) + "\n"


def events_page() -> str:
    """Gives the page of all events."""
    lines = [(HERE / "events.head.md").read_text(encoding="utf-8")]
    for cls in events.event_classes():
        call = " (an outside call)" if issubclass(cls, events.CallEvent) else ""
        lines += [f"## `{cls.kind}`{call}\n", _first(cls) + "\n"]
        base = {field.name for field in dataclasses.fields(events.CallEvent)}
        own = [field for field in dataclasses.fields(cls) if not (call and field.name in base)]
        said = _attributes(cls)
        lines += [f"- `{field.name}`" + (f": {said[field.name]}" if field.name in said else "") for field in own]
        lines.append("")
    return "\n".join(lines)


def hooks_page() -> str:
    """Gives the page of all hooks."""
    lines = [(HERE / "hooks.head.md").read_text(encoding="utf-8"), "| hook | gives |", "|---|---|"]
    for name, function in inspect.getmembers(hookspecs, inspect.isfunction):
        if name.startswith("kgot_"):
            lines.append(f"| `{name}` | {_first(function)} |")
    return "\n".join(lines) + "\n"


PAGES = {"settings.md": settings_page, "events.md": events_page, "hooks.md": hooks_page}


def _table(kind: type, path: tuple[str, ...]) -> Iterator[str]:
    yield "| key | type | default | what it is |"
    yield "|---|---|---|---|"
    for key in keys_of(kind, path):
        marks = "".join((" Secret." if key.secret else "", " Needs a trusted file." if key.trusted else ""))
        help_text = key.help.rstrip(".") + "." + marks
        yield f"| `{'.'.join(key.path)}` | {_cell(type_text(key.type))} | {_cell(_shown(key.default))} | {_cell(help_text)} |"


def _shown(value: Any) -> str:
    if value in (None, "", (), {}):
        return ""
    return f"`{list(value) if isinstance(value, tuple) else value}`"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _first(thing: Any) -> str:
    return (inspect.getdoc(thing) or "").split("\n\n")[0].replace("\n", " ")


def _roles() -> tuple[str, ...]:
    from kgot_core.contracts.model import Role

    return get_args(Role)


def _attributes(cls: type) -> dict[str, str]:
    """Reads the Attributes section of a class's docstring."""
    found: dict[str, str] = {}
    inside = ""
    for line in (inspect.getdoc(cls) or "").partition("Attributes:\n")[2].splitlines():
        name, colon, text = line.strip().partition(": ")
        if line.startswith("    ") and not line.startswith("     ") and colon:
            inside = name
            found[name] = text
        elif inside and line.strip():
            found[inside] += " " + line.strip()
    return found


if __name__ == "__main__":
    for page, make in PAGES.items():
        (HERE / page).write_text(make(), encoding="utf-8")
    sys.exit(0)
