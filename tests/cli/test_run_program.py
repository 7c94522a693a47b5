"""``kgot run`` as a program of its own: interrupts, keys, and what it shows on a terminal."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import re
import runpy
import signal
import subprocess
import threading
from pathlib import Path
from typing import Any

import pytest

FIXTURES = Path(__file__).parents[1] / "fixtures" / "library"
_story, _command = runpy.run_path(str(FIXTURES / "story.py")), runpy.run_path(str(FIXTURES / "command.py"))
Story, QUESTION, ANSWER = _story["Story"], _story["QUESTION"], _story["ANSWER"]
_serving = runpy.run_path(str(FIXTURES / "serving.py"))
Server, serving, server = _serving["Server"], _serving["serving"], _serving["server"]
folder, only_run = _serving["folder"], _serving["only_run"]
kgot, settings_of, program, environment = (_command[name] for name in ("kgot", "settings_of", "program", "environment"))


def hanging(server: Server, stage: str) -> threading.Event:
    """Lets the server hang at a stage, and gives what tells that it does."""
    from kgot_core.testing.openai_server import Hang

    reached = threading.Event()

    def hang(prompt: str) -> Any:
        reached.set()
        return Hang()

    server.tell(Story(**{stage: hang}, compute="NO") if stage != "compute" else Story(compute=hang))
    return reached


@pytest.mark.skipif(os.name == "nt", reason="these signals are those of Unix")
@pytest.mark.parametrize(("number", "arguments"), [(signal.SIGINT, []), (signal.SIGTERM, ["--json"])])
def test_an_interrupt_ends_the_run_cleanly(
    number: signal.Signals, arguments: list[str], server: Server, folder: Path
) -> None:
    reached = hanging(server, "extract")
    options = settings_of(server.url, sandbox="auto")
    process = program(["run", QUESTION, *arguments, *options], folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        assert reached.wait(60)
        process.send_signal(number)
        out, err = process.communicate(timeout=20)
    finally:
        process.kill()
    assert process.returncode == 75, err
    assert "Traceback" not in err
    records = only_run(folder / "runs")
    assert records[-1]["kind"] == "run_finished" and records[-1]["answer"]["status"] == "cancelled"
    assert "tool_called" in [record["kind"] for record in records]
    if arguments:
        assert json.loads(out) == records[-1]["answer"]
    else:
        assert out == "" and "kgot: The run was cancelled" in err


BLOCKING = """
import threading

from langchain_core.language_models import BaseChatModel

class Blocking(BaseChatModel):
    @property
    def _llm_type(self):
        return "blocking"

    def _generate(self, messages, stop=None, run_manager=None, **more):
        print("asked\\n", end="", flush=True)  # in one piece: several threads write
        threading.Event().wait(120)
"""


@pytest.mark.skipif(os.name == "nt", reason="this signal is that of Unix")
def test_an_interrupt_does_not_wait_for_a_model_that_only_blocks(folder: Path) -> None:
    (folder / "blocking.py").write_text(BLOCKING)
    env = environment()
    env["PYTHONPATH"] += os.pathsep + str(folder)
    arguments = ["run", QUESTION, "--quiet", "--model", "import:blocking.Blocking", "--set", "sandbox=monty"]
    process = program(arguments, folder, env, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        assert process.stdout.readline() == "asked\n"
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=20)
    finally:
        process.kill()
    assert process.returncode == 75 and set(out.split()) <= {"asked"}, err
    assert only_run(folder / "runs")[-1]["answer"]["status"] == "cancelled"


@pytest.mark.parametrize("way", ["--set", "variable", "usual variable"])
def test_a_key_is_nowhere(way: str, server: Server, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    key = "sk-test-ABC123DEF456"
    told = f"print('Alderkop {key}')\nraise ValueError('{key}')"
    server.tell(Story(arguments={"code": told}, repair_code=f"```python\n{told}\n```", compute="NO"))
    options = settings_of(server.url, **({"models.graph.api_key": key} if way == "--set" else {}))
    if way != "--set":
        place = options.index("models.graph.api_key=loopback")
        del options[place - 1 : place + 1]
        name = "OPENAI_API_KEY" if way == "usual variable" else "KGOT_MODELS__GRAPH__API_KEY"
        monkeypatch.setenv(name, key)
    monkeypatch.setenv("KGOT_DEBUG", "1")
    done = kgot("run", QUESTION, "--json", *options)
    assert server.server.seen[-1].authorization == f"Bearer {key}"
    shown = (
        kgot("show", "last").output
        + kgot("show", "last", "--events").output
        + kgot("config", "show", *options[2:]).output
    )
    assert "[secret]" in shown and "ABC123DEF456" not in done.output + shown
    for path in (folder / "runs").rglob("*"):
        assert path.is_dir() or b"ABC123DEF456" not in path.read_bytes(), path


@pytest.mark.skipif(os.name == "nt", reason="there is no pseudo-terminal")
def test_on_a_terminal_the_progress_is_live(server: Server, folder: Path) -> None:
    ours, theirs = pty.openpty()
    process = program(
        ["run", QUESTION, *settings_of(server.url)],
        folder,
        environment(TERM="xterm-256color", COLUMNS="120", LINES="40"),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=theirs,
    )
    os.close(theirs)
    shown = b""
    with contextlib.suppress(OSError):  # the other end was closed
        while part := os.read(ours, 4096):
            shown += part
    out, _ = process.communicate(timeout=20)
    os.close(ours)
    text = shown.decode()
    assert (process.returncode, out) == (0, f"{ANSWER}\n")
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text)
    assert re.search(r"round 1 of 7 · [\w ]+ · \d+ nodes, \d+ edges · [\d,]+ tokens · cost unknown", plain)
    assert "running run_python_code" in plain
    assert "\x1b[2K" in text  # the status line is drawn anew
    assert "answered by voted query: 1 round, " in plain


def test_an_answer_that_the_terminal_cannot_write_is_no_fault(server: Server, folder: Path) -> None:
    server.tell(Story(parse="VALUE: x\nHuascarán → 6768 m", compute="NO"))
    env = environment(PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    process = program(
        ["run", QUESTION, *settings_of(server.url)], folder, env, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0 and "Traceback" not in err, err
    assert out.startswith("Huascar") and "6768 m" in out
