"""``kgot status``: a batch while it runs, broken off, ended; its timeline; a single run."""

from __future__ import annotations

import json
import os
import runpy
import select
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from kgot_core.run.record.lease import take

FIXTURES = Path(__file__).parents[1] / "fixtures" / "library"
_command = runpy.run_path(str(FIXTURES / "command.py"))
kgot, program, environment = (_command[name] for name in ("kgot", "program", "environment"))
unix = pytest.mark.skipif(os.name == "nt", reason="these signals are those of Unix")

STUCK = """
import asyncio, os
from story import Story

async def extract(prompt):
    if "hills of stuck" in prompt and "STUCK" in os.environ:
        print("reached", flush=True)
        await asyncio.Event().wait()
    return Story().reply(prompt)

def model():
    return Story(extract=extract).model()
"""
SET = ["--model", "import:stuck:model", "--backend", "networkx", "--set", "sandbox=monty"]
TASKS = [
    {"id": name, "question": f"Which of the hills of {name} is higher?"} for name in ("a", "stuck-1", "stuck-2", "b")
]
TASKS[1]["level"] = TASKS[2]["level"] = "3"


@pytest.fixture
def stuck(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Iterator[Any]:
    """A batch of which two tasks hang and two wait, in a process of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KGOT_CONFIG_DIR", environment()["KGOT_CONFIG_DIR"])
    (tmp_path / "stuck.py").write_text(STUCK)
    (tmp_path / "tasks.jsonl").write_text("".join(json.dumps(task) + "\n" for task in TASKS))
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.syspath_prepend(str(FIXTURES))
    env = environment(STUCK="1")
    env["PYTHONPATH"] += os.pathsep + str(tmp_path)
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    if "terminal" in request.fixturenames:
        pipes["stderr"] = request.getfixturevalue("terminal")[1]
    process = program(["batch", "tasks.jsonl", "--out", "out", "--jobs", "2", *SET], tmp_path, env, **pipes)
    try:
        # What a terminal shows has to be read all the time; whoever does that waits for the tasks there.
        for _ in range(0 if "terminal" in request.fixturenames else 2):
            assert process.stdout.readline() == "reached\n", process.stderr and process.stderr.read()
        yield process
    finally:
        process.kill()
        process.communicate()


def state(*arguments: str) -> dict[str, Any]:
    done = kgot("status", "out", "--json", *arguments)
    assert done.exit_code == 0, done.stderr
    return dict(json.loads(done.stdout))


@unix
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGUSR1, signal.SIGINT])
def test_a_batch_that_runs_and_one_that_a_signal_ended(stuck: Any, number: int) -> None:
    found = state()
    assert (found["running"], found["tasks"], found["done"], found["waiting"]) == (True, 4, 0, 2)
    assert [rank["alive"] for rank in found["ranks"]] == [True]
    done = kgot("resume", "out")
    assert done.exit_code == 2 and "the batch in" in done.stderr and "is still running (process" in done.stderr
    stuck.send_signal(number)
    _, err = stuck.communicate(timeout=60)
    assert stuck.returncode == 75, err
    assert "to go on: kgot resume" in err
    found = state()
    assert (found["running"], found["done"], found["waiting"], found["failed"]) == (False, 0, 4, 0)
    assert "kgot resume out goes on with it" in kgot("status", "out").stdout
    assert kgot("resume", "out").exit_code == 0
    found = state()
    assert (found["running"], found["done"], found["waiting"]) == (False, 4, 0)
    assert found["statuses"] == {"answered": 4}
    requests = json.loads(Path("out/batch.json").read_text())["totals"]["usage"]["requests"]
    assert found["usage"]["requests"] == requests
    rows = [json.loads(line) for line in Path("out/results.jsonl").read_text().splitlines()]
    assert [row["task"] for row in rows] == ["a", "stuck-1", "stuck-2", "b"]


@pytest.fixture
def terminal() -> Iterator[tuple[int, int]]:
    """A terminal: the end that a person sees, and the end that a program has."""
    import pty

    ends = pty.openpty()
    yield ends
    for end in ends:
        os.close(end)


def seen(terminal: int, text: str) -> str:
    """Reads what a terminal shows until a text comes."""
    shown = b""
    while text.encode() not in shown:
        ready, _, _ = select.select([terminal], [], [], 60)
        assert ready, f"{text!r} does not come: {shown!r}"
        shown += os.read(terminal, 65536)
    return shown.decode(errors="replace")


@unix
def test_on_a_terminal_a_live_view_shows_what_runs(terminal: tuple[int, int], stuck: Any) -> None:
    shown = seen(terminal[0], "stuck-2 \u00b7")
    assert "4 tasks; kgot status" in shown
    assert "0 of 4 done \u00b7 2 running \u00b7 2 waiting" in shown
    stuck.send_signal(signal.SIGTERM)
    shown = seen(terminal[0], "to go on: kgot resume")
    assert "stuck-1 cancelled after" in shown and "\x1b[?25h" in shown, "the cursor is back"
    assert stuck.wait(timeout=60) == 75


@unix
def test_the_timeline_shows_every_task_and_what_was_broken_off(stuck: Any) -> None:
    stuck.kill()
    stuck.communicate(timeout=60)
    assert state()["running"] is False, "who was killed is known to be gone at once, on this machine"
    assert kgot("resume", "out").exit_code == 0
    assert kgot("status", "out", "--timeline", "out.svg").exit_code == 0
    drawing = ElementTree.fromstring(Path("out.svg").read_text())
    titles = sorted(str(title.text) for title in drawing.iter("{http://www.w3.org/2000/svg}title"))
    assert [title.partition(" after ")[0] for title in titles] == [
        "a: answered",
        "b: answered",
        "stuck-1: answered",
        "stuck-1: broken off",
        "stuck-2: answered",
        "stuck-2: broken off",
        "the batch went on here",
    ]


def test_what_is_no_batch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    done = kgot("status", "nowhere")
    assert done.exit_code == 2 and "there is no run 'nowhere'" in done.stderr
    (tmp_path / "out").mkdir()
    for text, said in (("{", "is damaged"), ('{"format": 99}', "a newer version")):
        (tmp_path / "out" / "batch.json").write_text(text)
        done = kgot("status", "out")
        assert done.exit_code == 2 and said in done.stderr
        done = kgot("resume", "out")
        assert done.exit_code == 2 and said in done.stderr


def test_a_single_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(FIXTURES))
    model = ["--model", "import:story:scripted", "--backend", "networkx", "--set", "sandbox=monty"]
    assert kgot("run", "Which hill is higher?", *model).exit_code == 0
    done = kgot("status", "last", "--json")
    shown = json.loads(done.stdout)
    assert (shown["status"], shown["nodes"]) == ("answered", 2) and shown["tokens"] > 0
    assert kgot("status", "last").stdout.startswith("answered · round ")
    assert kgot("status", "last", "--timeline", "x.svg").exit_code == 2


def test_a_lease_names_what_it_holds(tmp_path: Path) -> None:
    hold = take(tmp_path, what="batch")
    try:
        with pytest.raises(Exception, match=r"the batch in .* is still running"):
            take(tmp_path, what="batch")
        take(tmp_path, name="running.1.json", what="batch").release()
    finally:
        hold.release()
    assert list(tmp_path.iterdir()) == []
