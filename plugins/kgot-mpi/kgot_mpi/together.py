"""What all ranks do together, without taking a core while they wait, and what they do where one of them is lost."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from kgot_core.errors import KgotError
from kgot_mpi.started import MPI

T = TypeVar("T")
PAUSE, LONG_PAUSE = 0.001, 0.01
CALLS = 8
"""How often MPI is called at each look: Open MPI turns to TCP in one of eight calls only."""
LONG = 1.0
"""Seconds after which a rank that waits looks less often."""


class Lost(Exception):
    """A rank is gone, and MPI lets the others go on."""


@contextmanager
def losses() -> Iterator[None]:
    """Turns the errors by which MPI tells that a rank is gone into one.

    Raises:
        Lost: A rank is gone.
    """
    try:
        yield
    except MPI.Exception as error:
        if error.Get_error_class() in (MPI.ERR_PROC_FAILED, MPI.ERR_PROC_FAILED_PENDING, MPI.ERR_REVOKED):
            raise Lost from error
        raise


class Together:
    """The ranks of a communicator.

    Args:
        comm: The communicator.
        lock: Held for each call to MPI, so that a library without MPI_THREAD_MULTIPLE will do.
        survives: Whether MPI lets the others go on when a rank is lost.
    """

    def __init__(self, comm: MPI.Intracomm, lock: threading.Lock, survives: bool) -> None:
        self.comm = comm
        self.lock = lock
        self.survives = survives

    def copy(self) -> Together:
        """Gives the same ranks with messages of their own.

        Raises:
            Lost: A rank is gone; raised on all that are left.
        """

        def copied() -> MPI.Intracomm:
            with self.lock:
                comm, request = self.comm.Idup()
            self._wait_for(request)
            return comm

        return Together(self._all(copied), self.lock, self.survives)

    def meet(self) -> None:
        """Waits for all.

        Raises:
            Lost: A rank is gone; raised on all that are left.
        """
        self._all(self._barrier)

    def tell(self, what: T | None) -> T:
        """Gives all ranks what the first one says; the others wait for it however long it takes.

        Raises:
            Lost: A rank is gone; raised on all that are left.
        """

        def told() -> T:
            self._barrier()
            with self.lock:
                said: T = self.comm.bcast(what)
            return said

        return self._all(told)

    def gather(self, mine: T) -> list[T]:
        """Gives all ranks what each says.

        Raises:
            Lost: A rank is gone; raised on all that are left.
        """

        def gathered() -> list[T]:
            self._barrier()
            with self.lock:
                return self.comm.allgather(mine)

        return self._all(gathered)

    def left(self) -> Together:
        """Gives the ranks that are left when some are gone; all of them call it.

        Raises:
            KgotError: None is gone, so MPI failed for another reason.
        """
        with self.lock:
            # Who does not know of the loss yet has to come here too.
            self.comm.Revoke()
            comm = self.comm.Shrink()
        assert isinstance(comm, MPI.Intracomm)
        if comm.size == self.comm.size:
            raise KgotError("MPI failed although no rank is lost", hint="kgot resume goes on with the batch")
        return Together(comm, self.lock, self.survives)

    def _all(self, action: Callable[[], T]) -> T:
        """Does something that either all ranks finish or none: some may be through with it when another one is lost."""
        if not self.survives:
            return action()
        results: list[T] = []
        try:
            results.append(action())
        except MPI.Exception:
            # Collective calls of Open MPI may call a loss an internal error.
            with self.lock:
                self.comm.Revoke()
        with losses(), self.lock:
            self.comm.Ack_failed()
            if self.comm.Agree(len(results)):
                return results[0]
        raise Lost

    def _barrier(self) -> None:
        with self.lock:
            request = self.comm.Ibarrier()
        self._wait_for(request)

    def _wait_for(self, request: MPI.Request) -> None:
        began = time.monotonic()
        while True:
            with self.lock:
                if any(request.Test() for _ in range(CALLS)):
                    return
            time.sleep(PAUSE if time.monotonic() - began < LONG else LONG_PAUSE)
