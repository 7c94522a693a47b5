"""One rank: it takes tasks from the desk and runs them on threads, since most of a task is waiting."""

from __future__ import annotations

import contextlib
import queue
import threading
import time
from collections.abc import Callable, Iterator

from kgot_core.contracts.scheduler import Batch, ScheduleNote, Scheduler, TaskRecord, portable
from kgot_core.contracts.task import Answer, Task
from kgot_core.errors import KgotError
from kgot_core.graph.values import JsonValue
from kgot_ray.desk import POLL, Caller, Reply
from kgot_ray.lines import Line

GO_ON = "kgot resume goes on with the batch"


class RayScheduler(Scheduler):
    """One rank of a batch.

    Args:
        line: Leads to the desk of the batch.
        rank: Which rank it is.
        ranks: How many there are.
    """

    def __init__(self, line: Line, rank: int = 0, ranks: int = 1) -> None:
        self.rank, self.ranks = rank, ranks
        self._line = line
        self._caller: Caller = line.ask("join", rank)
        self._calls = self._runs = 0
        self._closed = False

    def once(self, function: Callable[[], JsonValue]) -> JsonValue:
        """Calls a function on the first rank that comes here and gives all of them its result."""
        number, self._calls = self._calls, self._calls + 1
        while (reply := self._line.ask("once", self._caller, number)).state == "go":
            pass  # the desk let it wait
        _refuse_gone(reply, self.rank)
        if reply.state == "do":
            return self._do(function, number)
        if isinstance(reply.outcome, KgotError):
            raise reply.outcome
        result: JsonValue = reply.outcome
        return result

    def run(self, batch: Batch) -> Iterator[TaskRecord]:
        """Yields a record for each task that this rank ran."""
        number, self._runs = self._runs, self._runs + 1
        order = sorted(batch.tasks, key=lambda task: -batch.estimates.get(task.id, 0.0))
        self._line.ask("begin", self._caller, number, [task.id for task in order])
        floor = _Floor(batch, self._line, self._caller, number)
        at_its_end = False
        try:
            floor.start()
            while (record := floor.next_record()) is not None:
                yield record
                # Only now, as its record is written: a task whose rank is lost before is given out again.
                self._line.ask("end", self._caller, number, record.task)
            at_its_end = True
        finally:
            floor.left.set()
            if not at_its_end:
                self._leave()

    def close(self) -> None:
        """Gives its place up."""
        if not self._closed:
            self._closed = True
            self._leave()
            self._line.close()

    def _do(self, function: Callable[[], JsonValue], number: int) -> JsonValue:
        try:
            result = function()
        except Exception as error:
            told = portable(error)
            self._line.ask("once_done", self._caller, number, told)
            raise told from error
        self._line.ask("once_done", self._caller, number, result)
        return result

    def _leave(self) -> None:
        # There may be no desk any more to leave.
        with contextlib.suppress(KgotError):
            self._line.ask("leave", self._caller)


class _Floor:
    """The threads of one rank, and what passes between them and the caller of ``run``."""

    def __init__(self, batch: Batch, line: Line, caller: Caller, number: int) -> None:
        self.left = threading.Event()
        self._batch = batch
        self._line = line
        self._caller = caller
        self._number = number
        self._tasks = {task.id: task for task in batch.tasks}
        self._came: queue.SimpleQueue[TaskRecord | BaseException | None] = queue.SimpleQueue()
        self._threads = min(batch.jobs, len(batch.tasks))

    def start(self) -> None:
        """Starts the threads."""
        for number in range(self._threads):
            threading.Thread(target=self._work, daemon=True, name=f"kgot-task-{number}").start()

    def next_record(self) -> TaskRecord | None:
        """Waits for a record; ``None`` once all threads have ended.

        Raises:
            KgotError: The batch stands still, or this rank has lost its place.
        """
        while self._threads:
            try:
                came = self._came.get(timeout=POLL)
            except queue.Empty:
                self._look()
                continue
            if isinstance(came, BaseException):
                raise came
            if came is not None:
                return came
            self._threads -= 1
        return None

    def _look(self) -> None:
        reply: Reply = self._line.ask("look", self._caller, self._number, self._batch.patience)
        _refuse_gone(reply, self._caller.rank)
        if reply.state == "stop":
            self._batch.interrupt()
        if reply.state == "still":
            named = ", ".join(reply.running[:5]) + (" and others" if len(reply.running) > 5 else "")
            raise KgotError(
                f"no task has begun or ended for {self._batch.patience:g} s; running are {named or 'none'}",
                hint=f"{GO_ON}; a deadline (caps.deadline) bounds each task",
            )

    def _work(self) -> None:
        try:
            self._take_and_run()
        except BaseException as error:  # whatever it is, the caller of run must not wait for this thread
            self._came.put(error)
        finally:
            self._came.put(None)

    def _take_and_run(self) -> None:
        waits = False
        while not self.left.is_set():
            if self._batch.stop():
                self._line.ask("stop", self._number)
                return
            reply: Reply = self._line.ask("take", self._caller, self._number, self._batch.patience)
            if reply.state == "task":
                waits = False
                self._run(self._tasks[reply.task], reply.lost_by)
            elif reply.state != "go":
                return
            elif not waits:
                waits = True
                self._batch.note(ScheduleNote("waits", self._caller.rank))

    def _run(self, task: Task, lost_by: int) -> None:
        rank, note = self._caller.rank, self._batch.note
        if lost_by >= 0:
            note(ScheduleNote("took_over", rank, task.id, lost_by))
        note(ScheduleNote("started", rank, task.id))
        began = time.monotonic()
        try:
            answer = self._batch.work(task)
        except Exception as error:  # one task must not end the rank and all that it runs
            answer = Answer("The run failed", "failed", reason=str(error) or type(error).__name__)
        note(ScheduleNote("ended", rank, task.id))
        self._came.put(TaskRecord(task.id, answer, time.monotonic() - began, rank))


def _refuse_gone(reply: Reply, rank: int) -> None:
    if reply.state == "gone":
        raise KgotError(f"rank {rank} was given up as lost, and another process has its place", hint=GO_ON)
