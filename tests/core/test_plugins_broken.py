"""A plugin that fails: the others are there, and nothing of it stays half registered."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

FIXTURES = Path(__file__).parents[1] / "fixtures" / "plugins"
_made = runpy.run_path(str(FIXTURES / "install.py"))
install, GOOD, IMPORTS, backend = (_made[name] for name in ("install", "GOOD", "IMPORTS", "backend"))
site, loaded, record, tools = (_made[name] for name in ("site", "loaded", "record", "tools"))
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


def test_damaged_metadata_of_another_package_does_not_matter(site: Path) -> None:
    install(site, "kgot-good", GOOD.format(name="good_tool"))
    foreign = site / "foreign-1.0.dist-info"
    foreign.mkdir()
    (foreign / "entry_points.txt").write_text("no section = here\n[[[\n=", encoding="utf-8")
    (site / "left_over-1.0.dist-info").mkdir()
    assert record(loaded(), "kgot-good").state == "ok"
