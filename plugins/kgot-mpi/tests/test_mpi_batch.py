"""``kgot batch`` over real ranks, with a scripted model whose requests wait at the desk."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from kgot_mpi.launch import launcher_options
from kgot_mpi.library import launcher_flavour, launcher_path
from kgot_mpi.settings import MpiSettings

STORY = Path(__file__).parents[3] / "tests" / "fixtures" / "library"
MODEL = """
import json
import os
import socket
from story import Story, stage_of


class Asking(Story):
    def reply(self, prompt):
        town = next(word for word in prompt.split() if word.startswith("town"))
        with socket.socket(socket.AF_UNIX) as line:
            line.connect(os.environ["DESK"])
            said = {"task": town, "stage": stage_of(prompt), "pid": os.getpid()}
            line.sendall(json.dumps(said).encode() + b"\\n")
            line.makefile().readline()
        return super().reply(prompt)


def model():
    return Asking().model()
"""


class Command:
    """``kgot batch`` in a folder of its own."""

    def __init__(self, library: Any) -> None:
        self.folder, self.desk = library.folder, library.desk
        (self.folder / "asking.py").write_text(MODEL)
        rows = [{"id": f"t{number}", "question": f"Which hill of town{number} is higher?"} for number in range(8)]
        (self.folder / "tasks.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("KGOT_", "OPENAI_"))}
        path = os.pathsep.join([str(self.folder), str(STORY)])
        config = str(self.folder / "config")
        self.environment = kept | library.environment | {"PYTHONPATH": path, "KGOT_CONFIG_DIR": config}
        self.environment["DESK"] = self.desk.door
        self.environment |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
        self._mpi = MpiSettings(**library.settings, ranks=4)
        self.settings = [f"schedulers.mpi.{key}={value}" for key, value in library.settings.items()]

    def start(self, *arguments: str, before: Sequence[str] = ()) -> subprocess.Popen[str]:
        chosen = [part for value in self.settings for part in ("--set", value)]
        command = [*before, sys.executable, "-m", "kgot_core", *arguments, *chosen]
        return subprocess.Popen(command, cwd=self.folder, env=self.environment, stderr=subprocess.PIPE, text=True)

    def batch(self, *options: str, tasks: str = "tasks.jsonl") -> subprocess.Popen[str]:
        """Lets ``kgot`` start the ranks."""
        return self.start(*self._batch(tasks), "--ranks", "4", *options)

    def by_mpiexec(self, *options: str, tasks: str = "tasks.jsonl") -> subprocess.Popen[str]:
        """Starts the ranks with the launcher itself."""
        launcher = launcher_path(self._mpi)
        assert launcher is not None
        start = [launcher, *launcher_options(self._mpi, launcher_flavour(launcher))]
        return self.start(*self._batch(tasks), *options, before=start)

    def _batch(self, tasks: str) -> list[str]:
        model = ["--model", "import:asking:model", "--backend", "networkx", "--set", "sandbox=monty"]
        return ["batch", tasks, "--out", "out", "--scheduler", "mpi", "--jobs", "1", *model]

    def answered(self) -> list[str]:
        rows = [json.loads(line) for line in (self.folder / "out" / "results.jsonl").read_text().splitlines()]
        return [row["task"] for row in rows if row["status"] == "answered"]


def end(process: subprocess.Popen[str]) -> tuple[int, str]:
    _, errors = process.communicate(timeout=120)
    return process.returncode, errors


ALL_TASKS = [f"t{number}" for number in range(8)]


@pytest.mark.parametrize(("name", "lost"), [("openmpi-survives", 1), ("openmpi-survives", 3), ("mpich", 1)])
def test_a_batch_ends_with_every_answer_although_ranks_are_killed(mpi, name, lost):
    command = Command(mpi(name))
    process = command.batch("--set", "schedulers.mpi.restarts=1")
    desk = command.desk
    calls = [desk.next() for _ in range(4)]
    assert len({call.said["pid"] for call in calls}) == 4
    # One request each is answered, so that something is paid for already.
    for call in calls:
        call.answer()
    # All ask again before one is killed: only then is each first answer recorded, and some MPI ends the others with it.
    for call in [desk.next() for _ in range(4)]:
        if call.said["pid"] in [each.said["pid"] for each in calls[:lost]]:
            os.kill(call.said["pid"], signal.SIGKILL)
        call.answer()
    desk.answer_all()
    code, errors = end(process)
    assert code == 0, errors
    assert command.answered() == ALL_TASKS
    # Of what was answered before the kill nothing is asked again.
    asked = Counter((said["task"], said["stage"]) for said in desk.asked)
    first = calls[0].said["stage"]
    assert all(asked[call.said["task"], first] == asked["town7", first] for call in calls[lost:])


def test_all_ranks_killed_resume_goes_on(mpi):
    command = Command(mpi("mpich"))
    process = command.batch("--set", "schedulers.mpi.restarts=0")
    desk = command.desk
    calls = [desk.next() for _ in range(4)]
    for call in calls:
        # MPI may have ended this rank already, since it lost the one before.
        with suppress(ProcessLookupError):
            os.kill(call.said["pid"], signal.SIGKILL)
    code, errors = end(process)
    assert code == 1 and "a rank was lost" in errors
    desk.answer_all()
    code, errors = end(command.start("resume", "out"))
    assert code == 0, errors
    assert command.answered() == ALL_TASKS


def test_an_interrupted_batch_says_how_to_go_on(mpi):
    command = Command(mpi("openmpi"))
    process = command.batch()
    calls = [command.desk.next() for _ in range(4)]
    process.send_signal(signal.SIGTERM)
    seen = []
    with suppress(ValueError):
        for line in process.stderr:
            seen.append(line)
            if "interrupted" in line:
                break
    for call in calls:
        call.answer()
    command.desk.answer_all()
    code, errors = end(process)
    assert code == 75, "".join(seen) + errors
    assert f"kgot resume {command.folder / 'out'}" in errors


WRONG = {
    "a bad task file": (["tasks.jsonl"], "line 1: no question"),
    "a model that cannot be had": (["good.jsonl", "--model", "import:asking:nothing"], "cannot be imported"),
    "a folder of something else": (["good.jsonl", "--out", "config"], "no batch is in it"),
}


@pytest.mark.parametrize("wrong", WRONG)
@pytest.mark.parametrize("ranks_by", ["kgot", "mpiexec"])
@pytest.mark.parametrize("name", ["openmpi-survives", "mpich"])
def test_what_keeps_all_ranks_from_beginning_is_told_once(mpi, name, ranks_by, wrong):
    command = Command(mpi(name))
    (command.folder / "tasks.jsonl").rename(command.folder / "good.jsonl")
    (command.folder / "tasks.jsonl").write_text('{"id": "a", "question": ""}\n')
    (command.folder / "config").mkdir()
    (command.folder / "config" / "mine.txt").touch()
    changed, said = WRONG[wrong]
    tasks, *rest = changed
    process = command.batch(*rest, tasks=tasks) if ranks_by == "kgot" else command.by_mpiexec(*rest, tasks=tasks)
    code, errors = end(process)
    assert code == 2, errors
    assert errors.count(said) == 1, errors
    assert not command.desk.asked and not (command.folder / "out").exists()
