"""What is said of a provider that is asked for and cannot be had, and what is taken where none is named."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

import pytest

from kgot_core.errors import PluginError
from kgot_core.plugins import PluginRegistry
from kgot_core.plugins.known import extra_hint

FIXTURES = Path(__file__).parents[1] / "fixtures" / "plugins"
_made = runpy.run_path(str(FIXTURES / "install.py"))
install, GOOD, backend = _made["install"], _made["GOOD"], _made["backend"]
site, loaded = _made["site"], _made["loaded"]


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
