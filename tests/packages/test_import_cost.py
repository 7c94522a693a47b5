"""What is loaded before anything is asked for: as little as can be."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from kgot_core.cli.table import COMMANDS

ROOT = Path(__file__).parents[2]
HEAVY = {"pluggy", "pydantic", "langchain_core", "langchain_openai", "langchain_ollama", "openai", "httpx", "rich"}
REPORT = "finally:\n    import sys\n    print('LOADED', *sys.modules, file=sys.stderr)"


def loaded(code: str, folder: Path) -> set[str]:
    """Runs code and gives the top-level modules that it loaded."""
    text = "try:\n" + "".join(f"    {line}\n" for line in code.splitlines()) + REPORT
    done = subprocess.run([sys.executable, "-c", text], cwd=folder, capture_output=True, text=True, timeout=60)
    return {name.partition(".")[0] for name in done.stderr.rpartition("LOADED ")[2].split()}


def drivers() -> set[str]:
    """Names what our plugins require, as modules."""
    folders = re.findall(r"^-e (plugins/\S+)", (ROOT / "plugins/dev.txt").read_text("utf-8"), re.MULTILINE)
    projects = [tomllib.loads((ROOT / folder / "pyproject.toml").read_text("utf-8"))["project"] for folder in folders]
    required = {
        re.split(r"[^\w-]", text)[0].replace("-", "_") for project in projects for text in project["dependencies"]
    }
    return required - {"kgot_core"}


def test_importing_the_library_costs_next_to_nothing(tmp_path: Path) -> None:
    found = loaded("import kgot_core", tmp_path)
    assert "kgot_core" in found
    assert not found & (HEAVY | {"asyncio", "json", "networkx", "dataclasses"})


def test_a_public_name_loads_what_it_needs_and_no_more(tmp_path: Path) -> None:
    assert not loaded("from kgot_core import Answer, KgotError, Task, UsageError", tmp_path) & HEAVY
    assert "langchain_openai" not in loaded("from kgot_core import open, solve, Session, hookimpl", tmp_path)


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_the_help_of_a_command_loads_no_plugin(name: str, tmp_path: Path) -> None:
    found = loaded(f"from kgot_core.cli import main\nmain([{name!r}, '--help'])", tmp_path)
    assert "kgot_core" in found
    assert not found & (HEAVY | drivers() | {"kgot_networkx"})


@pytest.mark.parametrize("arguments", [["plugins", "list"], ["plugins", "show", "kgot-networkx"]])
def test_listing_plugins_loads_their_modules_but_no_driver(arguments: list[str], tmp_path: Path) -> None:
    found = loaded(f"from kgot_core.cli import main\nmain({arguments})", tmp_path)
    assert "kgot_networkx" in found
    assert {"networkx"} <= drivers()
    assert not found & (drivers() | HEAVY - {"pluggy", "pydantic"})


def test_a_run_loads_no_driver_of_what_it_does_not_use(tmp_path: Path) -> None:
    story = ROOT / "tests" / "fixtures" / "library"
    given = ["--model", "import:story:scripted", "--backend", "networkx", "--set", "sandbox=monty", "--quiet"]
    arguments = ["run", "By how many metres is the higher of the two hills above the lower one?", *given]
    code = f"import sys\nsys.path.insert(0, {str(story)!r})\nfrom kgot_core.cli import main\nmain({arguments})"
    found = loaded(code, tmp_path)
    assert {"langchain_core", "kgot_tools_mcp", "kgot_tools_web"} <= found
    unused = {"mcp", "mcp_types", "mpi4py", "neo4j", "pyoxigraph", "ray", "rdflib"}
    unused |= {"faster_whisper", "openai", "playwright", "pypdfium2", "rapidocr", "docker"}
    assert not found & unused
