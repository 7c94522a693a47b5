"""``kgot batch`` over real Ray, with a scripted model that tells a test what it is asked, and does what that says."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, Listener
from pathlib import Path
from typing import Any

STORY = Path(__file__).parents[3] / "tests" / "fixtures" / "library"
PATIENCE = 120.0
"""Seconds after which a test gives up what it waits for."""
ALL_TASKS = [f"t{number}" for number in range(8)]
MODEL = """
import os
from multiprocessing.connection import Client
from story import Story, stage_of


class Asking(Story):
    def reply(self, prompt):
        town = next(word for word in prompt.split() if word.startswith("town"))
        with Client(os.environ["DESK"], "AF_UNIX") as line:
            line.send({"task": town, "stage": stage_of(prompt), "pid": os.getpid()})
            line.recv()
        return super().reply(prompt)


def model():
    return Asking().model()
"""


@dataclass
class Call:
    """A request that waits for its answer."""

    said: dict[str, Any]
    line: Connection

    def answer(self) -> None:
        # Its process may have been killed.
        with suppress(OSError), self.line:
            self.line.send("go")


class Desk:
    """Where the model of all ranks asks."""

    def __init__(self, folder: Path) -> None:
        self.door = str(folder / "desk")
        self.asked: list[dict[str, Any]] = []
        self._calls: queue.Queue[Call] = queue.Queue()
        self._listener = Listener(self.door, "AF_UNIX", backlog=50)
        threading.Thread(target=self._listen, daemon=True).start()

    def next(self) -> Call:
        """Waits for the next request."""
        return self._calls.get(timeout=PATIENCE)

    def after_one_answer_each(self) -> list[Call]:
        """Answers one request of each of two ranks, and gives their next ones: only then is the answer recorded."""
        for call in [self.next(), self.next()]:
            call.answer()
        return [self.next(), self.next()]

    def answer_all(self) -> None:
        """Answers every request from now on."""

        def clerk() -> None:
            while True:
                self._calls.get().answer()

        threading.Thread(target=clerk, daemon=True).start()

    def close(self) -> None:
        self._listener.close()

    def _listen(self) -> None:
        while True:
            try:
                line = self._listener.accept()
            except OSError:
                return
            with suppress(OSError, EOFError):
                said = line.recv()
                self.asked.append(said)
                self._calls.put(Call(said, line))


class Command:
    """``kgot`` in a folder of its own."""

    def __init__(self, folder: Path, door: str) -> None:
        self.folder = folder
        self._started: list[subprocess.Popen[str]] = []
        (folder / "asking.py").write_text(MODEL)
        rows = [{"id": name, "question": f"Which hill of town{name[1:]} is higher?"} for name in ALL_TASKS]
        (folder / "tasks.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("KGOT_", "OPENAI_", "RAY_"))}
        path = os.pathsep.join([str(folder), str(STORY)])
        self.environment = kept | {"PYTHONPATH": path, "KGOT_CONFIG_DIR": str(folder / "config"), "DESK": door}

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-m", "kgot_core", *arguments],
            cwd=self.folder,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self._started.append(process)
        return process

    def batch(self, *options: str) -> subprocess.Popen[str]:
        """Starts a batch over two ranks."""
        model = ["--model", "import:asking:model", "--backend", "networkx", "--set", "sandbox=monty"]
        scheduler = ["--scheduler", "ray", "--ranks", "2", "--jobs", "1"]
        return self.start("batch", "tasks.jsonl", "--out", "out", *scheduler, *model, *options)

    def answered(self) -> list[str]:
        """Ids of the tasks with an answer, in the order of the results."""
        return [row["task"] for row in self._lines("results.jsonl") if row["status"] == "answered"]

    def notes(self, kind: str) -> list[dict[str, Any]]:
        """What the ranks noted of one kind."""
        files = sorted((self.folder / "out").glob("schedule.*.jsonl"))
        return [note for file in files for note in self._lines(file.name) if note.get("kind") == kind]

    def close(self) -> None:
        """Ends what still runs, at once."""
        for process in self._started:
            if process.poll() is None:
                process.kill()
            process.communicate()

    def _lines(self, name: str) -> list[dict[str, Any]]:
        return [json.loads(line) for line in (self.folder / "out" / name).read_text().splitlines()]


def end(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    """Waits for the end; gives the exit code and both outputs."""
    out, errors = process.communicate(timeout=PATIENCE)
    return process.returncode, out, errors
