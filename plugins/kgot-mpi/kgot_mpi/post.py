"""Small messages among the ranks. No call waits, since MPI's own waiting takes a whole core."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any, TypeAlias

from kgot_mpi.started import MPI
from kgot_mpi.together import CALLS, Lost, Together, losses

Message: TypeAlias = tuple[Any, ...]


class Post:
    """Sends and takes messages over one communicator.

    Any thread may send, one takes.

    Args:
        ranks: The ranks, with a communicator for these messages alone.
    """

    def __init__(self, ranks: Together) -> None:
        self.rank = ranks.comm.rank
        self.ranks = ranks.comm.size
        self._comm = ranks.comm
        self._lock = ranks.lock
        self._sending: list[MPI.Request] = []
        self._to_self: list[Message] = []

    def send(self, rank: int, *message: Any) -> None:
        """Sends a message; one that can no longer arrive is dropped."""
        if rank == self.rank:
            self._to_self.append(message)
            return
        # The thread that takes messages sees a loss too, and deals with it.
        with suppress(Lost), losses(), self._lock:
            self._sending.append(self._comm.isend(message, rank))

    def arrived(self) -> Iterator[tuple[int, Message]]:
        """Gives the messages that have arrived, each with its sender.

        Raises:
            Lost: A rank is gone.
        """
        while self._to_self:
            yield self.rank, self._to_self.pop(0)
        status = MPI.Status()
        while True:
            with losses(), self._lock:
                self._sending = [request for request in self._sending if not request.Test()]
                letter = None
                for _ in range(CALLS):
                    letter = letter or self._comm.improbe(MPI.ANY_SOURCE, MPI.ANY_TAG, status)
                message = None if letter is None else letter.recv()
            if message is None:
                return
            yield status.source, message
