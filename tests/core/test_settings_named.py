"""Tables of a provider's settings under names that the user chooses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kgot_core.errors import UsageError
from kgot_core.plugins import PluginRegistry
from kgot_core.settings import Settings, provider_settings
from kgot_core.settings.keys import keys_of

FILE = """
from collections.abc import Mapping
from dataclasses import dataclass, field
from kgot_core.hookspecs import hookimpl
from kgot_core.providers import ToolProvider

@dataclass(frozen=True)
class Place:
    address: str = field(default="", metadata={"trusted": True})
    folder: str = field(default="", metadata={"path": True})
    seconds: float = 1.0
    words: tuple[str, ...] = ()
    keys: Mapping[str, str] = field(default_factory=dict, repr=False, metadata={"secret": True, "trusted": True})

@dataclass(frozen=True)
class Places:
    most: int = 3
    places: Mapping[str, Place] = field(default_factory=dict)

@hookimpl
def kgot_tools():
    return [ToolProvider(name="far", summary="Far.", settings=Places, create=lambda settings, context: [])]
"""
TABLE = """
[tools.far.places."two words"]
address = "here"
folder = "data"
keys = { PASS = "let-me-in-17" }
[tools.far.places.b]
seconds = 2
"""


@pytest.fixture
def registry(tmp_path: Path) -> PluginRegistry:
    (tmp_path / "far_plugin.py").write_text(FILE)
    registry = PluginRegistry("0.1.0")
    registry.load_extra(str(tmp_path / "far_plugin.py"))
    return registry


def load(folder: Path, registry: PluginRegistry, *overrides: str, trusted: bool = True) -> tuple[Settings, Any]:
    config = folder if trusted else folder / "config"
    settings = Settings.load(folder, {}, overrides, registry, config_dir=config)
    return settings, provider_settings(settings, registry.get("tool", "far"))


def test_a_table_has_any_name_and_its_keys_their_own_types(tmp_path: Path, registry: PluginRegistry) -> None:
    (tmp_path / "kgot.toml").write_text(TABLE)
    _, found = load(tmp_path, registry, "tools.far.places.c.words=one, two", "tools.far.places.b.seconds=4.5")
    assert found.most == 3 and sorted(found.places) == ["b", "c", "two words"]
    place = found.places["two words"]
    assert (place.address, place.folder, dict(place.keys)) == ("here", str(tmp_path / "data"), {"PASS": "let-me-in-17"})
    assert found.places["c"].words == ("one", "two") and found.places["b"].seconds == 4.5


def test_what_is_secret_in_such_a_table_is_never_shown(tmp_path: Path, registry: PluginRegistry) -> None:
    (tmp_path / "kgot.toml").write_text(TABLE)
    settings, found = load(tmp_path, registry)
    shown = {item.key: item.value for item in settings.items()}
    assert shown['tools.far.places."two words".keys.PASS'] == "********"
    assert settings.secrets() == {"let-me-in-17"}
    assert "let-me-in" not in json.dumps(settings.to_json()) + repr(found) + repr(settings)
    again = Settings.from_json(settings.to_json(), {})
    assert provider_settings(again, registry.get("tool", "far")) == found


def test_only_a_trusted_file_sets_what_is_guarded_in_such_a_table(tmp_path: Path, registry: PluginRegistry) -> None:
    (tmp_path / "kgot.toml").write_text(TABLE)
    with pytest.raises(UsageError) as refused:
        load(tmp_path, registry, trusted=False)
    assert 'line 3: tools.far.places."two words".address' in refused.value.message
    assert "keys.PASS" in refused.value.message and "seconds" not in refused.value.message


@pytest.mark.parametrize(
    ("override", "message", "hint"),
    [
        (
            "tools.far.places.b.adress=x",
            "there is no setting tools.far.places.b.adress (--set)",
            "did you mean tools.far.places.b.address?",
        ),
        (
            "tools.far.place.b.address=x",
            "there is no setting tools.far.place.b.address (--set)",
            "did you mean tools.far.places.b.address?",
        ),
        ("tools.far.places.b=5", "tools.far.places.b", ""),
        ("tools.far.places.b.seconds=long", "tools.far.places.b.seconds is wrong", ""),
    ],
)
def test_what_is_wrong_in_such_a_table_is_one_line(
    tmp_path: Path, registry: PluginRegistry, override: str, message: str, hint: str
) -> None:
    with pytest.raises(UsageError) as refused:
        load(tmp_path, registry, override)
    assert refused.value.message.startswith(message) and refused.value.hint == hint


def test_keys_of_such_tables_are_listed_once(registry: PluginRegistry) -> None:
    keys = [".".join(key.path) for key in keys_of(registry.get("tool", "far").settings, ("tools", "far"))]
    assert keys[:2] == ["tools.far.most", "tools.far.places.<name>.address"] and len(keys) == 6
