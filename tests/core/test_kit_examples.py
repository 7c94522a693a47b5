"""The example packages are installed from their wheels, beside the core's wheel, and pass their tests."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

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
