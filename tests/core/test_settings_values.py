"""Values of settings: how text is read as what a setting is, and how a wrong one is refused."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgot_core.errors import UsageError
from kgot_core.settings import Override, Settings
from kgot_core.settings.names import key_text, parse_key, variable, variable_path

_places = runpy.run_path(str(Path(__file__).with_name("kit_settings.py")))
Place, place = _places["Place"], _places["place"]


def refused(place: Place, *overrides: str | Override, env: dict[str, str] | None = None) -> UsageError:
    with pytest.raises(UsageError) as error:
        place.load(*overrides, env=env)
    return error.value


@pytest.mark.parametrize(
    ("key", "text", "value"),
    [
        ("backend", "neo4j", ("neo4j",)),
        ("backend", "neo4j, rdf ,", ("neo4j", "rdf")),
        ("backend", '["neo4j", "a,b"]', ("neo4j", "a,b")),
        ("plugins.strict", "Yes", True),
        ("plugins.strict", "0", False),
        ("graph.seconds", "2.5", 2.5),
        ("graph.seconds", "3", 3.0),
        ("extract.max_tokens", "none", None),
        ("extract.max_tokens", "", None),
        ("extract.max_tokens", "900", 900),
        ("extract.form", "facts", "facts"),
        ("strategy", "7", "7"),
        ("strategy", "", ""),
    ],
)
def test_text_is_read_as_the_settings_type(place: Place, key: str, text: str, value: object) -> None:
    for settings in (place.load(f"{key}={text}"), place.load(env={variable(parse_key(key)): text})):
        found: object = settings.core
        for part in key.split("."):
            found = getattr(found, part)
        assert found == value
        assert type(found) is type(value)


@pytest.mark.parametrize(
    ("key", "text", "wanted"),
    [
        ("loop.max_iterations", "seven", "must be a whole number, not 'seven'"),
        ("loop.max_iterations", "1.5", "must be a whole number, not '1.5'"),
        ("loop.max_iterations", "-1", "must be a whole number, at least 0, not '-1'"),
        ("loop.num_next_steps_decision", "0", "must be a whole number, at least 1, not '0'"),
        ("loop.max_llm_attempts", "0", "must be a whole number, at least 1, not '0'"),
        ("votes.abstain_below", "1.5", "must be a number, at most 1, not '1.5'"),
        ("votes.abstain_below", "-0.1", "must be a number, at least 0, not '-0.1'"),
        ("votes.final", "0", "must be a whole number, at least 1, not '0'"),
        ("graph.seconds", "0", "must be a number above 0, not '0'"),
        ("graph.seconds", "nan", "must be a number, not 'nan'"),
        ("graph.seconds", "inf", "must be a number, not 'inf'"),
        ("plugins.strict", "maybe", "must be true or false, not 'maybe'"),
        ("format", "html", "must be one of plain, gaia, not 'html'"),
        ("extract.form", "", "must be one of auto, statements, facts, not ''"),
        ("backend", "[1]", "must be a list, each text, not '[1]'"),
    ],
)
def test_a_wrong_value_is_refused_with_key_type_and_origin(place: Place, key: str, text: str, wanted: str) -> None:
    assert refused(place, f"{key}={text}").message == f"{key} {wanted} (--set)"
    name = variable(parse_key(key))
    assert refused(place, env={name: text}).message == f"{key} {wanted} ({name})"


@pytest.mark.parametrize(
    ("toml", "message"),
    [
        ("[loop]\n\nmax_iterations = true", "loop.max_iterations must be a whole number, not True ({} line 3)"),
        ("graph.rows = '5'", "graph.rows must be a whole number, not '5' ({} line 1)"),
        ("graph.seconds = nan", "graph.seconds must be a finite number ({} line 1)"),
        ("backend = [1]", "backend must be a list, each text, not [1] ({} line 1)"),
        ("graph = 5", "graph is a table of settings, not a value ({} line 1)"),
        ("backends = 5", "backends is a table of settings, not a value ({} line 1)"),
        ("[backends]\nneo4j = 5", "backends.neo4j is a table of settings, not a value ({} line 2)"),
        ("voter.x = 1", "there is no setting voter.x ({} line 1)"),
    ],
)
def test_a_wrong_value_in_a_file_is_refused_with_its_line(place: Place, toml: str, message: str) -> None:
    file = place.near(toml)
    assert refused(place).message == message.format(file)


@pytest.mark.parametrize(
    ("key", "suggestion"),
    [
        ("loop.max_iteration", "loop.max_iterations"),
        ("max_iterations", "loop.max_iterations"),
        ("bakend", "backend"),
        ("models.grahp.model", "models.graph.model"),
        ("models.graph.api_keys", "models.graph.api_key"),
        ("tools.enabeld", "tools.enabled"),
        ("voters.decid", "voters.decide"),
        ("prompt.dir", "prompts.dir"),
    ],
)
def test_an_unknown_key_is_refused_with_a_suggestion(place: Place, key: str, suggestion: str) -> None:
    error = refused(place, f"{key}=1")
    assert key in error.message
    assert error.hint == f"did you mean {suggestion}?"
    env = {variable(parse_key(key)): "1"}
    assert refused(place, env=env).hint == f"did you mean {suggestion}?"
    top, _, rest = key.partition(".")
    place.near(f"{key} = '1'" if rest else f"{top} = '1'")
    assert refused(place).hint == f"did you mean {suggestion}?"


@pytest.mark.parametrize(
    "override", ["loop.max_iterations", "=1", "a b=1", "loop..x=1", "loop.\nx=1", '"open=1', "#=2", "[x]=1"]
)
def test_a_bad_set_is_one_clear_line(place: Place, override: str) -> None:
    assert refused(place, override).message


@pytest.mark.parametrize("name", ["KGOT_", "KGOT_LOOP__", "KGOT___X", "KGOT_LOOP____X"])
def test_a_variable_that_names_no_setting_is_refused(place: Place, name: str) -> None:
    assert name in refused(place, env={name: "1"}).message


@pytest.mark.parametrize("data", [b"a = [", b"\xff\xfe", b"a = 1\na = 2", b"[[[[", b"a = " + b"[" * 5000])
def test_a_file_that_is_not_toml_is_one_clear_line(place: Place, data: bytes) -> None:
    (place.project / "kgot.toml").write_bytes(data)
    assert str(place.project / "kgot.toml") in refused(place).message


def test_a_table_may_be_given_as_one_toml_value(place: Place) -> None:
    env = {"KGOT_BACKENDS__SHEET": '{size = 3, "Mixed Case" = {a = 1}}', "KGOT_GRAPH": "{rows = 9}"}
    settings = place.load(env=env)
    assert settings.raw("backends", "sheet") == {"size": 3, "Mixed Case": {"a": 1}}
    assert settings.core.graph.rows == 9


def test_one_key_set_by_two_variables_is_refused(place: Place) -> None:
    env = {"KGOT_GRAPH": "{rows = 9}", "KGOT_GRAPH__ROWS": "8"}
    assert refused(place, env=env).message == "graph.rows is set twice: KGOT_GRAPH and KGOT_GRAPH__ROWS"


@pytest.mark.parametrize("name", ["gpt-4o", "openai:", ":x"])
def test_a_model_without_its_provider_is_refused(place: Place, name: str) -> None:
    settings = place.load(f"models.graph={name}")
    with pytest.raises(UsageError, match=r"models\.graph: a model is named provider:name.*\(--set\)"):
        settings.model("tool")


def test_options_of_a_model_are_read_as_toml_from_text(place: Place) -> None:
    settings = place.load(
        "models.graph=openai:x", "models.graph.options.top_p=0.5", "models.graph.options.user=me",
        env={"KGOT_MODELS__GRAPH__OPTIONS__STOP": '["a"]'},
    )  # fmt: skip
    spec = settings.model("graph")
    assert spec is not None
    assert spec.settings["options"] == {"top_p": 0.5, "user": "me", "stop": ["a"]}


@given(st.lists(st.one_of(st.text(max_size=8), st.from_regex(r"[a-z_]{1,8}", fullmatch=True)), min_size=1, max_size=4))
def test_a_key_is_read_as_it_was_written(parts: list[str]) -> None:
    assert parse_key(key_text(tuple(parts))) == tuple(parts)


@given(st.lists(st.from_regex(r"[a-z]([a-z]|_[a-z]){0,5}", fullmatch=True), min_size=1, max_size=4))
def test_a_variable_names_the_key_it_was_made_of(parts: list[str]) -> None:
    assert variable_path(variable(tuple(parts))) == tuple(parts)


@given(st.text(max_size=200))
def test_any_text_as_a_value_is_a_value_or_one_clear_error(text: str) -> None:
    for key in ("loop.max_iterations", "backend", "extract.max_tokens", "tools.t.x", "models.graph.options.x", "graph"):
        try:
            Settings.load(Path("/"), {}, [f"{key}={text}"])
        except UsageError as error:
            assert "--set" in str(error)
