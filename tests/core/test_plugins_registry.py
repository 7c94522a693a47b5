"""Loading of plugins: whatever one does, the others are there and nothing of it stays half registered."""

from __future__ import annotations

import inspect
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

import kgot_core
from kgot_core import hookspecs
from kgot_core.errors import PluginError
from kgot_core.plugins import PluginRecord, PluginRegistry
from kgot_core.plugins.collect import HOOKS
from kgot_core.plugins.known import extra_hint

FIXTURES = Path(__file__).parents[1] / "fixtures" / "plugins"
_made = runpy.run_path(str(FIXTURES / "install.py"))
install, GOOD = _made["install"], _made["GOOD"]

IMPORTS = """
from dataclasses import dataclass, field
from kgot_core.hookspecs import hookimpl
from kgot_core.providers import BackendProvider, ToolProvider
def tool(name="broken_tool", **more):
    return ToolProvider(name=name, summary="", create=lambda settings, context: [], **more)
"""


def backend(name: str) -> str:
    return f"""{IMPORTS}
@hookimpl
def kgot_graph_backends():
    return [BackendProvider(name="{name}", summary="", open=lambda settings, context: None)]
"""


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of the import path; modules imported from it are forgotten afterwards."""
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.syspath_prepend(str(folder))
    before = set(sys.modules)
    yield folder
    for name in set(sys.modules) - before:
        if str(folder) in str(getattr(sys.modules[name], "__file__", "")):
            del sys.modules[name]


def loaded(version: str = "0.1.0", **options: object) -> PluginRegistry:
    registry = PluginRegistry(version)
    registry.load(**options)
    return registry


def record(registry: PluginRegistry, distribution: str) -> PluginRecord:
    (found,) = [record for record in registry.records if record.distribution == distribution]
    return found


def tools(registry: PluginRegistry) -> list[str]:
    return [provider.name for _, provider in registry.all("tool")]


BROKEN = {
    "import": ("import not_there", "ModuleNotFoundError: No module named 'not_there'"),
    "exit at import": ("import sys\nsys.exit(3)", "SystemExit: 3"),
    "syntax": ("def broken(:", "SyntaxError"),
    "exit in a hook": (f"{IMPORTS}\n@hookimpl\ndef kgot_tools():\n    raise SystemExit('no')", "SystemExit: no"),
    "raises halfway": (
        f"{IMPORTS}\n@hookimpl\ndef kgot_tools():\n    yield tool('half')\n    raise ValueError('half way')",
        "ValueError: half way",
    ),
    "second hook raises": (
        backend("half_store") + "\n@hookimpl\ndef kgot_tools():\n    return 1 / 0",
        "ZeroDivisionError: division by zero",
    ),
    "misspelt hook": (
        f"{IMPORTS}\n@hookimpl\ndef kgot_tool():\n    return [tool()]",
        "there is no hook kgot_tool: did you mean kgot_tools?",
    ),
    "hook not marked": (
        f"{IMPORTS}\ndef kgot_tools():\n    return [tool()]",
        "its function kgot_tools is not marked with @hookimpl",
    ),
    "no hook": ("answer = 42", "it implements no hook: no function of it is marked with @hookimpl"),
    "hook with arguments": (
        f"{IMPORTS}\n@hookimpl\ndef kgot_tools(config):\n    return [tool()]",
        "PluginValidationError",
    ),
    "hook wrapper": (
        f"{IMPORTS}\n@hookimpl(wrapper=True)\ndef kgot_tools():\n    return (yield)",
        "kgot_tools is a hook wrapper; a plugin can only give providers",
    ),
    "single provider": (
        f"{IMPORTS}\n@hookimpl\ndef kgot_tools():\n    return tool()",
        "kgot_tools must return a list of providers, not ToolProvider",
    ),
    "nothing returned": (
        f"{IMPORTS}\n@hookimpl\ndef kgot_tools():\n    pass",
        "kgot_tools must return a list of providers, not NoneType",
    ),
    "wrong class": (
        f"{IMPORTS}\n@hookimpl\ndef kgot_graph_backends():\n    return [tool()]",
        "kgot_graph_backends must give objects of BackendProvider, not ToolProvider",
    ),
    "bad name": (
        f"{IMPORTS}\n@hookimpl\ndef kgot_tools():\n    return [tool('My Tool')]",
        "kgot_tools gives the name 'My Tool'; a name is lower case letters, digits, - and _",
    ),
    "one name twice": (
        f"{IMPORTS}\n@hookimpl\ndef kgot_tools():\n    return [tool('twin'), tool('twin')]",
        "it offers two providers of kind tool with the name twin",
    ),
    "not to be called": (
        f"{IMPORTS}\n@hookimpl\ndef kgot_tools():\n    return [tool(check=True)]",
        "check of the provider broken_tool cannot be called",
    ),
    "settings no dataclass": (
        f"{IMPORTS}\n@hookimpl\ndef kgot_tools():\n    return [tool(settings=dict)]",
        "the settings of the provider broken_tool must be a dataclass, not <class 'dict'>",
    ),
    "settings not frozen": (
        f"{IMPORTS}\n@dataclass\nclass S:\n    a: int = 1\n@hookimpl\ndef kgot_tools():\n    return [tool(settings=S)]",
        "the settings of the provider broken_tool must be a frozen dataclass",
    ),
    "settings without default": (
        f"{IMPORTS}\n@dataclass(frozen=True)\nclass S:\n    a: int\n"
        "@hookimpl\ndef kgot_tools():\n    return [tool(settings=S)]",
        "the settings of the provider broken_tool need a default for a",
    ),
    "endless": (
        f"{IMPORTS}\nimport itertools\n@hookimpl\n"
        "def kgot_tools():\n    return (tool(f'tool{i}') for i in itertools.count())",
        "kgot_tools gives more than 1000 providers",
    ),
}


@pytest.mark.parametrize("case", BROKEN)
def test_one_broken_plugin_stops_nothing_else(case: str, site: Path) -> None:
    source, message = BROKEN[case]
    install(site, "kgot-good", GOOD.format(name="good_tool"))
    install(site, "kgot-bad", source)
    registry = loaded()

    assert record(registry, "kgot-good").state == "ok"
    assert registry.get("tool", "good_tool").name == "good_tool"
    bad = record(registry, "kgot-bad")
    assert bad.state == "broken"
    assert message in bad.message
    assert "\n" not in bad.message
    assert not bad.providers
    assert not bad.hooks
    assert tools(registry) == tools(loaded(disabled=["kgot-bad"]))
    assert "half_store" not in [provider.name for _, provider in registry.all("backend")]
    assert bad in registry.failures


def test_a_trace_shows_the_plugins_own_lines_only(site: Path) -> None:
    install(site, "kgot-bad", "import helper_of_bad", files={"helper_of_bad.py": "1 / 0"})
    trace = record(loaded(), "kgot-bad").traceback
    assert "kgot_bad.py" in trace
    assert "helper_of_bad.py" in trace
    assert "ZeroDivisionError" in trace
    assert "importlib" not in trace
    assert "loading.py" not in trace


def test_an_interrupt_is_not_a_broken_plugin(site: Path) -> None:
    install(site, "kgot-bad", "raise KeyboardInterrupt")
    with pytest.raises(KeyboardInterrupt):
        loaded()


@pytest.mark.parametrize(
    ("requirement", "state"),
    [
        ("kgot-core>=0.1,<1", "ok"),
        ("kgot-core<0.1", "incompatible"),
        ("kgot_core[openai]>=2", "incompatible"),
        ("kgot-core>=9; python_version < '3'", "ok"),
        ("kgot-core>=9; extra == 'dev'", "ok"),
        ("kgot-core-tools>=9", "ok"),
        ("something not to be read ===", "ok"),
        ("kgot-core ~~ 3", "incompatible"),
    ],
)
def test_what_a_plugin_asks_of_the_core_is_checked_before_its_import(requirement: str, state: str, site: Path) -> None:
    install(site, "kgot-asks", GOOD.format(name="asks"), requires=["packaging>=1", requirement])
    found = record(loaded("0.1.0"), "kgot-asks")
    assert found.state == state
    assert ("kgot_asks" in sys.modules) == (state == "ok")
    if requirement == "kgot-core<0.1":
        assert found.message == "it needs kgot-core<0.1, and this is kgot-core 0.1.0"


def test_a_prerelease_of_the_core_meets_what_it_leads_to(site: Path) -> None:
    install(site, "kgot-asks", GOOD.format(name="asks"), requires=["kgot-core>=0.1"])
    assert record(loaded("0.2.0.dev1"), "kgot-asks").state == "ok"


@pytest.mark.parametrize("name", ["kgot-good", "KGOT_Good", "plugin"])
def test_a_disabled_plugin_is_not_imported(name: str, site: Path) -> None:
    install(site, "kgot-good", GOOD.format(name="good_tool"))
    registry = loaded(disabled=[name])
    assert record(registry, "kgot-good").state == "disabled"
    assert "kgot_good" not in sys.modules
    assert not registry.failures


def test_the_core_itself_cannot_be_disabled(site: Path) -> None:
    assert record(loaded(disabled=["kgot-core", "builtin"]), "kgot-core").state == "ok"


def test_discovery_imports_nothing(site: Path) -> None:
    install(site, "kgot-good", GOOD.format(name="good_tool"))
    (found,) = [found for found in PluginRegistry.discover() if found.distribution == "kgot-good"]
    assert (found.name, found.version, found.value) == ("plugin", "1.0", "kgot_good")
    assert "kgot_good" not in sys.modules


def test_a_package_seen_twice_on_the_import_path_loads_once(
    site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(site, "kgot-good", GOOD.format(name="good_tool"))
    (tmp_path / "lib64").symlink_to(site, target_is_directory=True)
    monkeypatch.syspath_prepend(str(tmp_path / "lib64"))
    registry = loaded()
    assert record(registry, "kgot-good").state == "ok"
    assert not registry.failures
    assert not registry.clashes()


def test_damaged_metadata_of_another_package_does_not_matter(site: Path) -> None:
    install(site, "kgot-good", GOOD.format(name="good_tool"))
    foreign = site / "foreign-1.0.dist-info"
    foreign.mkdir()
    (foreign / "entry_points.txt").write_text("no section = here\n[[[\n=", encoding="utf-8")
    (site / "left_over-1.0.dist-info").mkdir()
    assert record(loaded(), "kgot-good").state == "ok"


def test_two_packages_with_one_entry_point_name_are_both_loaded(site: Path) -> None:
    install(site, "kgot-one", GOOD.format(name="tool_one"), entry="mytool")
    install(site, "kgot-two", GOOD.format(name="tool_two"), entry="mytool")
    registry = loaded()
    assert {"tool_one", "tool_two"} <= set(tools(registry))
    assert not registry.failures


def test_one_module_named_by_two_packages_is_loaded_once(site: Path) -> None:
    install(site, "kgot-one", GOOD.format(name="tool_one"))
    install(site, "kgot-two", GOOD.format(name="tool_two"))
    (site / "kgot_two-1.0.dist-info" / "entry_points.txt").write_text("[kgot]\nplugin = kgot_one\n")
    registry = loaded()
    assert tools(registry).count("tool_one") == 1
    assert record(registry, "kgot-two").message == "its module kgot_one is the one that kgot-one brings"


def test_two_providers_of_one_name_are_listed_and_the_bare_name_is_refused(site: Path) -> None:
    install(site, "kgot-ink", backend("ink"))
    install(site, "other-ink", backend("ink"))
    registry = loaded()
    assert [package for package, provider in registry.all("backend") if provider.name == "ink"] == [
        "kgot-ink",
        "other-ink",
    ]
    with pytest.raises(PluginError) as refused:
        registry.get("backend", "ink")
    assert refused.value.message == "the backend ink is offered by kgot-ink and other-ink"
    assert refused.value.hint == "choose with kgot-ink:ink or other-ink:ink"
    first, second = registry.get("backend", "kgot-ink:ink"), registry.get("backend", "Other_INK:ink")
    assert first is not second
    assert registry.clashes() == [("backend", "ink", ["kgot-ink", "other-ink"])]


def test_a_built_in_provider_is_not_replaced_silently(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(site, "kgot-core-stand-in", GOOD.format(name="ask"))
    monkeypatch.setattr("kgot_core.plugins.registry.BUILTIN", "kgot_core_stand_in")
    (site / "kgot_core_stand_in-1.0.dist-info" / "entry_points.txt").write_text("")
    install(site, "kgot-eager", GOOD.format(name="ask"))
    registry = loaded()
    with pytest.raises(PluginError, match="the tool ask is offered by kgot-core and kgot-eager"):
        registry.get("tool", "ask")
    assert registry.get("tool", "kgot-core:ask") is record(registry, "kgot-core").providers[0]


def test_registries_do_not_know_of_each_other(site: Path) -> None:
    first = loaded()
    install(site, "kgot-late", GOOD.format(name="late"))
    second = loaded()
    assert "late" not in tools(first)
    assert "late" in tools(second)


def test_every_hook_has_its_class_of_provider() -> None:
    named = {name for name, value in vars(hookspecs).items() if name.startswith("kgot_") and inspect.isfunction(value)}
    assert named == set(HOOKS)


def missing(registry: PluginRegistry, kind: str, name: str) -> PluginError:
    with pytest.raises(PluginError) as refused:
        registry.get(kind, name)  # type: ignore[arg-type]
    return refused.value


@pytest.mark.parametrize(
    ("kind", "name", "package"),
    [
        ("backend", "neo4j", "kgot-neo4j"),
        ("backend", "rdf-remote", "kgot-rdf"),
        ("tool", "wikipedia", "kgot-tools-web"),
        ("tool", "inspect_image", "kgot-tools-media"),
        ("tool", "mcp", "kgot-tools-mcp"),
        ("scheduler", "mpi", "kgot-mpi"),
        ("scheduler", "ray", "kgot-ray"),
    ],
)
def test_a_missing_package_of_ours_is_named_with_its_commands(kind: str, name: str, package: str) -> None:
    error = missing(PluginRegistry("0.1.0"), kind, name)
    assert f"there is no {kind} {name}" in error.message
    assert f"{name} comes with {package}" in error.message
    for command in (
        f"pip install {package}",
        f"uv pip install {package}",
        f"uv tool install kgot-core --with {package}",
        f"pipx inject kgot-core {package}",
    ):
        assert command in error.hint


def test_an_extra_is_named_with_its_commands() -> None:
    assert "pip install 'kgot-core[openai]'" in extra_hint("openai")
    assert "pipx inject kgot-core langchain-ollama" in extra_hint("ollama")


def test_an_unknown_name_is_refused_with_what_there_is(site: Path) -> None:
    install(site, "kgot-paper", backend("paper"))
    registry = loaded()
    error = missing(registry, "backend", "papr")
    assert "there is no backend papr" in error.message
    assert "paper (kgot-paper)" in error.message
    assert error.hint == "did you mean paper?"
    assert missing(registry, "backend", "zzz").hint == ""
    without = PluginRegistry("0.1.0")
    assert "did you mean ray? It comes with kgot-ray: pip install" in missing(without, "scheduler", "rayy").hint
    assert "the package nobodys is not installed" in missing(registry, "backend", "nobodys:paper").message


@pytest.mark.parametrize("name", ["ray", "kgot-ray", "kgot-ray:ray"])
def test_a_broken_plugin_that_is_asked_for_is_explained(name: str, site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(site, "kgot-ray", "import not_there")
    for imported in [imported for imported in sys.modules if imported.partition(".")[0] == "kgot_ray"]:
        monkeypatch.delitem(sys.modules, imported)
    error = missing(loaded(), "scheduler", name)
    assert "plugin kgot-ray is broken: ModuleNotFoundError: No module named 'not_there'" in error.message
    assert error.hint == "kgot plugins show kgot-ray"


def test_a_disabled_plugin_that_is_asked_for_is_explained(site: Path) -> None:
    install(site, "kgot-ray", GOOD.format(name="ray_tool"))
    error = missing(loaded(disabled=["kgot-ray"]), "scheduler", "ray")
    assert "kgot-ray is disabled: by the setting plugins.disabled" in error.message


def test_the_default_backend(site: Path) -> None:
    registry = PluginRegistry("0.1.0")
    with pytest.raises(PluginError, match="networkx comes with kgot-networkx"):
        registry.default_backend()
    registry.load_extra(str(FIXTURES / "own_tool.py"))
    assert registry.default_backend().name == "paper"
    (site / "nx_store.py").write_text(backend("networkx"))
    registry.load_extra("nx_store")
    assert registry.default_backend().name == "networkx"


def test_a_file_of_the_users_own_is_loaded_without_packaging(tmp_path: Path) -> None:
    registry = PluginRegistry("0.1.0")
    found = registry.load_extra(str(FIXTURES / "own_tool.py"))
    assert (found.distribution, found.state) == ("own_tool", "ok")
    assert registry.get("tool", "own_tool:greet").settings().greeting == "hello"
    assert registry.load_extra(str(FIXTURES / "own_tool.py")) is found
    assert len(registry.records) == 1
    # Another file of the same name in another folder is another plugin.
    (tmp_path / "own_tool.py").write_text(GOOD.format(name="elsewhere"))
    registry.load_extra(str(tmp_path / "own_tool.py"))
    assert set(tools(registry)) == {"greet", "elsewhere"}


def test_a_module_of_the_users_own_is_loaded_without_packaging(site: Path) -> None:
    (site / "users_module.py").write_text(GOOD.format(name="users_tool"))
    registry = PluginRegistry("0.1.0")
    registry.load_extra("users_module")
    assert tools(registry) == ["users_tool"]


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("import not_there", "ModuleNotFoundError: No module named 'not_there'"),
        ("def broken(:", "SyntaxError"),
        ("raise SystemExit(1)", "SystemExit: 1"),
        ("x = 1", "it implements no hook"),
        (f"{IMPORTS}\n@hookimpl\ndef kgot_tools():\n    return [3]", "must give objects of ToolProvider, not int"),
    ],
)
def test_the_error_of_a_users_own_file_is_the_users(source: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(source)
    registry = PluginRegistry("0.1.0")
    with pytest.raises(PluginError) as refused:
        registry.load_extra(str(tmp_path / "own.py"))
    assert message in refused.value.message
    assert "own.py" in refused.value.message
    assert not registry.records
    assert not registry.all("tool")
    (tmp_path / "own.py").write_text(GOOD.format(name="mended"))
    registry.load_extra(str(tmp_path / "own.py"))
    assert tools(registry) == ["mended"]


def test_a_missing_file_or_module_of_the_users_own(tmp_path: Path) -> None:
    registry = PluginRegistry("0.1.0")
    with pytest.raises(PluginError, match="there is no file"):
        registry.load_extra(str(tmp_path / "none.py"))
    with pytest.raises(PluginError) as refused:
        registry.load_extra("none_such")
    assert refused.value.hint == "if it is a file, give its path: none_such.py"


def test_plugins_are_found_by_package_module_and_what_they_offer(site: Path) -> None:
    install(site, "kgot-paper", backend("paper"), entry="sheet")
    registry = loaded()
    for name in ("kgot-paper", "Kgot_Paper", "kgot_paper", "sheet", "paper", "kgot-paper:paper"):
        assert [found.distribution for found in registry.find(name)] == ["kgot-paper"], name
    assert registry.find("zzz") == []


def test_importing_the_registry_loads_no_driver() -> None:
    code = "import sys, kgot_core.plugins; print(*sys.modules)"
    root = str(Path(kgot_core.__file__).parents[1])
    shown = subprocess.run(
        [sys.executable, "-c", code], env={"PYTHONPATH": root}, capture_output=True, text=True, check=True
    )
    modules = {name.partition(".")[0] for name in shown.stdout.split()}
    assert not modules & {"langchain_core", "networkx", "pydantic", "httpx", "rich"}
