"""What a settings file outside the user's config folder may set, and when."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

from kgot_core.errors import UsageError
from kgot_core.plugins import PluginRegistry
from kgot_core.settings import Settings, plugin_settings, provider_settings
from kgot_core.settings.files import read_file
from kgot_core.settings.layers import Sources
from kgot_core.settings.trust import TrustStore

FIXTURES = Path(__file__).parents[1] / "fixtures" / "plugins"

GUARDED = {
    "models.graph.base_url": "models.graph.base_url = 'http://evil'",
    "models.graph.api_key": "models.graph.api_key = 'sk-of-somebody'",
    "models.tool.options.default_headers.X": "models.tool.options.default_headers.X = 'y'",
    "models.graph.model": "models.graph.model = 'import:evil.Model'",
    "models.judge": "models.judge = 'import:evil.Model'",
    "plugins.load": "plugins.load = ['evil.py']",
    "plugins.disabled": "plugins.disabled = ['kgot-guard']",
    "prompts.dir": "prompts.dir = 'prompts'",
    "graph.schema": "graph.schema = '/etc/passwd'",
    "sandbox": "sandbox = 'none'",
    "sandboxes.docker.memory": "[sandboxes.docker]\nmemory = 1",
    "tools.enabled": "tools.enabled = ['shell']",
    "backends.neo4j.uri": "[backends.neo4j]\nuri = 'bolt://evil'",
    "tools.search_web.api_url": "[tools.search_web]\napi_url = 'http://evil'",
    "tools.fetch.allow_hosts": "[tools.fetch]\nallow_hosts = ['localhost']",
    "tools.mcp.servers": "[tools.mcp]\nservers = [{command = 'sh'}]",
    "tools.mcp.servers.one.command": "[tools.mcp.servers.one]\ncommand = 'sh'",
    "backends.neo4j.password_file": "[backends.neo4j]\npassword_file = '/home/me/.ssh/id'",
    "schedulers.pool.image": "[schedulers.pool]\nimage = 'evil'",
    "sinks.web.endpoint": "[sinks.web]\nendpoint = 'http://evil'",
    "model_providers.mine.host": "[model_providers.mine]\nhost = 'evil'",
}

FREE = """
backend = ["networkx"]
solver = "direct"
models.graph = "openai:gpt-4o-mini"
models.tool.temperature = 0.2
runs_dir = "runs"
graph.rows = 10
loop.max_iterations = 3
tools.disabled = ["wikipedia"]
plugins.strict = true
tools.search_web.results = 5
"""


def load(folder: Path, config: Path | None, registry: PluginRegistry | None = None) -> Settings:
    return Settings.load(folder, {}, (), registry, config_dir=config)


@pytest.mark.parametrize("key", GUARDED)
def test_a_foreign_file_may_not_set_what_reaches_or_opens_something(key: str, tmp_path: Path) -> None:
    file = tmp_path / "project" / "kgot.toml"
    file.parent.mkdir()
    file.write_text("# a comment\n\n" + GUARDED[key], encoding="utf-8")
    line = 3 + GUARDED[key].count("\n")
    with pytest.raises(UsageError) as refused:
        load(file.parent, tmp_path / "config")
    assert f"{file} may not set line {line}: {key}, because" in refused.value.message
    assert "because it is not trusted" in refused.value.message
    assert refused.value.hint == f"kgot config trust {file}"
    TrustStore(tmp_path / "config").trust(read_file(file))
    assert load(file.parent, tmp_path / "config").origin(key) in (str(file), "default")


@pytest.mark.parametrize("key", GUARDED)
def test_the_users_own_file_may_set_everything(key: str, tmp_path: Path) -> None:
    (tmp_path / "kgot.toml").write_text(GUARDED[key], encoding="utf-8")
    work = tmp_path / "work"
    work.mkdir()
    load(work, tmp_path)


def test_a_foreign_file_may_set_the_rest(tmp_path: Path) -> None:
    (tmp_path / "kgot.toml").write_text(FREE, encoding="utf-8")
    settings = load(tmp_path, None)
    assert settings.core.loop.max_iterations == 3
    assert settings.raw("tools", "search_web") == {"results": 5}


def test_a_change_takes_the_trust_away(tmp_path: Path) -> None:
    config, project = tmp_path / "config", tmp_path / "project"
    project.mkdir()
    file = project / "kgot.toml"
    file.write_text("models.graph.base_url = 'http://good'")
    TrustStore(config).trust(read_file(file))
    load(project, config)
    file.write_text("models.graph.base_url = 'http://evil'")
    with pytest.raises(UsageError, match="because it has changed since it was trusted"):
        load(project, config)
    file.write_text("models.graph.base_url = 'http://good'")
    load(project, config)


def test_trust_is_for_one_file_only(tmp_path: Path) -> None:
    config = tmp_path / "config"
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "kgot.toml").write_text("sandbox = 'none'")
    TrustStore(config).trust(read_file(tmp_path / "one" / "kgot.toml"))
    load(tmp_path / "one", config)
    with pytest.raises(UsageError):
        load(tmp_path / "two", config)


def test_a_guarded_key_is_refused_even_where_a_higher_layer_sets_it(tmp_path: Path) -> None:
    (tmp_path / "kgot.toml").write_text("sandbox = 'none'")
    with pytest.raises(UsageError, match="line 1: sandbox"):
        Settings.load(tmp_path, {"KGOT_SANDBOX": "bwrap"}, ["sandbox=bwrap"])


def test_all_refused_lines_are_named(tmp_path: Path) -> None:
    (tmp_path / "kgot.toml").write_text("sandbox = 'none'\n[prompts]\ndir = 'p'\n")
    with pytest.raises(UsageError, match=r"line 1: sandbox, line 3: prompts\.dir, because"):
        load(tmp_path, None)


def test_plugins_of_a_foreign_file_are_refused_before_any_is_loaded(tmp_path: Path) -> None:
    (tmp_path / "kgot.toml").write_text("plugins.load = ['evil.py']\nvoter.nonsense = 1\n")
    with pytest.raises(UsageError, match=r"line 1: plugins\.load"):
        plugin_settings(Sources.read(tmp_path, {}))


def test_environment_and_set_may_set_everything(tmp_path: Path) -> None:
    settings = Settings.load(tmp_path, {"KGOT_MODELS__GRAPH__BASE_URL": "http://a"}, ["plugins.load=my_module"])
    assert settings.core.plugins.load == ("my_module",)


def test_a_damaged_store_of_trust_is_one_clear_line(tmp_path: Path) -> None:
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / "trusted.json").write_text("{")
    (tmp_path / "kgot.toml").write_text("voter = 'x'")
    with pytest.raises(UsageError, match=r"trusted\.json cannot be read"):
        load(tmp_path, tmp_path / "config")


def test_the_line_is_found_in_tables_inline_tables_and_arrays(tmp_path: Path) -> None:
    text = 'a.b = 1\n[t.u]\n"quoted key" = 1\nv = {w = 1,\n x = 2}\n[[list]]\ny = 1\n[t]\nz = "[u]"\nv = 3\n'
    (tmp_path / "kgot.toml").write_text(text.replace(",\n x", ", x"))
    file = read_file(tmp_path / "kgot.toml")
    found = {".".join(path): file.line(path) for path in [
        ("a", "b"), ("t", "u", "quoted key"), ("t", "u", "v", "w"), ("list",), ("t", "v"), ("none",)
    ]}  # fmt: skip
    assert found == {"a.b": 1, "t.u.quoted key": 3, "t.u.v.w": 4, "list": 5, "t.v": 9, "none": 0}


MARKED = runpy.run_path(str(FIXTURES / "install.py"))["GOOD"].replace(
    "summary=", "settings=Marks, summary="
).replace(
    "@hookimpl",
    "from dataclasses import dataclass, field\n"
    "@dataclass(frozen=True)\nclass Marks:\n"
    "    level: int = field(default=0, metadata={{'trusted': True}})\n"
    "    url: str = field(default='', metadata={{'trusted': False}})\n"
    "    path: str = ''\n"
    "@hookimpl",
)  # fmt: skip


@pytest.fixture
def registry(tmp_path: Path) -> PluginRegistry:
    (tmp_path / "marked_plugin.py").write_text(MARKED.format(name="marked"))
    made = PluginRegistry("0.1.0")
    made.load_extra(str(tmp_path / "marked_plugin.py"))
    return made


@pytest.mark.parametrize(("line", "good"), [("level = 1", False), ("url = 'http://a'", True), ("path = 'a'", False)])
def test_a_providers_own_marks_decide_and_else_its_names(
    line: str, good: bool, tmp_path: Path, registry: PluginRegistry
) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "kgot.toml").write_text(f"[tools.marked]\n{line}")
    if good:
        load(folder, None, registry)
    else:
        with pytest.raises(UsageError, match=r"line 2: tools\.marked"):
            load(folder, None, registry)


def test_a_mark_holds_where_the_provider_was_not_known_at_loading(tmp_path: Path, registry: PluginRegistry) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "kgot.toml").write_text("[tools.marked]\nlevel = 1")
    settings = load(folder, None)
    with pytest.raises(UsageError, match=r"line 2: tools\.marked\.level"):
        provider_settings(settings, registry.get("tool", "marked"))
