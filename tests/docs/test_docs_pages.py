"""The pages of settings, events and hooks are those that the code gives, and leave nothing out."""

from __future__ import annotations

import dataclasses
import re
import runpy
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import get_args

import pytest

from kgot_core import events, hookspecs, providers
from kgot_core.plugins import PluginRegistry
from kgot_core.settings.keys import keys_of, roles
from kgot_core.settings.schema import SECTIONS, CoreSettings, ModelSettings

DOCS = Path(__file__).parents[2] / "docs"
REWRITE = "the page is not what the code says: run python docs/generate.py"


@pytest.fixture(scope="module")
def pages() -> Mapping[str, Callable[[], str]]:
    found: Mapping[str, Callable[[], str]] = runpy.run_path(str(DOCS / "generate.py"))["PAGES"]
    return found


def page(name: str) -> str:
    return (DOCS / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["settings.md", "events.md", "hooks.md"])
def test_a_page_is_what_the_code_gives(name: str, pages: Mapping[str, Callable[[], str]]) -> None:
    assert page(name) == pages[name](), REWRITE


def test_every_setting_is_documented_with_a_sentence_and_no_other_is() -> None:
    rows = dict(re.findall(r"^\| `([^`]+)` \|.*\| ([^|]*) \|$", page("settings.md"), re.MULTILINE))
    expected = {".".join(key.path) for key in keys_of(CoreSettings)}
    expected |= {".".join(key.path) for key in keys_of(ModelSettings, ("models", "<role>"))}
    registry = PluginRegistry()
    registry.load()
    for kind in get_args(providers.ProviderKind):
        for distribution, provider in registry.all(kind):
            if f"Package `{distribution}`" in page("settings.md"):
                expected |= {
                    ".".join(key.path) for key in keys_of(provider.settings, (SECTIONS[kind], provider.settings_table))
                }
    assert set(rows) == expected, REWRITE
    assert [key for key, said in rows.items() if len(said.split()) < 2] == [], "give the setting a help text"
    assert all(f"`{role}`" in page("settings.md") for role in roles())


def test_every_event_and_each_of_its_fields_is_described_and_no_other_is() -> None:
    sections = {text.split("`")[1]: text for text in page("events.md").split("\n## ")[1:] if text.startswith("`")}
    assert list(sections) == [cls.kind for cls in events.event_classes()], REWRITE
    common = {field.name for field in dataclasses.fields(events.CallEvent)}
    for cls in events.event_classes():
        said = dict(re.findall(r"^- `(\w+)` \([^)]*\)(.*)$", sections[cls.kind], re.MULTILINE))
        own = {field.name for field in dataclasses.fields(cls)} - (
            common if issubclass(cls, events.CallEvent) else set()
        )
        assert set(said) == own, REWRITE
        bare = [name for name, text in said.items() if not text.startswith(": ")]
        assert bare == [], f"describe these fields under Attributes in the docstring of {cls.__name__}"


def test_every_class_of_an_event_is_listed() -> None:
    named = {cls for cls in vars(events).values() if isinstance(cls, type) and "kind" in vars(cls)}
    assert named == set(events.event_classes())


def test_every_hook_and_provider_is_documented_and_no_other_is() -> None:
    specified = {name for name in vars(hookspecs) if name.startswith("kgot_")}
    assert set(re.findall(r"^\| `(kgot_\w+)` \|", page("hooks.md"), re.MULTILINE)) == specified, REWRITE
    offered = {
        cls.__name__
        for cls in providers.Provider.__subclasses__()
        if cls.__module__.startswith(f"{providers.__name__}.")
    }
    assert set(re.findall(r"^## (\w+Provider)$", page("hooks.md"), re.MULTILINE)) == offered, REWRITE


def test_what_is_not_documented_is_noticed(
    pages: Mapping[str, Callable[[], str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    @dataclasses.dataclass(frozen=True, kw_only=True)
    class Unheard(events.Event):
        """Something new."""

        kind = "unheard"

    monkeypatch.setattr(events, "event_classes", lambda: (*events.records.CLASSES, Unheard))
    monkeypatch.setattr(hookspecs, "kgot_new", hookspecs.kgot_tools, raising=False)
    assert "`unheard`" in pages["events.md"]() != page("events.md")
    assert "`kgot_new`" in pages["hooks.md"]() != page("hooks.md")
