"""A provider's table becomes its own dataclass, or one line says which key is wrong."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import pytest

from kgot_core.errors import PluginError, UsageError
from kgot_core.plugins import PluginRegistry
from kgot_core.providers import BackendProvider
from kgot_core.settings import Settings, provider_settings


@dataclass(frozen=True)
class Pool:
    size: int = 4
    name: str = ""


@dataclass(frozen=True)
class StoreSettings:
    uri: str = "bolt://localhost"
    port: int = 7687
    tls: bool = False
    seconds: float | None = None
    mode: Literal["fast", "safe"] = "fast"
    labels: tuple[str, ...] = ()
    folder: Path | None = None
    prefixes: Mapping[str, str] = field(default_factory=dict)
    pool: Pool = Pool()
    anything: Any = None

    def __post_init__(self) -> None:
        if self.port == 13:
            raise ValueError("a port of 13 brings bad luck")


def store(settings: type = StoreSettings) -> BackendProvider:
    def never(settings: Any, context: Any) -> Any:
        raise AssertionError("not opened here")

    return BackendProvider(name="my-store", summary="", settings=settings, open=never)


def opened(folder: Path, *overrides: str, env: dict[str, str] | None = None, toml: str = "") -> StoreSettings:
    if toml:
        (folder / "kgot.toml").write_text(f"[backends.my-store]\n{toml}")
    settings = Settings.load(folder, env or {}, overrides, config_dir=folder)
    found = provider_settings(settings, store())
    assert isinstance(found, StoreSettings)
    return found


def test_defaults(tmp_path: Path) -> None:
    assert opened(tmp_path) == StoreSettings()


def test_a_table_of_a_file(tmp_path: Path) -> None:
    toml = (
        "port = 1\ntls = true\nlabels = ['a', 'b']\nfolder = 'data'\nseconds = 2\nprefixes = {ex = 'http://x/'}\n"
        "[backends.my-store.pool]\nsize = 9"
    )
    found = opened(tmp_path, toml=toml)
    assert found == StoreSettings(
        port=1, tls=True, labels=("a", "b"), folder=tmp_path / "data", seconds=2.0, prefixes={"ex": "http://x/"},
        pool=Pool(9),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("key", "text", "value"),
    [
        ("uri", "123456", "123456"),
        ("uri", "true", "true"),
        ("uri", "[a]", "[a]"),
        ("port", "99", 99),
        ("tls", "yes", True),
        ("seconds", "1.5", 1.5),
        ("mode", "safe", "safe"),
        ("labels", "a, b", ("a", "b")),
        ("labels", '["a, b"]', ("a, b",)),
        ("labels", "one", ("one",)),
        ("prefixes", '{ex = "http://x/"}', {"ex": "http://x/"}),
        ("prefixes.ex", "http://x/", {"ex": "http://x/"}),
        ("pool", "{size = 2}", Pool(2)),
        ("pool.size", "2", Pool(2)),
        ("pool.name", "2", Pool(name="2")),
        ("anything", "7", "7"),
    ],
)
def test_text_is_read_as_the_fields_type(key: str, text: str, value: object, tmp_path: Path) -> None:
    name = "KGOT_BACKENDS__MY_STORE__" + key.upper().replace(".", "__")
    for found in (opened(tmp_path, f"backends.my-store.{key}={text}"), opened(tmp_path, env={name: text})):
        assert getattr(found, key.partition(".")[0]) == value
        assert type(getattr(found, key.partition(".")[0])) is type(value)


@pytest.mark.parametrize(
    ("key", "text", "message"),
    [
        ("port", "many", "backends.my_store.port must be a whole number, not 'many' (--set)"),
        ("tls", "7", "backends.my_store.tls must be true or false, not '7' (--set)"),
        ("seconds", "x", "backends.my_store.seconds must be a number or none, not 'x' (--set)"),
        ("mode", "slow", "backends.my_store.mode must be one of fast, safe, not 'slow' (--set)"),
        ("port", "13", "backends.my_store: a port of 13 brings bad luck"),
        ("prto", "1", "there is no setting backends.my_store.prto (--set)"),
        ("pool.sise", "1", "there is no setting backends.my_store.pool.sise (--set)"),
    ],
)
def test_a_wrong_value_is_one_line(key: str, text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError) as refused:
        opened(tmp_path, f"backends.my-store.{key}={text}")
    assert refused.value.message == message


def test_a_wrong_value_deep_in_a_table_names_its_key(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"backends\.my_store\.pool\.size is wrong: .*integer.*'x'.* line 2\)"):
        opened(tmp_path, toml="pool = {size = 'x'}")


def test_the_suggestion_for_an_unknown_key(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as refused:
        opened(tmp_path, "backends.my-store.prefix=1")
    assert refused.value.hint == "did you mean backends.my_store.prefixes?"


FILE = """
from dataclasses import dataclass
from kgot_core.hookspecs import hookimpl
from kgot_core.providers import BackendProvider
@dataclass(frozen=True)
class StoreSettings:
    port: int = 1
@hookimpl
def kgot_graph_backends():
    return [BackendProvider(name="my-store", summary="", settings=StoreSettings, open=lambda s, c: None)]
"""


def test_keys_of_an_installed_provider_are_refused_at_loading(tmp_path: Path) -> None:
    (tmp_path / "my_store_plugin.py").write_text(FILE)
    registry = PluginRegistry("0.1.0")
    registry.load_extra(str(tmp_path / "my_store_plugin.py"))
    with pytest.raises(UsageError) as refused:
        Settings.load(tmp_path, {"KGOT_BACKENDS__MY_STORE__PRT": "1"}, (), registry)
    assert refused.value.message == "there is no setting backends.my_store.prt (KGOT_BACKENDS__MY_STORE__PRT)"
    assert refused.value.hint == "did you mean backends.my_store.port?"
    # A table of a package that is not installed here is somebody's else machine's.
    Settings.load(tmp_path, {"KGOT_BACKENDS__OTHER__PRT": "1"}, (), registry)


def test_settings_whose_types_cannot_be_read_are_the_plugins_fault(tmp_path: Path) -> None:
    @dataclass(frozen=True)
    class Odd:
        size: Unknown = 1  # type: ignore[name-defined]  # noqa: F821

    settings = Settings.load(tmp_path, {}, ["backends.my-store.size=1"])
    with pytest.raises(PluginError, match="the settings of the backend my-store cannot be used"):
        provider_settings(settings, store(Odd))


def test_providers_that_share_a_table_have_the_same_settings(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(
        "from dataclasses import dataclass, field\n"
        "from kgot_core.hookspecs import hookimpl\n"
        "from kgot_core.providers import ToolProvider\n"
        "@dataclass(frozen=True)\nclass Net:\n"
        "    hosts: tuple[str, ...] = field(default=(), metadata={'trusted': True})\n"
        "@hookimpl\ndef kgot_tools():\n"
        "    return [ToolProvider(name=name, summary='Reads.', settings=Net, table='net', create=lambda s, c: [])\n"
        "            for name in ('look', 'walk')]\n"
    )
    registry = PluginRegistry("0.1.0")
    registry.load_extra(str(tmp_path / "own.py"))
    settings = Settings.load(tmp_path, {}, ["tools.net.hosts=a.example"], registry=registry, config_dir=tmp_path)
    found = [provider_settings(settings, registry.get("tool", name)) for name in ("look", "walk")]
    assert [one.hosts for one in found] == [("a.example",)] * 2
    with pytest.raises(UsageError, match=r"tools\.net\.host"):
        Settings.load(tmp_path, {}, ["tools.net.host=a.example"], registry=registry, config_dir=tmp_path)
