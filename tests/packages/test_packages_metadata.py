"""What every package of this repository says of itself."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

ROOT = Path(__file__).parents[2]
LISTED = re.findall(r"^-e (\S+)", (ROOT / "plugins/dev.txt").read_text("utf-8"), re.MULTILINE)
PLUGINS = [ROOT / folder for folder in LISTED if folder != "."]
PACKAGES = [ROOT, *PLUGINS]


def told(package: Path) -> dict[str, Any]:
    return tomllib.loads((package / "pyproject.toml").read_text("utf-8"))


def name_of(package: Path) -> str:
    return str(told(package)["project"]["name"])


def module_of(package: Path) -> Path:
    return package / name_of(package).replace("-", "_")


def requirements(package: Path) -> list[Requirement]:
    project = told(package)["project"]
    texts = [*project["dependencies"], *(text for extra in optional(package).values() for text in extra)]
    groups = told(package).get("dependency-groups", {}).values()
    return [Requirement(text) for text in (*texts, *(text for group in groups for text in group))]


def optional(package: Path) -> dict[str, list[str]]:
    found: dict[str, list[str]] = told(package)["project"].get("optional-dependencies", {})
    return found


def has_upper_bound(specifier: SpecifierSet) -> bool:
    return any(part.operator in ("<", "<=", "==", "~=") for part in specifier)


every_package = pytest.mark.parametrize("package", PACKAGES, ids=name_of)
every_plugin = pytest.mark.parametrize("package", PLUGINS, ids=name_of)


@every_package
def test_a_package_is_named_described_and_licensed(package: Path) -> None:
    project = told(package)["project"]
    expected = "kgot-core" if package == ROOT else package.name
    assert project["name"] == expected
    assert re.fullmatch(r"\d+\.\d+\.\d+", project["version"])
    assert len(project["description"]) > 20
    assert project["license"] == "MIT"
    assert project["license-files"] == ["LICENSE"]
    assert (package / "LICENSE").read_text("utf-8") == (ROOT / "LICENSE").read_text("utf-8")
    assert project["readme"] == "README.md"
    assert len((package / "README.md").read_text("utf-8").splitlines()) > 5, (
        "a README says what it is and how to use it"
    )


@every_package
def test_a_package_supports_every_python_since_3_11(package: Path) -> None:
    assert told(package)["project"]["requires-python"] == ">=3.11"


@every_package
def test_a_package_is_typed(package: Path) -> None:
    assert (module_of(package) / "py.typed").exists()
    assert "Typing :: Typed" in told(package)["project"]["classifiers"]
    assert module_of(package).name in told(ROOT)["tool"]["mypy"]["packages"]


@every_package
def test_requirements_have_both_bounds(package: Path) -> None:
    loose = [
        str(requirement)
        for requirement in requirements(package)
        if not any(part.operator in (">=", "==", "~=") for part in requirement.specifier)
        or not has_upper_bound(requirement.specifier)
    ]
    # An extra that only names other extras of its own package has no version to bound.
    assert [text for text in loose if not text.startswith("kgot-core[")] == []


@every_package
def test_a_package_is_built_by_hatchling_and_is_no_namespace(package: Path) -> None:
    assert told(package)["build-system"]["build-backend"] == "hatchling.build"
    folders = [path for path in module_of(package).rglob("*") if path.is_dir() and list(path.glob("*.py"))]
    assert [path for path in folders if not (path / "__init__.py").exists()] == []


@every_plugin
def test_a_plugin_is_found_by_the_one_group_in_a_light_module(package: Path) -> None:
    points = told(package)["project"]["entry-points"]
    assert list(points) == ["kgot"]
    assert set(points["kgot"].values()) == {f"{module_of(package).name}.plugin"}


@every_plugin
def test_a_plugin_names_the_core_that_it_was_made_for(package: Path) -> None:
    (core,) = [requirement for requirement in requirements(package) if requirement.name == "kgot-core"]
    assert core.specifier.contains(told(ROOT)["project"]["version"])


def test_a_checkout_installs_every_package() -> None:
    there = [file.parent.relative_to(ROOT).as_posix() for file in ROOT.glob("plugins/*/pyproject.toml")]
    assert sorted(LISTED) == sorted([".", *there]), "plugins/dev.txt has one line for each package"


@every_plugin
def test_what_a_plugin_imports_is_watched(package: Path) -> None:
    contracts = told(ROOT)["tool"]["importlinter"]["contracts"]
    plugins = [
        module for contract in contracts if contract["type"] == "forbidden" for module in contract["source_modules"]
    ]
    assert module_of(package).name in plugins, "a plugin imports the contracts only, which import-linter checks"


@every_plugin
def test_listing_a_plugin_imports_no_driver(package: Path) -> None:
    drivers = {requirement.name.replace("-", "_") for requirement in requirements(package)} - {"kgot_core"}
    code = (
        "import json, sys\n"
        f"sys.modules.update(dict.fromkeys({sorted(drivers)}))\n"
        f"import {module_of(package).name}.plugin as module\n"
        "hooks = [name for name in vars(module) if name.startswith('kgot_') and callable(getattr(module, name))]\n"
        "print(json.dumps([provider.summary for hook in hooks for provider in getattr(module, hook)()]))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    summaries = json.loads(done.stdout)
    assert summaries
    assert all(summary.endswith(".") for summary in summaries)


def test_the_core_has_the_extras_that_are_promised() -> None:
    extras = optional(ROOT)
    assert {"openai", "ollama", "networkx", "all"} <= set(extras)
    (everything,) = [Requirement(text) for text in extras["all"]]
    assert everything.name == "kgot-core"
    assert {"openai", "ollama", "networkx"} <= everything.extras < set(extras)
    assert told(ROOT)["project"]["scripts"] == {"kgot": "kgot_core.cli:main"}


def test_the_core_says_which_of_its_own_packages_brings_what() -> None:
    from kgot_core.plugins.known import is_ours

    assert [name_of(package) for package in PLUGINS if not is_ours(name_of(package))] == []


def test_the_changelog_has_an_entry_for_every_package() -> None:
    text = (ROOT / "CHANGELOG.md").read_text("utf-8")
    assert [name_of(package) for package in PACKAGES if f"`{name_of(package)}`" not in text] == []
