"""Settings: which layer wins, where each value comes from, and what is refused with which line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgot_core.contracts.options import LoopLimits
from kgot_core.errors import UsageError
from kgot_core.settings import Override, Settings
from kgot_core.settings.keys import Catalogue
from kgot_core.settings.limits import LOOP
from kgot_core.settings.names import key_text, parse_key, variable, variable_path


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


class Place:
    """A project folder with a folder below it, and a user's config folder."""

    def __init__(self, root: Path) -> None:
        self.project = root / "project"
        self.below = self.project / "a" / "b"
        self.config = root / "config"
        self.below.mkdir(parents=True)
        self.config.mkdir()

    def load(self, *overrides: str | Override, env: dict[str, str] | None = None, cwd: Path | None = None) -> Settings:
        return Settings.load(cwd or self.below, env or {}, overrides, config_dir=self.config)

    def near(self, text: str) -> Path:
        (self.project / "kgot.toml").write_text(text, encoding="utf-8")
        return self.project / "kgot.toml"

    def own(self, text: str) -> Path:
        (self.config / "kgot.toml").write_text(text, encoding="utf-8")
        return self.config / "kgot.toml"


def refused(place: Place, *overrides: str | Override, env: dict[str, str] | None = None) -> UsageError:
    with pytest.raises(UsageError) as error:
        place.load(*overrides, env=env)
    return error.value


def test_the_defaults(place: Place) -> None:
    core = place.load().core
    assert core.loop == LoopLimits()
    assert (core.backend, core.solver, core.strategy, core.voter) == ((), ("query",), "kgot", "majority")
    assert (core.graph.rows, core.graph.max_state_tokens, core.extract.form) == (200, 40_000, "auto")
    assert core.runs_dir == str(place.below / "runs")
    assert place.load().model("graph") is None


def test_each_layer_stands_on_the_one_below(place: Place) -> None:
    own = place.own("[loop]\nmax_iterations = 1\nmax_tool_retries = 1\nmax_llm_attempts = 1\n[graph]\nrows = 1")
    near = place.near("[loop]\nmax_iterations = 2\nmax_tool_retries = 2\nmax_llm_attempts = 2")
    env = {"KGOT_LOOP__MAX_ITERATIONS": "3", "KGOT_LOOP__MAX_TOOL_RETRIES": "3", "OTHER": "x"}
    settings = place.load("loop.max_iterations=4", env=env)
    loop = settings.core.loop
    assert (loop.max_iterations, loop.max_tool_retries, loop.max_llm_attempts, settings.core.graph.rows) == (4, 3, 2, 1)
    assert settings.origin("loop.max_iterations") == "--set"
    assert settings.origin("loop.max_tool_retries") == "KGOT_LOOP__MAX_TOOL_RETRIES"
    assert settings.origin("loop.max_llm_attempts") == str(near)
    assert settings.origin("graph.rows") == str(own)
    assert settings.origin("loop.num_next_steps_decision") == "default"


def test_the_nearest_file_upwards_is_read_alone(place: Place) -> None:
    place.near("voter = 'outer'\nstrategy = 'outer'")
    (place.below / "kgot.toml").write_text("voter = 'inner'")
    core = place.load().core
    assert (core.voter, core.strategy) == ("inner", "kgot")


def test_a_folder_named_like_the_file_is_passed_over(place: Place) -> None:
    place.near("voter = 'outer'")
    (place.below / "kgot.toml").mkdir()
    assert place.load().core.voter == "outer"


def test_the_users_file_is_read_once_from_within_its_folder(place: Place) -> None:
    place.own("[models.graph]\nbase_url = 'http://own'\nmodel = 'openai:x'")
    settings = place.load(cwd=place.config)
    spec = settings.model("graph")
    assert spec is not None
    assert spec.settings["base_url"] == "http://own"


def test_what_a_caller_gives_stands_above_set(place: Place) -> None:
    settings = place.load("backend=a", Override("backend", ("b",), "--backend"), Override("graph", {"rows": 5}))
    assert settings.core.backend == ("b",)
    assert settings.origin("backend") == "--backend"
    assert settings.core.graph.rows == 5
    more = settings.with_overrides(["graph.rows=6", "loop.max_iterations=0"])
    assert (more.core.graph.rows, more.core.loop.max_iterations, more.core.backend) == (6, 0, ("b",))
    assert settings.core.graph.rows == 5


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


def test_variables_of_the_program_are_no_settings(place: Place) -> None:
    place.load(env={"KGOT_DEBUG": "1", "KGOT_CONFIG_DIR": "/x", "_KGOT_COMPLETE": "x", "OPENAI_API_KEY": "k"})


@pytest.mark.parametrize("data", [b"a = [", b"\xff\xfe", b"a = 1\na = 2", b"[[[[", b"a = " + b"[" * 5000])
def test_a_file_that_is_not_toml_is_one_clear_line(place: Place, data: bytes) -> None:
    (place.project / "kgot.toml").write_bytes(data)
    assert str(place.project / "kgot.toml") in refused(place).message


def test_paths_start_where_they_are_set(place: Place) -> None:
    place.near("runs_dir = 'results'")
    assert place.load().core.runs_dir == str(place.project / "results")
    assert place.load("runs_dir=here").core.runs_dir == str(place.below / "here")
    assert place.load("runs_dir=/x/y").core.runs_dir == "/x/y"
    assert place.load(env={"KGOT_RUNS_DIR": "~/runs", "HOME": "/home/somebody"}).core.runs_dir == "/home/somebody/runs"
    place.own("[prompts]\ndir = 'mine'\n[plugins]\nload = ['module_of_mine', 'own.py', 'sub/own.py']")
    core = place.load().core
    assert core.prompts.dir == str(place.config / "mine")
    assert core.plugins.load == ("module_of_mine", str(place.config / "own.py"), str(place.config / "sub/own.py"))


def test_hyphen_and_underscore_are_one_in_the_name_of_a_provider(place: Place) -> None:
    place.near("[backends.rdf-remote]\nname = 'file'")
    env = {"KGOT_BACKENDS__RDF_REMOTE__TIMEOUT": "5"}
    settings = place.load("backends.rdf_remote.name=set", env=env)
    assert settings.raw("backends", "rdf-remote") == {"name": "set", "timeout": 5}
    assert settings.origin("backends.rdf-remote.timeout") == "KGOT_BACKENDS__RDF_REMOTE__TIMEOUT"


def test_a_table_may_be_given_as_one_toml_value(place: Place) -> None:
    env = {"KGOT_BACKENDS__SHEET": '{size = 3, "Mixed Case" = {a = 1}}', "KGOT_GRAPH": "{rows = 9}"}
    settings = place.load(env=env)
    assert settings.raw("backends", "sheet") == {"size": 3, "Mixed Case": {"a": 1}}
    assert settings.core.graph.rows == 9


def test_one_key_set_by_two_variables_is_refused(place: Place) -> None:
    env = {"KGOT_GRAPH": "{rows = 9}", "KGOT_GRAPH__ROWS": "8"}
    assert refused(place, env=env).message == "graph.rows is set twice: KGOT_GRAPH and KGOT_GRAPH__ROWS"


def test_a_layer_replaces_a_table_by_a_value_and_back(place: Place) -> None:
    place.near("[tools.t]\nshape = {kind = 'a', size = 1}")
    assert place.load("tools.t.shape=plain").raw("tools", "t") == {"shape": "plain"}
    place.near("[tools.t]\nshape = 'plain'")
    assert place.load("tools.t.shape.kind=b").raw("tools", "t") == {"shape": {"kind": "b"}}


def test_the_model_of_a_role(place: Place) -> None:
    place.own(
        "[models]\ntool = 'ollama:small'\n[models.graph]\nmodel = 'openai:gpt-4o'\nbase_url = 'http://a'\n"
        "timeout = 9\noptions = {top_p = 0.5, stop = ['x'], Extra = {deep = true}}\n[models.judge]\ntemperature = 0.1"
    )
    settings = place.load()
    graph, tool, judge, vision = (settings.model(role) for role in ("graph", "tool", "judge", "vision"))
    assert graph is not None and tool is not None and judge is not None
    assert (graph.provider, graph.name) == ("openai", "gpt-4o")
    options = {"top_p": 0.5, "stop": ["x"], "Extra": {"deep": True}}
    assert graph.settings == {"base_url": "http://a", "timeout": 9.0, "options": options}
    assert (tool.provider, tool.name, tool.settings) == ("ollama", "small", {"timeout": 120.0})
    assert vision == graph
    assert (judge.name, judge.settings["temperature"], judge.settings["base_url"]) == ("gpt-4o", 0.1, "http://a")


def test_another_provider_drops_address_and_key_of_the_layers_below(place: Place) -> None:
    place.own("[models.graph]\nmodel = 'openai:gpt-4o'\nbase_url = 'http://a'\napi_key = 'k'\ntemperature = 0.1")
    same = place.load("models.graph=openai:other").model("graph")
    assert same is not None and same.name == "other" and same.settings["base_url"] == "http://a"
    other = place.load("models.graph=ollama:other").model("graph")
    assert other is not None and other.settings == {"timeout": 120.0}
    both = place.load("models.graph.base_url=http://b", "models.graph=ollama:other").model("graph")
    assert both is not None and both.settings == {"timeout": 120.0, "base_url": "http://b"}


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


def test_the_voter_of_a_stage(place: Place) -> None:
    settings = place.load("voters.parse=judge", "voter=adaptive", "voters.judge.depth=2")
    assert (settings.voter("parse"), settings.voter("decide")) == ("judge", "adaptive")
    assert settings.raw("voters", "judge") == {"depth": 2}


def test_every_setting_has_help_and_every_loop_parameter_is_described() -> None:
    catalogue = Catalogue()
    assert all(key.help for key in catalogue.core.values())
    assert set(LOOP) == set(LoopLimits.__dataclass_fields__)
    assert ("loop", "max_iterations") in catalogue.core


def test_items_show_every_value_with_its_origin(place: Place) -> None:
    settings = place.load("graph.rows=5", "tools.t.depth=2", env={"KGOT_MODELS__GRAPH__API_KEY": "planted"})
    shown = {item.key: item for item in settings.items()}
    assert (shown["graph.rows"].value, shown["graph.rows"].origin) == (5, "--set")
    assert (shown["loop.max_iterations"].value, shown["loop.max_iterations"].origin) == (7, "default")
    assert shown["tools.t.depth"].origin == "--set"
    assert shown["models.graph.api_key"].origin == "KGOT_MODELS__GRAPH__API_KEY"
    assert "planted" not in json.dumps([item.value for item in settings.items()])
    assert "planted" not in repr(settings)


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
