"""``kgot_core.solve`` in a script, twice in a row, under a running loop, after a fork; what it leaves alone."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import os
import runpy
import shutil
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import kgot_core
from kgot_core.errors import UsageError
from kgot_core.run.record.folder import read_records

FIXTURES = Path(__file__).parents[1] / "fixtures" / "library"
_story = runpy.run_path(str(FIXTURES / "story.py"))
Story, quick, heights = _story["Story"], _story["quick"], _story["heights"]
QUESTION, ANSWER, NO_CONFIG = _story["QUESTION"], _story["ANSWER"], _story["NO_CONFIG"]


def solved(story: Any = None, **options: Any) -> Any:
    given: dict[str, Any] = {"runs": None, "env": NO_CONFIG, "tools": [heights]}
    settings = {"backend": "networkx", "sandbox": "monty", **options.pop("settings", {})}
    models = {"graph": (story or quick()).model()}
    return kgot_core.solve(QUESTION, settings=settings, models=models, **{**given, **options})


SCRIPT = """
import logging, os, signal, sys, threading
sys.path.insert(0, {fixtures!r})
import kgot_core
from story import ANSWER, NO_CONFIG, QUESTION, Story
assert not [name for name in sys.modules if name.startswith(("langchain", "networkx", "pydantic"))]

def state():
    import langchain_core.globals as lc
    handlers = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGALRM, signal.SIGCHLD)]
    root = logging.getLogger()
    return (handlers, dict(os.environ), os.getcwd(), root.level, list(root.handlers), logging.getLevelName("INFO"),
            lc.get_debug(), lc.get_verbose(), lc.get_llm_cache(), sys.excepthook, threading.excepthook,
            sys.getrecursionlimit(), os.umask(os.umask(0o022)), sys.stdout, sys.stderr)

import langchain_core.globals, langchain_core.tools
before = state()
for number in range(2):
    answer = kgot_core.solve(QUESTION, models={{"graph": Story().model()}}, runs="kept", env=NO_CONFIG)
    assert answer.text == ANSWER and answer.folder.is_dir(), answer
assert state() == before
for thread in threading.enumerate():
    if thread.name in ("kgot-call", "kgot-jail"):
        thread.join(5)
assert [thread.name for thread in threading.enumerate()] == ["MainThread", "kgot-loop"], threading.enumerate()
"""


def test_a_script_that_asks_twice_prints_nothing_changes_nothing_and_ends(tmp_path: Path) -> None:
    code = SCRIPT.format(fixtures=str(FIXTURES))
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        cwd=tmp_path,
        capture_output=True,
        timeout=60,
        text=True,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert len(list((tmp_path / "kept").iterdir())) == 2


async def test_under_a_running_loop() -> None:
    assert solved().text == ANSWER


def test_in_several_threads_at_once() -> None:
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda number: solved(), range(4)))
    assert [answer.text for answer in answers] == [ANSWER] * 4


def test_within_a_tool_of_another_run() -> None:
    def ask_again(place: str) -> str:
        """Asks another run."""
        return str(solved().text)

    answer = solved(Story("ask_again", {"place": "north"}, compute="NO"), tools=[ask_again])
    assert answer.status == "answered"


def test_within_the_loop_of_another_run_it_is_refused_and_not_for_ever() -> None:
    heard = []

    async def ask_again(place: str) -> str:
        """Asks another run, in a way that would wait for itself."""
        try:
            return str(solved().text)
        except UsageError as error:
            heard.append(error)
            raise

    assert solved(Story("ask_again", {"place": "north"}, compute="NO"), tools=[ask_again]).status == "answered"
    assert "await session.solve" in heard[0].hint


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_in_a_process_that_was_forked_after_an_answer() -> None:
    if shutil.which("bwrap") is None:
        pytest.skip("the sandbox monty has threads of its own, which a fork does not have")
    jailed = {"settings": {"sandbox": "bwrap"}}
    assert solved(**jailed).text == ANSWER
    child = os.fork()
    if child == 0:
        with contextlib.suppress(BaseException):
            os._exit(0 if solved(**jailed).text == ANSWER else 3)
        os._exit(4)
    signalled = threading.Timer(30, os.kill, (child, signal.SIGKILL))
    signalled.start()
    _, status = os.waitpid(child, 0)
    signalled.cancel()
    assert os.waitstatus_to_exitcode(status) == 0


INTERRUPTED = """
import sys
sys.path.insert(0, {fixtures!r})
import asyncio, kgot_core
from story import NO_CONFIG, QUESTION, quick, heights

async def never(prompt):
    print("reached", flush=True)
    await asyncio.Event().wait()

try:
    kgot_core.solve(QUESTION, settings={{"sandbox": "monty"}}, tools=[heights],
                    models={{"graph": quick(extract=never).model()}}, runs="kept", env=NO_CONFIG)
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


def test_an_interrupt_cancels_the_run_and_is_raised(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED.format(fixtures=str(FIXTURES))],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None and process.stdout.readline() == "reached\n"
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=20)
    finally:
        process.kill()
    assert (process.returncode, out, err) == (0, "interrupted\n", "")
    (folder,) = (tmp_path / "kept").iterdir()
    assert list(read_records(folder))[-1]["answer"]["status"] == "cancelled"
    assert (folder / "answer.json").is_file()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"files": ["not-there.csv"]}, "not-there.csv does not exist"),
        ({"settings": {"loop.max_iterations": -1}}, "max_iterations"),
        ({"env": {**NO_CONFIG, "KGOT_LOOP__MAX_ITERATIONS": "many"}}, "KGOT_LOOP__MAX_ITERATIONS"),
    ],
)
def test_a_wrong_call_raises_one_line(options: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        solved(**options)


def test_settings_files_and_environment_hold_in_the_library_too(tmp_path: Path) -> None:
    (tmp_path / "kgot.toml").write_text("loop.max_iterations = 0\nruns_dir = 'mine'\n")
    (tmp_path / "deep").mkdir()
    answer = solved(folder=tmp_path / "deep", runs="settings")
    assert answer.iterations == 0 and answer.folder.parent == tmp_path / "mine"
    env = {**NO_CONFIG, "KGOT_RUNS_DIR": "elsewhere"}
    assert solved(folder=tmp_path / "deep", env=env, runs="settings").folder.parent == tmp_path / "deep" / "elsewhere"
    assert solved(folder=tmp_path / "deep", runs="given").folder.parent == tmp_path / "deep" / "given"


def test_the_public_names() -> None:
    assert sorted(kgot_core.__all__) == dir(kgot_core)
    for name in kgot_core.__all__:
        assert inspect.getdoc(getattr(kgot_core, name)), name
    with pytest.raises(AttributeError, match="no attribute 'sovle'"):
        kgot_core.sovle  # noqa: B018
    assert asyncio.iscoroutinefunction(kgot_core.Session.solve)
