"""The packages as users get them: built, looked into, installed in a clean environment, and run from another folder."""

from __future__ import annotations

import contextlib
import json
import re
import runpy
import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.xdist_group("wheels")

ROOT = Path(__file__).parents[2]
STORY = runpy.run_path(str(ROOT / "tests/fixtures/library/story.py"))
PLUGINS = ("kgot_networkx", "kgot_neo4j", "kgot_rdf")
FOLDERS = {"kgot_core": ROOT, **{name: ROOT / "plugins" / name.replace("_", "-") for name in PLUGINS}}
CLIENTS = "kgot-core[openai,ollama,networkx]"
MOST_MEGABYTES = 220
AS_PIP_DOES = "--compile-bytecode"
UNREACHABLE = re.compile(r"dns error|connect|timed out|network", re.IGNORECASE)

every_package = pytest.mark.parametrize("module", FOLDERS)


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Builds a wheel and a source archive of each package."""
    folder = tmp_path_factory.mktemp("dist")
    for package in FOLDERS.values():
        build(package, folder)
    return folder


def build(package: Path, folder: Path, *options: str) -> None:
    command = [sys.executable, "-m", "hatchling", "build", "-d", str(folder), *options]
    subprocess.run(command, cwd=package, check=True, capture_output=True, timeout=120)


def in_wheel(dist: Path, module: str) -> dict[str, bytes]:
    (wheel,) = dist.glob(f"{module}-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def in_archive(dist: Path, module: str) -> set[str]:
    (archive,) = dist.glob(f"{module}-*.tar.gz")
    with tarfile.open(archive) as opened:
        return {name.partition("/")[2] for name in opened.getnames()}


def sources(module: str) -> set[str]:
    folder = FOLDERS[module]
    found = (path for path in (folder / module).rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return {path.relative_to(folder).as_posix() for path in found}


@every_package
def test_a_wheel_holds_the_package_and_nothing_else(module: str, dist: Path) -> None:
    inside = {name for name in in_wheel(dist, module) if ".dist-info/" not in name}
    assert inside == sources(module)
    assert f"{module}/py.typed" in inside


def test_what_is_not_python_is_in_the_wheels(dist: Path) -> None:
    core, networkx = in_wheel(dist, "kgot_core"), in_wheel(dist, "kgot_networkx")
    prompts = {f"kgot_core/prompts/{path.name}" for path in (ROOT / "kgot_core/prompts").glob("*.md")}
    assert len(prompts) > 15
    assert prompts | {"kgot_core/demo/summits.csv", "kgot_core/demo/replies.toml"} <= set(core)
    assert "kgot_networkx/dialect.md" in networkx
    # Read as text and run in the jail, where nothing is installed.
    assert {"kgot_core/sandboxes/jail/worker.py", "kgot_core/sandboxes/jail/lock.py"} <= set(core)
    assert {"kgot_networkx/jail/full.py", "kgot_networkx/jail/subset.py"} <= set(networkx)
    assert {"kgot_neo4j/dialect.md", "kgot_neo4j/compose.yaml"} <= set(in_wheel(dist, "kgot_neo4j"))


@every_package
def test_a_wheel_names_licence_entry_points_and_page(module: str, dist: Path) -> None:
    files = {name.partition(".dist-info/")[2]: text.decode() for name, text in in_wheel(dist, module).items()}
    metadata, points = files["METADATA"], files["entry_points.txt"]
    assert "License-Expression: MIT" in metadata
    assert "Requires-Python: >=3.11" in metadata
    assert "MIT License" in files["licenses/LICENSE"]
    assert metadata.partition("\n\n")[2].startswith("# kgot")
    assert ("[console_scripts]\nkgot = kgot_core.cli:main" if module == "kgot_core" else "[kgot]\n") in points


def test_source_archives_hold_what_is_needed_and_nothing_else(dist: Path) -> None:
    common = {"README.md", "LICENSE", "pyproject.toml", "PKG-INFO", ".gitignore"}
    assert in_archive(dist, "kgot_core") == sources("kgot_core") | common | {"CHANGELOG.md"}
    for module in PLUGINS:
        found = in_archive(dist, module)
        assert {name for name in found if not name.startswith("tests/")} == sources(module) | common
        assert not any("__pycache__" in name for name in found)


@every_package
def test_a_source_archive_gives_the_same_wheel(module: str, dist: Path, tmp_path: Path) -> None:
    (archive,) = dist.glob(f"{module}-*.tar.gz")
    shutil.unpack_archive(archive, tmp_path / "unpacked", filter="data")
    (folder,) = (tmp_path / "unpacked").iterdir()
    build(folder, tmp_path / "again", "-t", "wheel")
    ours, again = in_wheel(dist, module), in_wheel(tmp_path / "again", module)
    assert {name: text for name, text in again.items() if "RECORD" not in name} == {
        name: text for name, text in ours.items() if "RECORD" not in name
    }


class Installed:
    """A clean environment, used from a folder that has nothing to do with the checkout."""

    def __init__(self, folder: Path, dist: Path, wanted: Sequence[str], *options: str) -> None:
        self.environment = folder / "environment"
        self.elsewhere = folder / "elsewhere"
        self.elsewhere.mkdir()
        self._env = {"PATH": "/usr/bin:/bin", "HOME": str(self.elsewhere), "KGOT_CONFIG_DIR": str(folder / "config")}
        self._uv("venv", "--python", sys.executable, str(self.environment))
        self._uv("pip", "install", "--python", str(self.environment), "--find-links", str(dist), *options, *wanted)

    def _uv(self, *arguments: str) -> None:
        command = [sys.executable, "-m", "uv", "--quiet", *arguments]
        done = subprocess.run(command, cwd=self.elsewhere, capture_output=True, text=True, timeout=300)
        if done.returncode and UNREACHABLE.search(done.stderr):
            pytest.skip(f"needs PyPI, which cannot be reached: {done.stderr.strip()[-200:]}")
        assert done.returncode == 0, done.stderr

    def kgot(self, *arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
        command = [str(self.environment / "bin/kgot"), *arguments]
        return subprocess.run(
            command,
            cwd=self.elsewhere,
            env={**self._env, **env},
            capture_output=True,
            text=True,
            timeout=120,
            stdin=subprocess.DEVNULL,
        )

    def megabytes(self) -> float:
        """Gives the size on disk of the whole environment."""
        found = [path for path in self.environment.rglob("*") if path.is_file() and not path.is_symlink()]
        return sum(path.stat().st_blocks * 512 for path in found) / 1_000_000


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory, dist: Path) -> Installed:
    return Installed(tmp_path_factory.mktemp("installed"), dist, [CLIENTS], AS_PIP_DOES)


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory, dist: Path) -> Installed:
    return Installed(tmp_path_factory.mktemp("bare"), dist, ["kgot-core"], AS_PIP_DOES)


def test_the_demo_runs_from_another_folder(installed: Installed) -> None:
    done = installed.kgot("demo")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "answer: The highest summit in South America, Aconcagua, is 1066 metres higher" in done.stdout
    assert list(installed.elsewhere.iterdir()) == [], "the demo leaves nothing behind"


def test_the_plugin_is_found(installed: Installed) -> None:
    done = installed.kgot("plugins", "list", "--json")
    assert done.returncode == 0, done.stderr
    states = {plugin["distribution"]: plugin["state"] for plugin in json.loads(done.stdout)}
    assert states == {"kgot-core": "ok", "kgot-networkx": "ok"}


def test_the_prompts_are_found(installed: Installed) -> None:
    done = installed.kgot("run", "--model", "openai:any", "--set", "models.graph.base_url=http://127.0.0.1:9/v1",
                          "--set", "loop.max_llm_attempts=1", "What?")  # fmt: skip
    assert done.returncode == 1
    assert "http://127.0.0.1:9/v1" in done.stderr, "it came as far as the first request"


def test_the_installation_is_small(installed: Installed) -> None:
    size = installed.megabytes()
    assert size < MOST_MEGABYTES
    assert size > 20, "an empty environment is no installation"


def test_the_core_alone_names_the_packages_that_are_missing(bare: Installed) -> None:
    no_client = bare.kgot("run", "--model", "openai:any", "--set", "models.graph.base_url=http://127.0.0.1:9", "What?")
    assert no_client.returncode == 2
    demo = bare.kgot("demo")
    assert demo.returncode != 0
    assert "Traceback" not in demo.stderr + no_client.stderr
    for package, said in (("kgot-networkx", demo.stderr), ("kgot-networkx", no_client.stderr)):
        assert [word for word in ("pip install", "uv ", "pipx ", package) if word not in said] == []


@pytest.fixture
def servers(launcher: Any, or_skip: Any) -> Iterator[Mapping[str, Mapping[str, str]]]:
    """Gives the settings of each backend, with its real server started."""
    neo4j, sparql = launcher("neo4j_server"), launcher("sparql_servers")
    uri = or_skip(neo4j.NotHere, neo4j.shared)
    with neo4j.alone(), contextlib.ExitStack() as stack:
        server = or_skip(sparql.Missing, lambda: stack.enter_context(sparql.running("oxigraph")))
        yield {
            "neo4j": {"uri": uri, "password": neo4j.PASSWORD, "existing": "replace"},
            "rdf": {},
            "rdf-remote": {"query_url": server.query_url, "update_url": server.update_url},
        }


@pytest.mark.parametrize(
    ("package", "language", "backends"),
    [("kgot-neo4j", "cypher", ["neo4j"]), ("kgot-rdf", "sparql", ["rdf", "rdf-remote"])],
)
def test_a_run_on_a_store_of_its_own_package(
    package: str, language: str, backends: list[str], dist: Path, tmp_path: Path, servers: Any
) -> None:
    wheels = [str(next(dist.glob(f"{name.replace('-', '_')}-*.whl"))) for name in ("kgot-core", package)]
    clean = Installed(tmp_path, dist, [f"{wheels[0]}[openai]", wheels[1]])
    for backend in backends:
        # The password as a user would give it.
        secret = {f"KGOT_BACKENDS__{backend.upper()}__PASSWORD": servers[backend].pop("password", "")}
        story = STORY["knowing"](language)
        story.tool, story.arguments = "run_python_code", {"code": STORY["SCRIPT"]}
        with story.server() as model:
            told = {f"backends.{backend}.{name}": value for name, value in servers[backend].items()}
            told |= {"models.graph.base_url": model.url, "models.graph.api_key": "loopback"}
            options = [part for name, value in told.items() for part in ("--set", f"{name}={value}")]
            done = clean.kgot(
                "run", "--model", "openai:scripted", "--backend", backend, *options, STORY["QUESTION"],
                **{name: value for name, value in secret.items() if value},
            )  # fmt: skip
        assert (done.returncode, done.stdout) == (0, STORY["ANSWER"] + "\n"), done.stderr
