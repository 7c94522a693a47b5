"""``kgot resume``, and what ``run``, ``runs`` and ``show`` say of a run that was broken off."""

from __future__ import annotations

import json
import os
import runpy
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kgot_core.run.record.folder import read_records
from kgot_core.run.record.lease import NAME, take
from kgot_core.testing.openai_server import OpenAIServer

FIXTURES = Path(__file__).parents[1] / "fixtures" / "library"
_story, _command = runpy.run_path(str(FIXTURES / "story.py")), runpy.run_path(str(FIXTURES / "command.py"))
cut_off = runpy.run_path(str(FIXTURES / "breaking.py"))["cut_off"]
Story, QUESTION, ANSWER = (_story[name] for name in ("Story", "QUESTION", "ANSWER"))
kgot, program, environment, move_into = (_command[name] for name in ("kgot", "program", "environment", "move_into"))

STUCK = """
import asyncio, os, time
from story import Story

async def extract(prompt):
    if "STUCK" not in os.environ:
        return Story().reply(prompt)
    print("reached", flush=True)
    try:
        await asyncio.Event().wait()
    except asyncio.CancelledError:
        print("told", flush=True)
        while os.environ["STUCK"] == "deaf":
            time.sleep(1)
        raise

def model():
    return Story(extract=extract).model()
"""
MODEL = ["--model", "import:stuck:model", "--backend", "networkx", "--set", "sandbox=monty"]
unix = pytest.mark.skipif(os.name == "nt", reason="these signals are those of Unix")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return move_into(tmp_path, monkeypatch, "stuck", STUCK)  # type: ignore[no-any-return]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The folder of a whole run of the command line."""
    place = tmp_path_factory.mktemp("whole")
    (place / "stuck.py").write_text(STUCK)
    (place / "hills.csv").write_text("Alderkop,700\n")
    env = environment()
    env["PYTHONPATH"] += os.pathsep + str(place)
    process = program(["run", QUESTION, "--quiet", "--file", "hills.csv", *MODEL], place, env, stdout=subprocess.PIPE)
    out, _ = process.communicate(timeout=60)
    assert (process.returncode, out) == (0, f"{ANSWER}\n")
    [run] = (place / "runs").iterdir()
    yield run


@pytest.fixture
def broken(whole: Path, folder: Path) -> Path:
    """A run that was broken off, in the folder for runs."""
    cut_off(whole, folder / "runs" / whole.name, 14)
    return folder / "runs" / whole.name


def start(folder: Path, stuck: str, *arguments: str) -> Any:
    """Runs the task until the model is stuck."""
    env = environment(STUCK=stuck)
    env["PYTHONPATH"] += os.pathsep + str(folder)
    process = program(
        ["run", QUESTION, *arguments, *MODEL], folder, env, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout.readline() == "reached\n"
    return process


@unix
@pytest.mark.parametrize("name", ["SIGINT", "SIGUSR1"])
def test_a_signal_ends_the_run_cleanly_and_says_how_to_go_on(name: str, folder: Path) -> None:
    process = start(folder, "yes", "--quiet")
    try:
        process.send_signal(getattr(signal, name))
        out, err = process.communicate(timeout=20)
    finally:
        process.kill()
    [run] = (folder / "runs").iterdir()
    assert (process.returncode, out) == (75, "told\n"), err
    assert err.splitlines() == [
        "kgot: interrupted; the run comes to its end (once more: at once)",
        "kgot: The run was cancelled",
        f"      to go on with it: kgot resume runs/{run.name}",
    ]
    assert not (run / NAME).exists() and list(read_records(run))[-1]["answer"]["status"] == "cancelled"
    assert kgot("runs").stdout.split()[1] == "interrupted"
    assert kgot("show", "last").stdout.endswith(f"kgot resume {run.name} goes on with it\n")
    done = kgot("resume", f"runs/{run.name}", "--quiet")
    assert (done.exit_code, done.stdout) == (0, f"{ANSWER}\n"), done.stderr
    assert kgot("runs").stdout.split()[1] == "answered"


@unix
def test_a_second_signal_ends_it_at_once_and_it_goes_on_all_the_same(folder: Path) -> None:
    process = start(folder, "deaf", "--quiet")
    try:
        process.send_signal(signal.SIGINT)
        assert process.stdout.readline() == "told\n"
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=20)
    finally:
        process.kill()
    assert process.returncode == 75
    [run] = (folder / "runs").iterdir()
    assert (run / NAME).exists() and list(read_records(run))[-1]["kind"] != "run_finished"
    done = kgot("resume", "last")
    assert (done.exit_code, done.stdout) == (0, f"{ANSWER}\n"), done.stderr


def test_it_goes_on_with_the_settings_it_began_with(broken: Path, folder: Path) -> None:
    before = len(list(read_records(broken)))
    done = kgot("resume", "last", "--json")
    assert done.exit_code == 0, done.stderr
    assert json.loads(done.stdout) == json.loads((broken / "answer.json").read_text())
    lines = done.stderr.splitlines()
    assert lines[:2] == [f"question: {QUESTION}", "file: hills.csv"]
    assert lines[2].startswith(f"going on after {before} events: round 1 of 7")
    assert lines[3] == "the run goes on" and lines[-1] == f"kept in {broken}"
    assert "round 1 of 7" not in lines
    equal = kgot("replay", "last")
    assert equal.exit_code == 0 and equal.stdout.startswith("equal: "), equal.output


def test_a_finished_run_shows_its_answer_once_more(whole: Path, folder: Path) -> None:
    shutil.copytree(whole, folder / "runs" / whole.name)
    before = (folder / "runs" / whole.name / "events.jsonl").read_bytes()
    done = kgot("resume", "last")
    assert (done.exit_code, done.stdout) == (0, f"{ANSWER}\n")
    assert done.stderr == (
        f"kgot: the run {whole.name} is at its end, so there is nothing to go on with; this is its answer\n"
    )
    assert (folder / "runs" / whole.name / "events.jsonl").read_bytes() == before


def test_a_run_that_is_still_running_is_refused(broken: Path) -> None:
    held = take(broken)
    try:
        assert kgot("runs").stdout.split()[1] == "running"
        done = kgot("resume", "last")
    finally:
        held.release()
    assert done.exit_code == 2 and "is still running (process" in done.stderr


@pytest.mark.parametrize(
    ("change", "line"),
    [
        (["--set", "loop.max_iterations=3"], "the setting loop.max_iterations (7 then, 3 now)"),
        (
            ["--set", "models.graph=import:stuck.model"],
            "the model of graph (import:stuck:model then, import:stuck.model",
        ),
        (["--set", "backend=rdf"], "the backend (networkx then, rdf now)"),
    ],
)
def test_what_has_changed_is_named(change: list[str], line: str, broken: Path) -> None:
    done = kgot("resume", "last", *change)
    assert done.exit_code == 2 and line in done.stderr and "--force" in done.stderr, done.stderr


def test_a_variable_or_file_that_says_something_else_now_is_a_change(
    broken: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KGOT_VOTES__TEMPERATURE", "0.1")
    done = kgot("resume", "last")
    assert done.exit_code == 2 and "the setting votes.temperature (0.7 then, 0.1 now)" in done.stderr
    assert kgot("resume", "last", "--force", "--quiet").stdout == f"{ANSWER}\n"


def test_what_was_given_when_it_began_stands_above_files_and_variables(
    broken: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KGOT_MODELS__GRAPH__MODEL", "openai:another")
    monkeypatch.setenv("KGOT_MODELS__GRAPH__BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("KGOT_RUNS_DIR", str(broken.parent))
    done = kgot("resume", "last", "--quiet")
    assert (done.exit_code, done.stdout) == (0, f"{ANSWER}\n"), done.stderr


def test_an_attachment_that_was_moved(broken: Path, folder: Path, whole: Path) -> None:
    table = whole.parents[1] / "hills.csv"
    table.rename(folder / "hills.csv")
    try:
        done = kgot("resume", "last", "--quiet")
        assert done.exit_code == 2 and "the attachment hills.csv is not at" in done.stderr
        done = kgot("resume", "last", "--quiet", "--file", "hills.csv")
        assert (done.exit_code, done.stdout) == (0, f"{ANSWER}\n"), done.stderr
    finally:
        (folder / "hills.csv").rename(table)


def test_a_key_that_was_typed_is_asked_for_and_taken_from_the_environment(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from kgot_core.testing.openai_server import HttpError

    key, story = "sk-typed-0123456789", Story(compute="NO")
    with story.server() as server:
        script, server.script = server.script, lambda payload, index: HttpError(500, "out of order")
        sets = {
            "models.graph.base_url": server.url,
            "models.graph.api_key": key,
            "sandbox": "monty",
            "loop.max_llm_attempts": "1",
        }
        given = [part for name, value in sets.items() for part in ("--set", f"{name}={value}")]
        done = kgot("run", QUESTION, "--quiet", "--model", "openai:scripted", "--backend", "networkx", *given)
        [run] = (folder / "runs").iterdir()
        assert done.exit_code == 1 and f"kgot resume runs/{run.name}" in done.stderr, done.stderr
        assert kgot("runs").stdout.split()[1] == "failed"
        server.script = script
        done = kgot("resume", "last")
        assert done.exit_code == 2 and "KGOT_MODELS__GRAPH__API_KEY" in done.stderr, done.stderr
        monkeypatch.setenv("KGOT_MODELS__GRAPH__API_KEY", "sk-other-0123456789")
        done = kgot("resume", "last", "--quiet")
        assert (done.exit_code, done.stdout) == (0, f"{ANSWER}\n"), done.stderr
        assert server.seen[-1].authorization == "Bearer sk-other-0123456789"
    assert all(b"0123456789" not in path.read_bytes() for path in run.iterdir() if path.is_file())


def test_nothing_to_go_on_with(folder: Path) -> None:
    done = kgot("resume", "last")
    assert done.exit_code == 2 and "there is no run 'last'" in done.stderr


def test_a_run_of_somebody_elses_sends_no_key_to_the_server_that_it_names(
    broken: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-mine-ABC123DEF456")
    with OpenAIServer("never asked", key="sk-mine-ABC123DEF456") as server:
        events = broken / "events.jsonl"
        first, rest = events.read_text().split("\n", 1)
        record = json.loads(first)
        values = record["plan"]["settings"]["values"]
        values["models.graph.model"], values["models.graph.base_url"] = "openai:any", server.url
        values["models.graph.api_key"] = {"@secret": {"env": "OPENAI_API_KEY"}}
        events.write_text(json.dumps(record) + "\n" + rest)
        for options in ((), ("--force",)):
            done = kgot("resume", str(broken), *options)
            assert done.exit_code == 2 and "models.graph.base_url" in done.stderr and "--set" in done.stderr
        assert not server.seen


def test_a_run_from_elsewhere_goes_on_with_what_is_set_here(
    broken: Path, monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    monkeypatch.setenv("KGOT_CONFIG_DIR", str(folder / "another"))
    refused = kgot("resume", str(broken), "--quiet")
    assert refused.exit_code == 2 and "models.graph.model, sandbox" in refused.stderr
    done = kgot(
        "resume", str(broken), "--quiet", "--set", "models.graph.model=import:stuck:model", "--set", "sandbox=monty"
    )
    assert (done.exit_code, done.stdout) == (0, f"{ANSWER}\n"), done.stderr
