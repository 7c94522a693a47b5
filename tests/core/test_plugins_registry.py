"""Which plugins are loaded: discovery, requirements, packages and names that meet."""

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
from kgot_core.plugins import PluginRegistry
from kgot_core.plugins.collect import HOOKS

FIXTURES = Path(__file__).parents[1] / "fixtures" / "plugins"
_made = runpy.run_path(str(FIXTURES / "install.py"))
install, GOOD, backend = _made["install"], _made["GOOD"], _made["backend"]
site, loaded, record, tools = (_made[name] for name in ("site", "loaded", "record", "tools"))


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
