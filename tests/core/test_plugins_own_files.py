"""Files and modules of the user's own that are loaded as plugins."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

from kgot_core.errors import PluginError
from kgot_core.plugins import PluginRegistry

FIXTURES = Path(__file__).parents[1] / "fixtures" / "plugins"
_made = runpy.run_path(str(FIXTURES / "install.py"))
GOOD, IMPORTS = _made["GOOD"], _made["IMPORTS"]
site, tools = _made["site"], _made["tools"]


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
