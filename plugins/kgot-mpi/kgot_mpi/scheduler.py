"""The scheduler ``mpi``: a batch over the ranks of an MPI job, peer to peer (paper, sections 3.4 and B.5)."""

from __future__ import annotations

import atexit
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

from kgot_core.contracts.scheduler import Batch, Scheduler, TaskRecord, portable
from kgot_core.errors import KgotError
from kgot_core.graph.values import JsonValue
from kgot_mpi.epochs import Epochs
from kgot_mpi.library import promised_ranks
from kgot_mpi.monitor import Monitor
from kgot_mpi.probe import progresses_passively
from kgot_mpi.settings import MpiSettings
from kgot_mpi.started import MPI
from kgot_mpi.together import Lost, Together

SAID = 0.5
"""Seconds for the last words of a rank."""
GRACE = 3.0
"""Seconds for which a rank leaves it to the first one to end the job."""
SURVIVES = "OMPI_MCA_mpi_ft_enable"
FAILED = 1
"""Exit code where MPI has to end the other ranks."""


class MpiScheduler(Scheduler):
    """One rank; all ranks open theirs together.

    Args:
        settings: The settings.
    """

    def __init__(self, settings: MpiSettings) -> None:
        self.rank = MPI.COMM_WORLD.rank
        self.ranks = MPI.COMM_WORLD.size
        if self.ranks < (promised := promised_ranks(os.environ)):
            raise KgotError(
                f"{promised} ranks were started, but the MPI library finds {self.ranks}",
                hint="start them with the launcher of that library: --set schedulers.mpi.launcher=PATH",
            )
        # Open MPI says so in the environment of the ranks that it starts with --with-ft ulfm.
        survives = settings.survive and os.environ.get(SURVIVES) in ("1", "true")
        self._together = Together(MPI.COMM_WORLD, threading.Lock(), survives).copy()
        self._one_sided = self._chosen(settings.transport)
        self._lost = self._alone = self._stuck = False
        self._closed = False
        self._shared_error: BaseException | None = None
        atexit.register(self._leave)

    @property
    def transport(self) -> str:
        """How tasks are claimed: ``one-sided`` or ``messages``."""
        return "one-sided" if self._one_sided else "messages"

    def once(self, function: Callable[[], JsonValue]) -> JsonValue:
        """Calls a function on the first rank that is left and gives all of them its result."""
        outcome: tuple[bool, Any] | None = None
        while True:
            if self._together.comm.rank == 0 and outcome is None:
                outcome = _outcome(function)
            try:
                good, value = self._together.tell(outcome)
                break
            except Lost:
                self._go_on()
        if good:
            result: JsonValue = value
            return result
        error: BaseException = outcome[1] if outcome is not None else value
        self._shared_error = error
        raise error

    def run(self, batch: Batch) -> Iterator[TaskRecord]:
        """Yields a record for each task that this rank ran."""
        ranks = self._copy()
        epochs = Epochs(batch, self.rank, ranks, one_sided=self._one_sided)
        monitor = Monitor(batch, self.rank, epochs)
        monitor.start()
        at_its_end = False
        try:
            while (record := monitor.records.get()) is not None:
                yield record
            at_its_end = True
        finally:
            if not at_its_end:
                self._alone = True
                monitor.abandon()
        if monitor.failure is not None:
            self._stuck = True
            self._shared_error = monitor.failure
            raise monitor.failure
        monitor.join()
        if epochs.ranks is ranks:
            ranks.comm.Free()
        else:
            self._lost, self._together = True, epochs.ranks

    def close(self) -> None:
        """Notes how this rank ends: MPI itself can be ended only once, with the process."""
        error = sys.exc_info()[1]
        if error is not None and error is not self._shared_error:
            self._alone = True
        self._closed = True

    def _chosen(self, transport: str) -> bool:
        # Windows do not outlive the loss of a rank.
        if self.ranks == 1 or self._together.survives or transport == "messages":
            return False
        return transport == "one-sided" or progresses_passively(self._together.comm)

    def _copy(self) -> Together:
        while True:
            try:
                return self._together.copy()
            except Lost:
                self._go_on()

    def _go_on(self) -> None:
        self._lost = True
        self._together = self._together.left()

    def _leave(self) -> None:
        """Ends MPI with the process."""
        if MPI.Is_finalized():
            return
        if self.ranks > 1 and (self._alone or self._stuck or not self._closed):
            self._leave_alone()
        # After a loss the process ends without Finalize, which may wait for the lost for ever.
        elif not self._lost:
            if self.ranks > 1:
                self._together.meet()
            MPI.Finalize()

    def _leave_alone(self) -> None:
        """Ends where other ranks may wait for this one, or do not answer any more."""
        sys.stdout.flush()
        sys.stderr.flush()
        # All that still answer may come here; one call to Abort is enough, and ends this process too. MPI's launcher
        # needs some time to hand on what was said.
        time.sleep(GRACE if self._stuck and self.rank else SAID)
        if self._together.survives and not self._stuck:
            # The others see a loss and take over. They would not see that a process went without Finalize.
            os.kill(os.getpid(), signal.SIGKILL)
        MPI.COMM_WORLD.Abort(FAILED)


def _outcome(function: Callable[[], JsonValue]) -> tuple[bool, Any]:
    try:
        return True, function()
    except Exception as error:
        return False, portable(error)
