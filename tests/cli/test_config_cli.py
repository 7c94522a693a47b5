"""``kgot config``: what is set, where it comes from, and what a foreign file must not do before it is trusted."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from kgot_core.cli import main

KEY = "planted-secret-value"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project folder to work in, with a config folder beside it."""
    project = tmp_path / "project"
    project.mkdir()
    monkeypatch.chdir(project)
    monkeypatch.setenv("KGOT_CONFIG_DIR", str(tmp_path / "config"))
    return project


def kgot(*arguments: str) -> Result:
    return CliRunner().invoke(main, arguments)


def shown(*arguments: str) -> dict[str, dict[str, object]]:
    done = kgot("config", "show", "--json", *arguments)
    assert done.exit_code == 0, done.stderr
    return {item["key"]: item for item in json.loads(done.stdout)}


def test_each_value_with_its_origin(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "kgot.toml").write_text("graph.rows = 5\nmodels.graph = 'openai:x'")
    (folder / "deep").mkdir()
    monkeypatch.chdir(folder / "deep")
    monkeypatch.setenv("KGOT_LOOP__MAX_ITERATIONS", "3")
    found = shown("--set", "backend=a,b")
    file = str(folder / "kgot.toml")
    assert found["graph.rows"] == {"key": "graph.rows", "value": 5, "origin": file, "secret": False}
    assert found["models.graph.model"]["origin"] == file
    assert (found["loop.max_iterations"]["value"], found["loop.max_iterations"]["origin"]) == (
        3,
        "KGOT_LOOP__MAX_ITERATIONS",
    )
    assert (found["backend"]["value"], found["backend"]["origin"]) == (["a", "b"], "--set")
    assert found["voter"]["origin"] == "default"
    lines = [line.split() for line in kgot("config", "show").stdout.splitlines()]
    assert ["graph.rows", "5", file] in lines


def test_secrets_are_masked(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KGOT_MODELS__GRAPH__API_KEY", KEY)
    monkeypatch.setenv("KGOT_TOOLS__SEARCH_WEB__API_KEY", KEY)
    for arguments in (["config", "show"], ["config", "show", "--json"]):
        done = kgot(*arguments, "--set", f"backends.neo4j.password={KEY}")
        assert done.exit_code == 0
        assert KEY not in done.output
    found = shown()
    assert found["models.graph.api_key"]["secret"] is True
    assert found["tools.search_web.api_key"]["origin"] == "KGOT_TOOLS__SEARCH_WEB__API_KEY"


@pytest.mark.parametrize(
    ("arguments", "lines"),
    [
        (["--set", "loop.max_iteration=1"], ["there is no setting loop.max_iteration ", "did you mean loop.max_"]),
        (["--set", "loop.max_iterations=-1"], ["loop.max_iterations must be a whole number, at least 0, not '-1'"]),
        (["--set", "loop.max_iterations"], ["--set loop.max_iterations has no value", "--set KEY=VALUE"]),
    ],
)
def test_a_wrong_setting_is_one_clear_line(arguments: list[str], lines: list[str], folder: Path) -> None:
    done = kgot("config", "show", *arguments)
    assert done.exit_code == 2
    assert done.stdout == ""
    said = done.stderr.splitlines()
    assert said[0].startswith("kgot: ")
    assert len(said) == len(lines)
    for line, expected in zip(said, lines, strict=True):
        assert expected in line


def test_trust_opens_a_file_until_it_changes(folder: Path) -> None:
    file = folder / "kgot.toml"
    file.write_text("# mine\n[models.graph]\nmodel = 'openai:x'\nbase_url = 'http://127.0.0.1:1'\n")
    refused = kgot("config", "show")
    assert refused.exit_code == 2
    assert f"{file} may not set line 4: models.graph.base_url, because it is not trusted" in refused.stderr
    assert f"kgot config trust {file}" in refused.stderr

    done = kgot("config", "trust")
    assert done.exit_code == 0
    assert done.stdout.splitlines() == [f"{file} is trusted until it changes", "  line 4: models.graph.base_url"]
    assert shown()["models.graph.base_url"]["value"] == "http://127.0.0.1:1"

    file.write_text(file.read_text() + "sandbox = 'none'")
    assert kgot("config", "show").exit_code == 2
    file.write_text("[models.graph]\nbase_url = 'http://evil'")
    assert "because it has changed since it was trusted" in kgot("config", "show").stderr


def test_trust_takes_a_file_or_a_folder(folder: Path) -> None:
    other = folder / "other"
    other.mkdir()
    (other / "kgot.toml").write_text("voter = 'majority'")
    for path in (other, other / "kgot.toml"):
        done = kgot("config", "trust", str(path))
        assert done.exit_code == 0
        assert "it sets nothing that needed it" in done.stdout


@pytest.mark.parametrize("path", [[], ["none.toml"], ["."]])
def test_trust_of_no_file_is_one_clear_line(path: list[str], folder: Path) -> None:
    done = kgot("config", "trust", *path)
    assert done.exit_code == 2
    assert len(done.stderr.splitlines()) == 1


def test_trusting_loads_no_plugin_of_the_file(folder: Path) -> None:
    (folder / "evil.py").write_text("raise SystemExit('was loaded')")
    (folder / "kgot.toml").write_text("plugins.load = ['evil.py']")
    assert kgot("config", "trust").exit_code == 0
    assert "was loaded" in kgot("plugins", "list").stderr


def test_a_config_folder_that_cannot_be_written(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "kgot.toml").write_text("sandbox = 'x'")
    (folder / "occupied").write_text("")
    monkeypatch.setenv("KGOT_CONFIG_DIR", str(folder / "occupied"))
    done = kgot("config", "trust")
    assert done.exit_code == 2
    assert "cannot be written" in done.stderr
