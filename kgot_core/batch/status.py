"""How a batch is, read from its files alone: by another terminal, on another machine, while it runs or afterwards."""

from __future__ import annotations

import datetime
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kgot_core.batch.folder import TASKS, BatchTask, read_batch, read_tasks
from kgot_core.batch.lines import Tail
from kgot_core.batch.remaining import seconds_left
from kgot_core.batch.results import Results, is_final, rank_files
from kgot_core.batch.totals import usage_of
from kgot_core.batch.watching import read_ranks
from kgot_core.contracts.task import Usage
from kgot_core.run.record import lease


@dataclass(frozen=True)
class RunningTask:
    """A task that is running.

    Attributes:
        task: Its id.
        rank: Which process runs it.
        stage: What it does, for a person.
        seconds: For how long.
        cost: Dollars so far; ``None`` where a price is unknown.
    """

    task: str
    rank: int
    stage: str
    seconds: float
    cost: float | None


@dataclass(frozen=True)
class RankState:
    """A process of the batch's last sitting.

    Attributes:
        rank: Its number.
        host: Its machine.
        alive: It gives signs of life.
        running: How many tasks it runs.
        ended: How many tasks it has ended in this sitting.
    """

    rank: int
    host: str
    alive: bool
    running: int
    ended: int


@dataclass(frozen=True)
class BatchState:
    """A batch at one moment.

    Attributes:
        running: It is running.
        tasks: How many tasks it has.
        statuses: How many tasks ended in which way, those that are tried again left out.
        tasks_running: What runs just now, the longest first.
        waiting: How many tasks are to be run still.
        usage: What all tasks have used, the running ones too.
        seconds: Wall time of the last sitting so far.
        per_minute: Tasks ended a minute in the last sitting; ``None`` before the first.
        seconds_left: Expected time until its end; ``None`` where it is not running or nothing is known.
        ranks: The processes of the last sitting.
    """

    running: bool
    tasks: int
    statuses: Mapping[str, int]
    tasks_running: Sequence[RunningTask]
    waiting: int
    usage: Usage
    seconds: float
    per_minute: float | None
    seconds_left: float | None
    ranks: Sequence[RankState]

    @property
    def done(self) -> int:
        """How many tasks have ended for good."""
        return sum(number for status, number in self.statuses.items() if status != "failed")

    @property
    def failed(self) -> int:
        """How many tasks have failed."""
        return self.statuses.get("failed", 0)


class BatchReader:
    """Reads a batch again and again; files that grow are read on from where they ended.

    Args:
        folder: The batch's folder.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._tails: dict[Path, Tail] = {}
        self._results = Results()
        self._tasks: list[BatchTask] = []
        self._tasks_read = 0

    def read(self, now: float | None = None) -> BatchState:
        """Gives the batch as it is.

        Args:
            now: Seconds since the epoch; the clock's by default.

        Raises:
            UsageError: There is no batch, or it cannot be read.
        """
        now = time.time() if now is None else now
        batch = read_batch(self._folder)
        self._read_on()
        sitting: Mapping[str, Any] = batch["sessions"][-1]
        began = datetime.datetime.fromisoformat(sitting["began"]).timestamp()
        ended = sitting.get("ended")
        end = datetime.datetime.fromisoformat(ended).timestamp() if ended else None
        states = [state for state in read_ranks(self._folder) if state.get("session") == sitting["session"]]
        alive = {state["rank"]: self._alive(state) for state in states}
        running = end is None and (lease.is_running(self._folder) or any(alive.values()))
        if end is None and not running:
            end = max((float(state["at"]) for state in states), default=began)
        busy = [(state, item) for state in states if alive[state["rank"]] for item in state["running"]]
        tasks = [_running(state, item, now) for state, item in busy if not self._has_ended(item)]
        return self._state(batch, running, tasks, states, alive, began, end or now)

    def _state(
        self,
        batch: Mapping[str, Any],
        running: bool,
        tasks: Sequence[RunningTask],
        states: Sequence[Mapping[str, Any]],
        alive: Mapping[int, bool],
        began: float,
        now: float,
    ) -> BatchState:
        rows = self._results.rows
        busy = {task.task for task in tasks}
        again = {name for name, row in rows.items() if not is_final(row) and (running and row.get("ended", 0) < began)}
        open_ = {name for name, row in rows.items() if row["status"] == "cancelled"} | again | busy
        ended = {name: row for name, row in rows.items() if name not in open_}
        here = [row for row in rows.values() if row.get("ended", 0) >= began and row["status"] != "cancelled"]
        waiting = [task for task in self._tasks if task.id not in ended and task.id not in busy]
        since = now - began
        slots = max(1, int(batch.get("jobs", 1)) * max(1, sum(alive.values())))
        known = {task.id: task for task in self._tasks}
        left = [(known[task.task].estimate, task.seconds) for task in tasks if task.task in known]
        return BatchState(
            running,
            len(self._tasks),
            dict(sorted(Counter(str(row["status"]) for row in ended.values()).items())),
            sorted(tasks, key=lambda task: -task.seconds),
            len(waiting),
            usage_of(rows.values()) + _added(states, here),
            round(since, 3),
            round(len(here) / since * 60, 3) if here and since > 0 else None,
            seconds_left([*left, *((task.estimate, 0.0) for task in waiting)], here, slots) if running else None,
            [_rank(state, alive[state["rank"]], here) for state in states],
        )

    def _has_ended(self, item: Mapping[str, Any]) -> bool:
        """Tells whether a task that is said to run has its line by now."""
        return bool(self._results.rows.get(item["task"], {}).get("ended", 0.0) > item["since"])

    def _read_on(self) -> None:
        changed = (self._folder / TASKS).stat().st_mtime_ns
        if changed != self._tasks_read:
            self._tasks, self._tasks_read = read_tasks(self._folder), changed
        for path in rank_files(self._folder):
            self._results.take(self._tails.setdefault(path, Tail(path)).rows())

    def _alive(self, state: Mapping[str, Any]) -> bool:
        return state.get("ended") is None and lease.is_running(self._folder, f"running.{state['rank']}.json")


def _running(state: Mapping[str, Any], item: Mapping[str, Any], now: float) -> RunningTask:
    stage = ", ".join(filter(None, [str(item["round"]), str(item["stage"])]))
    return RunningTask(str(item["task"]), state["rank"], stage, round(max(0.0, now - item["since"]), 1), item["cost"])


def _rank(state: Mapping[str, Any], alive: bool, here: Sequence[Mapping[str, Any]]) -> RankState:
    ended = sum(row["rank"] == state["rank"] for row in here)
    return RankState(state["rank"], str(state["host"]), alive, len(state["running"]) if alive else 0, ended)


def _added(states: Sequence[Mapping[str, Any]], here: Sequence[Mapping[str, Any]]) -> Usage:
    """Gives what running tasks have used: what the processes have added, less what has its line by now."""
    total = (
        sum((Usage(**state.get("added", {})) for state in states), Usage())
        if any(state["running"] for state in states)
        else Usage()
    )
    counted = usage_of(here)
    return Usage(
        max(0, total.requests - counted.requests),
        max(0, total.input_tokens - counted.input_tokens),
        max(0, total.output_tokens - counted.output_tokens),
        max(0, total.cached_tokens - counted.cached_tokens),
        max(0.0, total.cost - counted.cost),
        max(0, total.unpriced - counted.unpriced),
    )
