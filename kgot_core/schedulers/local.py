"""The scheduler of one process: as many threads as tasks may run at once, the longest task first."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Iterator
from typing import Any

from kgot_core.contracts.scheduler import Batch, ScheduleNote, Scheduler, TaskRecord
from kgot_core.contracts.task import Answer, Task
from kgot_core.errors import KgotError


def open_local(settings: Any) -> LocalScheduler:
    """Opens it; it has no settings."""
    return LocalScheduler()


def longest_first(batch: Batch) -> list[Task]:
    """Orders tasks by their estimates; those of equal or unknown length stay in the order given."""
    return sorted(batch.tasks, key=lambda task: -batch.estimates.get(task.id, 0.0))


class LocalScheduler(Scheduler):
    """Runs the tasks on threads.

    A thread waits while its task's requests, queries and scripts go on elsewhere: on an event loop, in servers and in
    child processes. So threads are enough here; several processes are for several machines.
    """

    def run(self, batch: Batch) -> Iterator[TaskRecord]:
        """Yields the tasks' records as they end.

        Raises:
            KgotError: No task has begun or ended for as long as the batch has patience.
        """
        floor = _Floor(batch)
        try:
            floor.begin()
            while (record := floor.next_record()) is not None:
                yield record
        finally:
            floor.left.set()


class _Floor:
    """The threads of one batch, and what passes between them and the caller."""

    def __init__(self, batch: Batch) -> None:
        self.left = threading.Event()
        self._batch = batch
        self._waiting = iter(longest_first(batch))
        self._lock = threading.Lock()
        self._ended: queue.SimpleQueue[TaskRecord | BaseException | None] = queue.SimpleQueue()
        self._running: dict[str, float] = {}
        self._moved = time.monotonic()
        self._threads = min(batch.jobs, len(batch.tasks))

    def begin(self) -> None:
        """Starts the threads."""
        if self._threads:
            self._batch.note(ScheduleNote("dealt", count=len(self._batch.tasks)))
        for number in range(self._threads):
            threading.Thread(target=self._work, daemon=True, name=f"kgot-job-{number}").start()

    def next_record(self) -> TaskRecord | None:
        """Waits for a record; ``None`` once all threads have ended.

        Raises:
            KgotError: The batch stands still.
        """
        while self._threads:
            try:
                found = self._ended.get(timeout=self._patience_left())
            except queue.Empty:
                self._refuse_standstill()
                continue
            if isinstance(found, BaseException):
                raise found
            if found is not None:
                return found
            self._threads -= 1
        return None

    def _patience_left(self) -> float | None:
        patience = self._batch.patience
        return max(0.0, self._moved + patience - time.monotonic()) if patience else None

    def _refuse_standstill(self) -> None:
        with self._lock:
            still = time.monotonic() - self._moved >= self._batch.patience
            running = sorted(self._running, key=self._running.__getitem__)
        if still:
            named = ", ".join(running[:5]) + (" and others" if len(running) > 5 else "")
            raise KgotError(
                f"no task has begun or ended for {self._batch.patience:g} s; running are {named or 'none'}",
                hint="kgot resume goes on with the batch; a deadline (caps.deadline) bounds each task",
            )

    def _work(self) -> None:
        try:
            while (task := self._next_task()) is not None:
                began = time.monotonic()
                answer = self._batch.work(task)
                self._end(task, answer, time.monotonic() - began)
        except BaseException as error:  # the caller's own function is at fault; it learns it
            self._ended.put(error)
        finally:
            self._ended.put(None)

    def _next_task(self) -> Task | None:
        with self._lock:
            if self.left.is_set() or self._batch.stop():
                return None
            task = next(self._waiting, None)
            if task is not None:
                self._moved = self._running[task.id] = time.monotonic()
                self._batch.note(ScheduleNote("started", task=task.id))
            return task

    def _end(self, task: Task, answer: Answer, seconds: float) -> None:
        with self._lock:
            del self._running[task.id]
            self._moved = time.monotonic()
            self._batch.note(ScheduleNote("ended", task=task.id))
        self._ended.put(TaskRecord(task.id, answer, seconds))
