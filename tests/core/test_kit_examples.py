"""The example packages are installed from their wheels, beside the core's wheel, and pass their tests."""

from __future__ import annotations

import importlib
import os
import re
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from kgot_core.testing.backend_suite import BackendSuite
from kgot_core.testing.suite import SuiteChanged

ROOT = Path(__file__).parents[2]
EXAMPLES = ("kgot-sqlite", "kgot-colours")


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """A folder with the installed wheels of the core and of the examples."""
    folder = tmp_path_factory.mktemp("wheels")
    for source in (ROOT, *(ROOT / "examples" / name for name in EXAMPLES)):
        command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
        subprocess.run(command, cwd=source, check=True, capture_output=True, timeout=120)
    for wheel in folder.glob("*.whl"):
        shutil.unpack_archive(wheel, folder / "site", "zip")
    return folder / "site"


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_passes_from_its_wheel(site, tmp_path, name):
    module = name.replace("-", "_")
    shutil.copy(ROOT / "examples" / name / f"test_{module}.py", tmp_path)
    (tmp_path / "test_place.py").write_text(
        f"import kgot_core, {module}\ndef test_place():\n"
        f"    assert kgot_core.__file__.startswith({str(site)!r}) and {module}.__file__.startswith({str(site)!r})\n"
    )
    env = {"PATH": os.environ["PATH"], "PYTHONPATH": str(site), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "."]
    done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout
    listed = subprocess.run(
        [sys.executable, "-m", "kgot_core", "plugins", "list"], cwd=tmp_path, env=env, capture_output=True, text=True
    )
    line = next(line for line in listed.stdout.splitlines() if line.startswith(name))
    assert " ok " in line


def test_the_backend_example_is_short():
    text = (ROOT / "examples/kgot-sqlite/kgot_sqlite.py").read_text("utf-8")
    assert len([line for line in text.splitlines() if line.strip()]) < 100


def shown(title):
    page = (ROOT / "docs/writing-a-plugin.md").read_text("utf-8")
    (text,) = re.findall(rf'^```\w+ title="{re.escape(title)}"\n(.*?)^```$', page, re.MULTILINE | re.DOTALL)
    return text


@pytest.mark.parametrize("file", ["kgot_sqlite.py", "pyproject.toml", "test_kgot_sqlite.py"])
def test_the_page_shows_the_files_that_are_tested(file):
    assert shown(file) == (ROOT / "examples/kgot-sqlite" / file).read_text("utf-8")


def test_the_page_s_way_to_change_a_test_works(tmp_path):
    block = tmp_path / "block.py"
    block.write_text(shown("the reason is shown in every test run"))
    names = {"kgot_graph_backends": lambda: [None], "BackendSuite": BackendSuite}
    with pytest.warns(SuiteChanged, match="one row at most"):
        runpy.run_path(str(block), names)


def test_the_page_names_every_suite():
    page = (ROOT / "docs/writing-a-plugin.md").read_text("utf-8")
    for place in re.findall(r"`(kgot_core\.testing\.\w+\.\w+)`", page):
        module, _, name = place.rpartition(".")
        assert hasattr(importlib.import_module(module), name)
    suites = {path.stem for path in (ROOT / "kgot_core/testing").glob("*_suite.py")}
    assert {place for place in suites if f"kgot_core.testing.{place}." not in page} == set()
