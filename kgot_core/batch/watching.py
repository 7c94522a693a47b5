"""What one process of a batch does just now: its running tasks, in a small file with a sign of life."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from kgot_core.batch.lines import Appender, write_whole
from kgot_core.batch.results import rank_file
from kgot_core.contracts.scheduler import ScheduleNote
from kgot_core.contracts.sink import Sink
from kgot_core.contracts.task import Usage
from kgot_core.sinks.progress import Stage

BEAT_SECONDS = 2.0
CHANGE_SECONDS = 0.25
"""Least time between two writes of the file when tasks begin and end."""
LATE_SECONDS = 30.0
"""How long a process may give no sign of life before it counts as gone."""


class TaskWatch(Sink):
    """Follows the events of one task."""

    def __init__(self, task: str) -> None:
        self.task = task
        self.since = time.time()
        self.stage = Stage()

    def emit(self, record: Mapping[str, Any]) -> None:
        """Takes one event in."""
        self.stage.take(record)

    def resumed(self, records: Sequence[Mapping[str, Any]]) -> None:
        """Takes in what was recorded before."""
        for record in records:
            self.stage.take(record)
        self.stage.running.clear()

    def to_json(self) -> dict[str, Any]:
        """Gives the task as the file says it."""
        stage = self.stage
        return {
            "task": self.task,
            "since": round(self.since, 3),
            "round": stage.iteration,
            "stage": stage.words,
            "tokens": stage.tokens,
            "cost": None if stage.unpriced else round(stage.cost, 6),
        }


class RankWatch:
    """Keeps the files ``rank.N.json`` and ``schedule.N.jsonl`` of one process.

    Args:
        folder: The batch's folder.
        session: The sitting of the batch.
        rank: Which process this is.
        ranks: How many there are.
        beat: Called at each sign of life; gives further fields of the file.
    """

    def __init__(
        self, folder: Path, session: str, rank: int, ranks: int, beat: Callable[[], Mapping[str, Any]] = dict
    ) -> None:
        self._path = rank_file(folder, "rank", rank, "json")
        self._head = {"session": session, "rank": rank, "ranks": ranks, "host": socket.gethostname()}
        self._head |= {"process": os.getpid(), "began": round(time.time(), 3)}
        self._more = beat
        self._rank = rank
        self._running: dict[str, TaskWatch] = {}
        self._lock = threading.Lock()
        self._schedule = Appender(rank_file(folder, "schedule", rank))
        self._ended = threading.Event()
        self._changed = threading.Event()
        self._write_note({"kind": "opened", "ranks": ranks, "session": session})
        self._write(ended=None)
        self._thread = threading.Thread(target=self._beat, daemon=True, name="kgot-batch-beat")
        self._thread.start()

    def note(self, note: ScheduleNote) -> None:
        """Writes down what the scheduler does; any thread may call it."""
        row: dict[str, Any] = {"kind": note.kind}
        row |= {"task": note.task} if note.task else {}
        row |= {"peer": note.peer} if note.peer >= 0 else {}
        row |= {"count": note.count} if note.count != 1 or not note.task else {}
        self._write_note(row, note.rank)

    @contextlib.contextmanager
    def running(self, task: str) -> Any:
        """Follows a task while the context is open; gives the sink for its events."""
        watch = TaskWatch(task)
        with self._lock:
            self._running[task] = watch
        self._changed.set()
        try:
            yield watch
        finally:
            with self._lock:
                del self._running[task]
            self._changed.set()

    def close(self) -> None:
        """Says that the process is at its end. Idempotent."""
        if not self._ended.is_set():
            self._ended.set()
            self._changed.set()
            self._thread.join()
            self._write_note({"kind": "closed"})
            self._write(ended=round(time.time(), 3))
            self._schedule.close()

    def _beat(self) -> None:
        while not self._ended.wait(CHANGE_SECONDS):
            self._changed.wait(BEAT_SECONDS - CHANGE_SECONDS)
            self._changed.clear()
            self._write(ended=None)

    def _write(self, ended: float | None) -> None:
        with self._lock:
            running = [watch.to_json() for watch in self._running.values()]
        state = {**self._head, "at": round(time.time(), 3), "ended": ended, "running": running, **self._more()}
        # A full disk ends the runs, which say so; a file that only tells how they are must not.
        with contextlib.suppress(OSError):
            write_whole(self._path, json.dumps(state, ensure_ascii=False) + "\n", durable=False)

    def _write_note(self, row: Mapping[str, Any], rank: int | None = None) -> None:
        with self._lock, contextlib.suppress(OSError):
            self._schedule.append({"at": round(time.time(), 4), "rank": self._rank if rank is None else rank, **row})


def read_ranks(folder: Path) -> list[dict[str, Any]]:
    """Gives the state of each process of a batch's last sitting and of earlier ones, as far as it can be read."""
    found = []
    for path in sorted(folder.glob("rank.*.json")):
        with contextlib.suppress(OSError, ValueError):
            state = json.loads(path.read_text(encoding="utf-8"))
            if isinstance(state, dict) and isinstance(state.get("rank"), int):
                found.append(state)
    return found


def added_by_others(folder: Path, session: str, rank: int) -> Usage:
    """Sums what the other processes of a sitting have used in it."""
    others = [state for state in read_ranks(folder) if state.get("session") == session and state["rank"] != rank]
    return sum((Usage(**state.get("added", {})) for state in others), Usage())
