"""``kgot sandbox``: the image built and tried on a real engine, a run in it, and what is said where all is missing."""

from __future__ import annotations

import json
import runpy
from pathlib import Path
from typing import Any

import pytest

from kgot_core.testing.openai_server import OpenAIServer, Say
from kgot_core.testing.openai_wire import prompt_text

FIXTURES = Path(__file__).parents[1] / "fixtures" / "library"
command = runpy.run_path(str(FIXTURES / "command.py"))
kgot, settings_of = command["kgot"], command["settings_of"]
story = runpy.run_path(str(FIXTURES / "story.py"))
IMAGE = "kgot-sandbox-cli"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("KGOT_CONFIG_DIR", str(tmp_path / "config"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def of_docker(docker_settings: Any, image: str = IMAGE) -> list[str]:
    return ["--set", f"sandboxes.docker.host={docker_settings.host}", "--set", f"sandboxes.docker.image={image}"]


@pytest.mark.xdist_group("docker")
def test_image_is_built_from_the_host_saved_and_tried(docker_settings: Any, folder: Path) -> None:
    options = of_docker(docker_settings)
    packages = ["--package", "networkx", "--package", "not-installed-here"]
    built = kgot("sandbox", "build", "--from-host", *packages, "--archive", "image.tar", *options)
    assert built.exit_code == 0, built.output
    assert f"built {IMAGE}: Python 3." in built.stdout and "networkx 3." in built.stdout
    assert "not in the image: not-installed-here" in built.stderr
    assert (folder / "image.tar").stat().st_size > 10_000_000
    tried = kgot("sandbox", "check", "docker", "--json", *options)
    (found,) = json.loads(tried.stdout)
    assert tried.exit_code == 0 and found["works"], found
    assert "networkx" in found["about"] and "numpy" not in found["about"]
    assert len(found["tried"]) >= 12 and not any(one["fault"] for one in found["tried"])


@pytest.mark.xdist_group("docker")
def test_run_with_networkx_works_in_docker(docker_settings: Any) -> None:
    told = story["Story"]()

    def reply(payload: Any, index: int) -> Any:
        text = told.reply(prompt_text(payload))
        return Say("", [(told.tool, told.arguments)]) if text is None else text

    with OpenAIServer(reply, models=("scripted",)) as server:
        options = [*settings_of(server.url, sandbox="docker"), *of_docker(docker_settings, docker_settings.image)]
        done = kgot("run", story["QUESTION"], "--json", *options)
    answer = json.loads(done.stdout)
    assert (done.exit_code, answer["status"], answer["text"]) == (0, "answered", story["ANSWER"]), done.output
    assert {item["text"] for item in answer["evidence"]}
    events = [json.loads(line) for line in kgot("show", "last", "--events").stdout.splitlines()]
    assert events[0]["plan"]["sandbox"]["name"] == "docker"
    ran = [event["output"] for event in events if event["kind"] == "code_ran"]
    assert ran == ["Alderkop 700 m\nBirkfell 450 m\n", "difference: 250\n"]


def test_sandbox_that_a_run_would_take_is_tried_by_default() -> None:
    done = kgot("sandbox", "check", "--set", "sandbox=monty")
    assert done.exit_code == 0 and done.stdout.startswith("monty works\n"), done.output
    assert "a file of the host: denied" in done.stdout and "the time limit: holds" in done.stdout


def test_one_that_is_not_ready_is_named_with_the_next_step() -> None:
    done = kgot("sandbox", "check", "docker", "sarus", "--set", "sandboxes.docker.host=unix:///no/socket")
    assert done.exit_code == 1
    assert "docker is not ready: no Docker engine answers at unix:///no/socket" in done.stdout
    assert "sarus is not ready" in done.stdout and "apt install docker.io" in done.stdout


def test_every_sandbox_can_be_tried() -> None:
    done = kgot("sandbox", "check", "--all", "--json", "--set", "sandboxes.docker.host=unix:///no/socket")
    assert [one["name"] for one in json.loads(done.stdout)] == ["bwrap", "docker", "sarus", "monty"]


def test_unknown_names_and_contradictions_are_refused() -> None:
    assert kgot("sandbox", "check", "bwarp").exit_code != 0
    done = kgot("sandbox", "build", "--from-host", "--base", "python:3")
    assert done.exit_code != 0 and "--base" in done.stderr


def test_leaky_sandbox_is_found_out(folder: Path) -> None:
    (folder / "leaky.py").write_text(LEAKY)
    done = kgot("sandbox", "check", "leaky", "--plugin", "leaky.py")
    assert done.exit_code == 1 and "leaky does not work" in done.stdout
    for fault in ("FAULT  a file of the host: the script reached it", "FAULT  the environment: the script sees"):
        assert fault in done.stdout, done.output


# No jail at all: what runs is the script, in this very process; only what would not come back is left out.
LEAKY = """
import contextlib, io
from kgot_core.contracts.sandbox import CodeResult, Sandbox, SandboxSession
from kgot_core.hookspecs import hookimpl
from kgot_core.providers import SandboxProvider

class Session(SandboxSession):
    def run(self, job):
        if "while True" in job.code or "mount" in job.code:
            return CodeResult(error="left out", limit="time")
        printed = io.StringIO()
        lines = job.code.splitlines()
        with contextlib.redirect_stdout(printed), contextlib.suppress(Exception):
            exec(job.code)
        return CodeResult(output=printed.getvalue(), value="42" if lines[-1] == "6 * 7" else None)
    def cancel(self): pass
    def close(self): pass

class Leaky(Sandbox):
    name, python, about = "leaky", "full", "No jail at all: for a test of what is found out."
    def open(self, prelude, limits): return Session()

@hookimpl
def kgot_sandboxes():
    return [SandboxProvider(name="leaky", summary="x", open=lambda settings: Leaky())]
"""
