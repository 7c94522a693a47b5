"""Layers of settings: which stand above which, where paths start, and what tells a value's origin."""

from __future__ import annotations

import json
import runpy
from pathlib import Path

from kgot_core.contracts.options import LoopLimits
from kgot_core.settings import Override
from kgot_core.settings.keys import Catalogue
from kgot_core.settings.limits import LOOP

_places = runpy.run_path(str(Path(__file__).with_name("kit_settings.py")))
Place, place = _places["Place"], _places["place"]


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


def test_variables_of_the_program_are_no_settings(place: Place) -> None:
    place.load(env={"KGOT_DEBUG": "1", "KGOT_CONFIG_DIR": "/x", "_KGOT_COMPLETE": "x", "OPENAI_API_KEY": "k"})


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
