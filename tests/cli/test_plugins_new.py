"""``kgot plugins new`` writes packages that install and pass their suite; ``kgot plugins check`` runs it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from click.testing import CliRunner, Result

import kgot_core
from kgot_core.cli import main
from kgot_core.cli.new import KINDS

ROOT = Path(kgot_core.__file__).parents[1]
BROKEN = """
from kgot_core.hookspecs import hookimpl
from kgot_core.providers import ToolProvider
from langchain_core.tools import tool

@tool
def broken(text: str) -> str:
    "Does not work at all, ever. It has no example."
    raise ValueError("broken")

@hookimpl
def kgot_tools():
    return [ToolProvider(name="broken", summary="Broken.", create=lambda settings, context: [broken])]
"""


def invoke(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["plugins", *arguments])


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> SimpleNamespace:
    """A package of each kind, written by the command and installed in a folder of its own."""
    folder = tmp_path_factory.mktemp("made")
    names = {kind: f"kgot-my-{kind}" for kind in KINDS}
    for kind, name in names.items():
        done = invoke("new", name, "--kind", kind, "--folder", str(folder))
        assert done.exit_code == 0, done.output
        assert f"kgot plugins check {name}" in done.output
    uv = shutil.which("uv", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    if uv is None:
        pytest.fail("uv is missing: it comes with the development packages")
    site = folder / "site"
    command = [uv, "pip", "install", "--quiet", "--no-deps", "--no-build-isolation", "--offline"]
    command += ["--python", sys.executable, "--target", str(site)]
    subprocess.run([*command, *(str(folder / name) for name in names.values())], check=True, timeout=240)
    env = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": os.pathsep.join([str(site), str(ROOT)]),
        "KGOT_CONFIG_DIR": str(folder / "none"),
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
    }

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", *arguments]
        return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, timeout=240)

    return SimpleNamespace(folder=folder, names=names, run=run)


def test_all_kinds_are_found(made: SimpleNamespace) -> None:
    done = made.run("kgot_core", "plugins", "list", "--json")
    plugins = {plugin["distribution"]: plugin for plugin in json.loads(done.stdout)}
    for kind, name in made.names.items():
        assert (plugins[name]["state"], plugins[name]["message"]) == ("ok", "")
        assert [(offered["kind"], offered["name"]) for offered in plugins[name]["providers"]] == [(kind, f"my-{kind}")]


def test_all_kinds_pass_their_own_tests(made: SimpleNamespace) -> None:
    tests = [str(made.folder / name / "tests") for name in made.names.values()]
    done = made.run("pytest", "-q", "-p", "no:cacheprovider", "--import-mode=importlib", *tests)
    assert done.returncode == 0, done.stdout
    assert "failed" not in done.stdout and "skipped" not in done.stdout


def test_an_installed_one_is_checked(made: SimpleNamespace) -> None:
    done = made.run("kgot_core", "plugins", "check", "kgot-my-tool")
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    assert "7 passed" in done.stdout


def test_a_failing_one_says_what_to_check(made: SimpleNamespace) -> None:
    (made.folder / "broken.py").write_text(BROKEN, encoding="utf-8")
    done = made.run("kgot_core", "plugins", "check", "broken", "--plugin", "broken.py")
    assert done.returncode == 1
    assert "the description of broken needs an example of its arguments" in done.stdout


def test_files_hold_no_slot(made: SimpleNamespace) -> None:
    for name in made.names.values():
        written = [file for file in (made.folder / name).rglob("*") if file.suffix in (".py", ".toml", ".md")]
        assert len(written) == 6
        for file in written:
            text = file.read_text("utf-8")
            assert "{{" not in text and text.strip() and text.endswith("\n")
            if file.suffix == ".py":
                compile(text, str(file), "exec")


@pytest.mark.parametrize(
    "name",
    [
        "Orchard",
        "kgot_orchard",
        "orchard!",
        "",
        "-x",
        "../evil",
        "a" * 65,
        "json",
        "class",
        "kgot-core",
        "kgot-neo4j",
        "kgot-2",
    ],
)
def test_a_bad_name_is_refused(name: str, tmp_path: Path) -> None:
    done = invoke("new", "--kind", "tool", "--folder", str(tmp_path), "--", name)
    assert done.exit_code != 0 and name in done.output + name
    assert list(tmp_path.iterdir()) == []


def test_an_existing_folder_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "kgot-orchard").mkdir()
    (tmp_path / "kgot-orchard" / "mine.txt").write_text("mine")
    done = invoke("new", "kgot-orchard", "--kind", "tool", "--folder", str(tmp_path))
    assert done.exit_code != 0
    assert [file.name for file in (tmp_path / "kgot-orchard").iterdir()] == ["mine.txt"]


def test_an_unknown_kind_is_refused(tmp_path: Path) -> None:
    done = invoke("new", "kgot-orchard", "--kind", "sink", "--folder", str(tmp_path))
    assert done.exit_code == 2 and "backend" in done.output


def test_what_is_not_there_cannot_be_checked() -> None:
    assert "there is no plugin" in invoke("check", "no-such-plugin-here").output


def test_without_pytest_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pytest", None)
    done = invoke("check", "networkx")
    assert "kgot-core[testing]" in done.output
