"""Secrets: read from where they are, shown nowhere, and never in the JSON of a run."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgot_core.errors import UsageError
from kgot_core.providers import ToolProvider
from kgot_core.settings import Override, Settings, provider_settings

KEY = "planted-secret-value"


@dataclass(frozen=True)
class KeySettings:
    token: str = field(default="", metadata={"secret": True})
    pin: str = ""
    size: int = 1


TOOL = ToolProvider(name="keyed", summary="", settings=KeySettings, create=lambda settings, context: [])


def through_json(settings: Settings, env: dict[str, str]) -> Settings:
    text = json.dumps(settings.to_json())
    assert KEY not in text
    return Settings.from_json(json.loads(text), env)


def key_of(settings: Settings) -> object:
    spec = settings.model("graph")
    assert spec is not None
    return spec.settings.get("api_key")


def test_a_secret_of_the_environment(tmp_path: Path) -> None:
    env = {"KGOT_MODELS__GRAPH__API_KEY": KEY, "KGOT_MODELS__GRAPH": "openai:x"}
    settings = Settings.load(tmp_path, env)
    assert key_of(settings) == KEY
    assert settings.to_json()["values"]["models.graph.api_key"] == {"@secret": {"env": "KGOT_MODELS__GRAPH__API_KEY"}}
    assert key_of(through_json(settings, {**env, "KGOT_MODELS__GRAPH__API_KEY": "newer"})) == "newer"
    with pytest.raises(UsageError, match="read from the variable KGOT_MODELS__GRAPH__API_KEY, which is not set"):
        key_of(through_json(settings, {}))


def test_a_secret_in_a_file_is_read_where_it_is_used(tmp_path: Path) -> None:
    (tmp_path / "key").write_text(f"  {KEY}\n")
    env = {"KGOT_MODELS__GRAPH__API_KEY_FILE": "key", "KGOT_MODELS__GRAPH": "openai:x"}
    settings = Settings.load(tmp_path, env)
    assert key_of(settings) == KEY
    reference = {"@secret": {"file": str(tmp_path / "key")}}
    assert settings.to_json()["values"]["models.graph.api_key"] == reference
    assert settings.origin("models.graph.api_key") == "KGOT_MODELS__GRAPH__API_KEY_FILE"
    again = through_json(settings, {})
    (tmp_path / "key").unlink()
    for lost in (again, Settings.load(tmp_path, env)):
        with pytest.raises(UsageError, match=r"models\.graph\.api_key is read from the file .*, which cannot be read"):
            key_of(lost)


def test_a_secret_and_its_file_together_are_refused(tmp_path: Path) -> None:
    env = {"KGOT_MODELS__GRAPH__API_KEY_FILE": "key", "KGOT_MODELS__GRAPH__API_KEY": KEY}
    with pytest.raises(UsageError, match=r"models\.graph\.api_key is set twice"):
        Settings.load(tmp_path, env)


def test_only_a_secret_may_come_from_a_file(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"there is no setting models\.graph\.model_file"):
        Settings.load(tmp_path, {"KGOT_MODELS__GRAPH__MODEL_FILE": "x"})


def test_a_secret_of_a_settings_file_is_read_from_it_again(tmp_path: Path) -> None:
    file = tmp_path / "kgot.toml"
    file.write_text(f"[models.graph]\nmodel = 'openai:x'\napi_key = '{KEY}'\n[tools.key-ed]\npassword = '{KEY}'")
    settings = Settings.load(tmp_path, {}, config_dir=tmp_path)
    assert key_of(settings) == KEY
    again = through_json(settings, {})
    assert key_of(again) == KEY
    assert again.raw("tools", "key-ed") == {"password": KEY}
    file.write_text("[models.graph]\nmodel = 'openai:x'")
    with pytest.raises(UsageError, match="which does not set it any more"):
        key_of(again)
    file.unlink()
    with pytest.raises(UsageError, match="cannot be read"):
        key_of(again)


def test_a_secret_that_was_typed_is_kept_nowhere_and_the_error_says_so(tmp_path: Path) -> None:
    settings = Settings.load(tmp_path, {}, ["models.graph=openai:x", f"models.graph.api_key={KEY}"])
    assert key_of(settings) == KEY
    with pytest.raises(UsageError) as lost:
        key_of(through_json(settings, {}))
    assert lost.value.message == "models.graph.api_key was given by --set, which is not kept with the run"
    assert lost.value.hint == "set KGOT_MODELS__GRAPH__API_KEY or KGOT_MODELS__GRAPH__API_KEY_FILE"


@pytest.mark.parametrize(
    "override",
    [
        Override("backends.neo4j.password", KEY),
        Override("backends.neo4j.uri", f"bolt://me:{KEY}@host"),
        Override("tools.mcp.servers", [{"headers": {"Authorization": KEY}}]),
        Override("models.graph.options.default_headers", {"X-Api-Key": KEY}),
        Override("models.graph.options.headers", [{"cookie": KEY}]),
        f"tools.search_web.api_key={KEY}",
        f"tools.search_web.token={KEY}",
    ],
)
def test_what_looks_secret_is_kept_out_where_nobody_says_so(override: str | Override, tmp_path: Path) -> None:
    settings = Settings.load(tmp_path, {}, [override])
    assert KEY not in json.dumps(settings.to_json())
    assert KEY not in str([item.value for item in settings.items()])
    assert KEY not in repr(settings) + repr(settings.entries)
    section, name, *_ = next(iter(settings.entries))
    assert KEY in json.dumps(settings.raw(section, name))


def test_a_limit_of_tokens_is_no_secret(tmp_path: Path) -> None:
    settings = Settings.load(tmp_path, {}, ["tools.t.max_tokens=5", "models.graph.max_tokens=7"])
    values = settings.to_json()["values"]
    assert (values["tools.t.max_tokens"], values["models.graph.max_tokens"]) == ({"@text": "5"}, 7)


def test_a_secret_of_a_provider(tmp_path: Path) -> None:
    (tmp_path / "key").write_text(KEY)
    for env in ({"KGOT_TOOLS__KEYED__TOKEN": KEY}, {"KGOT_TOOLS__KEYED__TOKEN_FILE": str(tmp_path / "key")}):
        settings = Settings.load(tmp_path, env)
        opened = provider_settings(settings, TOOL)
        assert opened.token == KEY
        assert KEY not in repr(opened)
        assert provider_settings(through_json(settings, env), TOOL).token == KEY


def test_an_error_never_shows_a_secret(tmp_path: Path) -> None:
    number = ToolProvider(name="odd", summary="", settings=NumberSettings, create=lambda settings, context: [])
    settings = Settings.load(tmp_path, {}, [f"tools.odd.api_key={KEY}"])
    with pytest.raises(UsageError) as wrong:
        provider_settings(settings, number)
    assert wrong.value.message == "tools.odd.api_key must be a whole number (--set)"


@dataclass(frozen=True)
class NumberSettings:
    api_key: int = field(default=0, metadata={"secret": True})


def test_the_texts_of_secrets_can_be_kept_out_of_what_is_written(tmp_path: Path) -> None:
    settings = Settings.load(
        tmp_path, {"KGOT_MODELS__GRAPH__API_KEY": KEY, "KGOT_TOOLS__T__PASSWORD_FILE": "/none"}, ["tools.t.token=other"]
    )
    assert settings.secrets() == {KEY, "other"}


def test_settings_come_back_from_json_as_they_were(tmp_path: Path) -> None:
    file = tmp_path / "kgot.toml"
    file.write_text("backend = ['a', 'b']\n[tools.t]\nsince = 2024-01-31\nfolder = 'x'\n[extract]\nmax_tokens = 5")
    env = {"KGOT_TOOLS__T__CODE": "00123", "KGOT_RUNS_DIR": "out"}
    settings = Settings.load(tmp_path, env, ["loop.max_iterations=0", "models.tool=openai:y"], config_dir=tmp_path)
    again = through_json(settings, env)
    assert again.core == settings.core
    assert again.model("tool") == settings.model("tool")
    assert again.raw("tools", "t") == settings.raw("tools", "t")
    for key in ("backend", "runs_dir", "loop.max_iterations", "graph.rows", "tools.t.code", "models.tool.model"):
        assert again.origin(key) == settings.origin(key)
    assert again.to_json() == settings.to_json()
    assert settings.to_json()["values"]["graph.rows"] == 200


@pytest.mark.parametrize(
    "data",
    [
        {},
        {"folder": "/x", "values": [1], "origins": {}},
        {"folder": "/x", "values": {"a b": 1}, "origins": {}},
        {"folder": "/x", "values": {"backend": []}, "origins": {"backend": ["nowhere", "x"]}},
        {"folder": "/x", "values": {"of_a_later_version": 1}, "origins": {}},
        {"folder": 3, "values": {}, "origins": {}},
    ],
)
def test_json_that_is_no_settings_is_refused(data: dict[str, object]) -> None:
    with pytest.raises(UsageError):
        Settings.from_json(data, {})


VALUES = st.recursive(
    st.one_of(st.booleans(), st.integers(-(2**40), 2**40), st.floats(allow_nan=False, allow_infinity=False), st.text()),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(min_size=1), inner, max_size=3)),
    max_leaves=6,
)


@given(VALUES)
def test_any_value_of_a_provider_comes_back_from_json(value: object) -> None:
    settings = Settings.load(Path("/"), {}, [Override("tools.t.shape", {"inner": value})])
    again = Settings.from_json(json.loads(json.dumps(settings.to_json())), {})
    if not any("@secret" in str(entry) for entry in settings.to_json()["values"].values()):
        assert again.raw("tools", "t") == settings.raw("tools", "t")
