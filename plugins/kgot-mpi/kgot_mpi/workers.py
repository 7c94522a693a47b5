"""The threads of a rank that run its tasks: most of a task is waiting, so a rank runs several."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Generator
from typing import TypeVar

from kgot_core.contracts.scheduler import Batch, ScheduleNote, TaskRecord
from kgot_core.contracts.task import Answer, Task
from kgot_mpi.counters import Counters, Gone
from kgot_mpi.hands import Epoch, Hands
from kgot_mpi.stealing import Claim, Outcome, Step

T = TypeVar("T")


class Workers:
    """Claims tasks and runs them, ``Batch.jobs`` at once.

    Args:
        batch: The batch.
        rank: This rank, as it is numbered in records.
        hands: What this rank has in hand.
        records: Where the records go.
        last: Called when the last task of the batch was counted as ended.
        failed: Called when a worker cannot go on.
    """

    def __init__(
        self,
        batch: Batch,
        rank: int,
        hands: Hands,
        records: queue.SimpleQueue[TaskRecord | None],
        last: Callable[[], None],
        failed: Callable[[Exception], None],
    ) -> None:
        self._batch = batch
        self._rank = rank
        self._hands = hands
        self._records = records
        self._last = last
        self._failed = failed
        self._threads = [
            threading.Thread(target=self._work, name=f"kgot-task-{number}", daemon=True)
            for number in range(min(batch.jobs, len(batch.tasks)))
        ]

    def start(self) -> None:
        """Starts the threads; they end when the rank leaves the batch."""
        for thread in self._threads:
            thread.start()

    def join(self) -> None:
        """Waits until no thread uses the counters any more; only once the rank leaves and no task runs."""
        for thread in self._threads:
            thread.join()

    def _work(self) -> None:
        try:
            self._claim_and_run()
        except Exception as error:  # Whatever it is, the others must not wait for this worker's tasks.
            self._failed(error)

    def _claim_and_run(self) -> None:
        exhausted = None
        while (epoch := self._hands.epoch_to_claim_in(exhausted)) is not None:
            try:
                # Asked before every task, so that none starts after it.
                claim = None if self._batch.stop() else drive(epoch.stealing.claim(), epoch.counters)
            except Gone:
                continue
            if claim is None:
                exhausted = epoch
                self._batch.note(ScheduleNote("waits", self._rank))
            elif self._hands.take(claim, epoch):
                self._run(claim, epoch)

    def _run(self, claim: Claim, epoch: Epoch) -> None:
        task = self._batch.tasks[claim.task]
        owner = epoch.members[claim.owner]
        if owner != self._rank:
            self._batch.note(ScheduleNote("stole", self._rank, task.id, owner))
        if claim.task in epoch.doubtful:
            self._batch.note(ScheduleNote("took_over", self._rank, task.id, epoch.doubtful[claim.task]))
        self._batch.note(ScheduleNote("started", self._rank, task.id))
        began = time.monotonic()
        answer = self._answer(task)
        self._records.put(TaskRecord(task.id, answer, time.monotonic() - began, self._rank))
        self._batch.note(ScheduleNote("ended", self._rank, task.id))
        self._count(claim.task)

    def _answer(self, task: Task) -> Answer:
        try:
            return self._batch.work(task)
        except Exception as error:  # One task must not end the rank and all that it runs.
            return Answer("The run failed", "failed", reason=str(error) or type(error).__name__)

    def _count(self, task: int) -> None:
        counted = self._hands.put_down(task)
        if counted is None:
            return
        epoch, owner = counted
        try:
            if drive(epoch.stealing.end(owner), epoch.counters):
                self._last()
        except Gone:
            pass


def drive(steps: Generator[Step, Outcome, T], counters: Counters) -> T:
    """Does what a generator yields until it is at its end.

    Raises:
        Gone: The counters were given up.
    """
    try:
        step = next(steps)
        while True:
            step = steps.send(counters.do(step))
    except StopIteration as end:
        outcome: T = end.value
        return outcome
