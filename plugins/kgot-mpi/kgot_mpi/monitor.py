"""The thread of a rank that answers the others while its tasks run, and knows when the batch is over (paper, B.5)."""

from __future__ import annotations

import queue
import threading
import time
from dataclasses import astuple

from kgot_core.contracts.scheduler import Batch, TaskRecord
from kgot_core.errors import KgotError
from kgot_mpi.epochs import Epochs
from kgot_mpi.hands import Ending, Hands
from kgot_mpi.post import Message
from kgot_mpi.pulse import Pulse, Report
from kgot_mpi.together import Lost
from kgot_mpi.workers import Workers

SLOW, FAST = 0.01, 0.001
"""Seconds between two looks for messages: nothing to do, and where some have just come or are awaited."""
LIVELY = 0.05
"""Seconds for which a rank that got a message looks fast."""
BEATS = 8
"""How many signs of life a rank gives within the patience of the batch."""


class Monitor:
    """One rank's part in one batch.

    Args:
        batch: The batch.
        rank: This rank, as it is numbered in records.
        epochs: Deals the tasks, and deals them anew.
    """

    def __init__(self, batch: Batch, rank: int, epochs: Epochs) -> None:
        self.records: queue.SimpleQueue[TaskRecord | None] = queue.SimpleQueue()
        self.failure: KgotError | None = None
        self._batch = batch
        self._rank = rank
        self._epochs = epochs
        self._hands = Hands()
        self._wake = threading.Event()
        self._abandoned = False
        self._lively = 0.0
        self._patience = batch.patience
        self._workers = Workers(batch, rank, self._hands, self.records, lambda: self._announce("ended"), self._fail)
        self._thread = threading.Thread(target=self._watch, name="kgot-mpi", daemon=True)

    def start(self) -> None:
        """Starts everything; a ``None`` is put into the records at the end."""
        self._thread.start()
        self._workers.start()

    def join(self) -> None:
        """Waits until nothing of this part uses MPI any more; after its end, and only where that was a good one."""
        self._thread.join()
        self._workers.join()

    def abandon(self) -> None:
        """Lets no further task start and answers no more."""
        self._abandoned = True
        self._hands.leave()
        self._wake.set()

    def _watch(self) -> None:
        try:
            self._epochs.open(self._hands)
            self._begin()
            while not self._abandoned:
                try:
                    if self._look():
                        break
                except Lost:
                    self._epochs.recover(self._hands)
                    self._begin()
        except KgotError as error:
            self.failure = error
        except Exception as error:
            self._fail(error)
        finally:
            self._hands.leave()
            self.records.put(None)

    def _fail(self, error: Exception) -> None:
        self.failure = KgotError(f"rank {self._rank} failed: {error}", hint="kgot resume goes on with the batch")
        self._wake.set()

    def _begin(self) -> None:
        """Begins to watch an epoch."""
        self._epoch = self._epochs.current
        self._heard = self._beaten = time.monotonic()
        self._pulse = Pulse(self._epoch.members, self._patience, self._heard)
        self._told = False
        # Whether it has come from above that the batch is over, so that all below this rank know too.
        self._over = not self._epoch.deal.tasks
        if self._over:
            self._hands.end("ended")
        elif self._hands.ending == "ended":
            self._hands.end("")

    def _look(self) -> bool:
        """Looks for what has come and what is to be done; tells whether this rank's part is at its end."""
        now = time.monotonic()
        for source, message in self._epoch.post.arrived():
            self._lively = now + LIVELY
            self._handle(source, message)
        self._watch_for_stop()
        self._beat(now)
        if self.failure is not None:
            return True
        if self._over and not self._hands.running:
            return self._epochs.met()
        hurry = now < self._lively or self._over or self._epoch.counters.waiting()
        self._wake.wait(FAST if hurry else SLOW)
        self._wake.clear()
        return False

    def _handle(self, source: int, message: Message) -> None:
        match message:
            case "announce", ending, text:
                if not self._over:
                    self._hear(ending, text)
            case "over", ending, text:
                self._hear(ending, text)
            case "report", rank, changes, running:
                self._pulse.report(Report(rank, changes, running), time.monotonic())
            case ("beat",):
                self._heard = time.monotonic()
                self._hand_on("beat")
            case _:
                self._epoch.counters.handle(source, message)

    def _announce(self, ending: Ending, text: str = "") -> None:
        """Lets all ranks know that the batch is over, by way of the first one, so that all hear the same."""
        self._epoch.post.send(0, "announce", ending, text)
        self._wake.set()

    def _hear(self, ending: Ending, text: str) -> None:
        self._over = True
        self._hand_on("over", ending, text)
        if ending == "stuck":
            self.failure = KgotError(text, hint="kgot resume goes on with the batch")
        self._hands.end(ending)
        # Only now, or a worker whose task was interrupted would start another one.
        if ending == "stopped" and not self._told:
            self._batch.interrupt()

    def _hand_on(self, *message: object) -> None:
        for child in self._epoch.deal.children(self._epoch.post.rank):
            self._epoch.post.send(child, *message)

    def _watch_for_stop(self) -> None:
        if not self._told and not self._over and (self._hands.ending == "stopped" or self._batch.stop()):
            self._told = True
            self._hands.end("stopped")
            self._announce("stopped")

    def _beat(self, now: float) -> None:
        """Gives a sign of life, and looks whether others do; only where the batch has a limit to its patience."""
        if not self._patience or self._over or now - self._beaten < self._patience / BEATS:
            return
        self._beaten = now
        running = tuple(self._batch.tasks[task].id for task in self._hands.running)
        self._epoch.post.send(0, "report", *astuple(Report(self._rank, self._hands.changes, running)))
        if self._epoch.post.rank == 0:
            self._heard = now
            self._hand_on("beat")
            if text := self._pulse.diagnosis(now):
                self._announce("stuck", text)
        elif now - self._heard > 2 * self._patience:
            silent = f"rank {self._epoch.members[0]} was not heard of for {now - self._heard:.0f} s"
            raise KgotError(silent, hint="kgot resume goes on with the batch")
