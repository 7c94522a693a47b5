"""Writes the pages of settings, events and hooks from the code: ``python docs/generate.py``; a test compares."""

from __future__ import annotations

import dataclasses
import inspect
import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, get_args

from kgot_core import events, hookspecs, providers
from kgot_core.plugins import PluginRegistry
from kgot_core.settings.keys import keys_of, roles
from kgot_core.settings.schema import SECTIONS, CoreSettings, ModelSettings
from kgot_core.settings.values import type_text

HERE = Path(__file__).parent
ROOT = HERE.parent


def settings_page() -> str:
    """Gives the page of all settings: the core's own, and those of the plugins of this repository."""
    registry = PluginRegistry()
    registry.load()
    ours = _our_packages()
    if missing := ours - {record.distribution for record in registry.records if record.state == "ok"}:
        raise SystemExit(f"not installed or broken: {', '.join(sorted(missing))} (pip install -r plugins/dev.txt)")
    lines = [_head("settings"), "## The core's own\n", *_table(CoreSettings, ())]
    lines += ["\n## `models.<role>`\n", "Roles: " + ", ".join(f"`{role}`" for role in roles()) + ".\n"]
    lines += _table(ModelSettings, ("models", "<role>"))
    for kind in get_args(providers.ProviderKind):
        for distribution, provider in registry.all(kind):
            if distribution in ours and dataclasses.fields(provider.settings):
                head = (SECTIONS[kind], provider.settings_table)
                if provider.table and f"\n## `{'.'.join(head)}`\n" in lines:
                    continue
                summary = _sharing(registry, kind, provider) if provider.table else provider.summary
                lines += [f"\n## `{'.'.join(head)}`\n", f"Package `{distribution}`. {summary}\n"]
                lines += _table(provider.settings, head)
    return "\n".join(lines) + "\n"


def _sharing(registry: PluginRegistry, kind: Any, provider: providers.Provider) -> str:
    names = [f"`{other.name}`" for _, other in registry.all(kind) if other.settings_table == provider.table]
    return f"Shared by {', '.join(names)}."


def events_page() -> str:
    """Gives the page of all events."""
    lines = [_head("events"), "## Fields of every outside call\n", *_fields(events.CallEvent)]
    common = {field.name for field in dataclasses.fields(events.CallEvent)}
    for cls in events.event_classes():
        call = issubclass(cls, events.CallEvent)
        lines += [f"\n## `{cls.kind}`{' (outside call)' if call else ''}\n", _first(cls) + "\n"]
        lines += _fields(cls, common if call else set())
    return "\n".join(lines) + "\n"


def hooks_page() -> str:
    """Gives the page of all hooks, and of what they return."""
    lines = [_head("hooks"), "| hook | gives | each a |", "|---|---|---|"]
    offered = []
    for name, function in vars(hookspecs).items():
        if name.startswith("kgot_"):
            provider = str(inspect.signature(function).return_annotation).partition("providers.")[2].rstrip("]")
            lines.append(f"| `{name}` | {_first(function)} | [`{provider}`](#{provider.lower()}) |")
            offered.append(getattr(providers, provider))
    lines += ["\n## What every provider has\n", *_fields(providers.Provider)]
    common = {field.name for field in dataclasses.fields(providers.Provider)}
    for cls in offered:
        lines += [f"\n## {cls.__name__}\n", _text(cls) + "\n", *_fields(cls, common)]
    return "\n".join(lines) + "\n"


PAGES = MappingProxyType({"settings.md": settings_page, "events.md": events_page, "hooks.md": hooks_page})


def _our_packages() -> set[str]:
    """Names the packages that a checkout installs; others that happen to be there are not ours to document."""
    folders = re.findall(r"^-e (\S+)", (ROOT / "plugins/dev.txt").read_text(encoding="utf-8"), re.MULTILINE)
    files = [ROOT / folder / "pyproject.toml" for folder in folders]
    return {tomllib.loads(file.read_text(encoding="utf-8"))["project"]["name"] for file in files}


def _head(name: str) -> str:
    return (HERE / f"{name}.head.md").read_text(encoding="utf-8")


def _table(kind: type, path: tuple[str, ...]) -> Iterator[str]:
    yield "| key | type | default | what it is |"
    yield "|---|---|---|---|"
    for key in keys_of(kind, path):
        said = {
            " Secret.": key.secret,
            " Needs a trusted file.": key.trusted,
            " May change on resume.": not key.matters,
        }
        marks = "".join(text for text, holds in said.items() if holds)
        cells = [f"`{'.'.join(key.path)}`", type_text(key.type), _default(key.default), _sentence(key.help) + marks]
        yield f"| {' | '.join(cell.replace('|', '&#124;') for cell in cells)} |"


def _sentence(text: str) -> str:
    """Makes a sentence of a setting's help; a first word that is code stays as it is."""
    first = text.partition(" ")[0]
    text = text[:1].upper() + text[1:] if first.isalpha() else text
    return re.sub(r"\S*<\S+|\S+\.\*|\S+_\S+", lambda found: f"`{found[0]}`", text).replace("`,", ",").rstrip(".") + "."


def _default(value: Any) -> str:
    if value in (None, "", (), {}):
        return ""
    return f"`{value if isinstance(value, str) else json.dumps(value)}`"


def _fields(cls: type, without: set[str] | frozenset[str] = frozenset()) -> list[str]:
    """Lists a dataclass's fields with type and description, both as they stand in the code."""
    said = _attributes(cls)
    lines = []
    for field in dataclasses.fields(cls):
        if field.name not in without:
            what = f": {said[field.name]}" if field.name in said else ""
            lines.append(f"- `{field.name}` (`{field.type}`){what}")
    return lines


def _text(thing: Any) -> str:
    """Gives a docstring without its sections, in Markdown."""
    kept = (inspect.getdoc(thing) or "").partition("\nAttributes:")[0]
    return _markdown(" ".join(kept.split()))


def _first(thing: Any) -> str:
    return _markdown((inspect.getdoc(thing) or "").split("\n\n")[0].replace("\n", " "))


def _markdown(text: str) -> str:
    return re.sub(r":\w+:`~?([^`]+)`", r"`\1`", text.replace("``", "`"))


def _attributes(cls: type) -> Mapping[str, str]:
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
    return {name: _markdown(text) for name, text in found.items()}


if __name__ == "__main__":
    for page, make in PAGES.items():
        (HERE / page).write_text(make(), encoding="utf-8")
