"""The counters of all ranks, by messages or by one-sided access to their memory."""

from __future__ import annotations

import itertools
import threading
from array import array
from typing import Protocol

from kgot_mpi.post import Message, Post
from kgot_mpi.started import MPI
from kgot_mpi.stealing import Add, Outcome, Step
from kgot_mpi.together import Together

PLACES = {"taken": 0, "ended": 1}


class Gone(Exception):
    """The counters are no longer to be used: the batch ends, or is dealt anew."""


class Counters(Protocol):
    """Two counters on each rank; any thread may use them."""

    def do(self, step: Step) -> Outcome:
        """Does one step and gives its outcome.

        Raises:
            Gone: The counters were given up.
        """
        ...

    def handle(self, source: int, message: Message) -> None:
        """Takes a message about counters, on the thread that takes messages."""
        ...

    def waiting(self) -> bool:
        """Tells whether any thread waits for a message."""
        ...

    def taken(self) -> int | None:
        """Gives how many tasks were taken from this rank's queue, where that is known here."""
        ...

    def give_up(self) -> None:
        """Lets every thread go that waits for an outcome, now and later."""
        ...


class _Asked:
    """A request to some ranks, until all have replied."""

    def __init__(self, ranks: tuple[int, ...]) -> None:
        self.values = dict.fromkeys(ranks, 0)
        self.missing = set(ranks)
        self.complete = threading.Event()


class MessageCounters:
    """Each rank keeps its counters and changes them when it is asked to."""

    def __init__(self, post: Post) -> None:
        self._post = post
        self._mine = array("q", [0, 0])
        self._lock = threading.Lock()
        self._numbers = itertools.count()
        self._asked: dict[int, _Asked] = {}
        self._gone = False

    def do(self, step: Step) -> Outcome:
        """Asks the ranks and waits for their replies."""
        ranks = (step.rank,) if isinstance(step, Add) else step.ranks
        counter, amount = (PLACES[step.counter], 1) if isinstance(step, Add) else (PLACES["taken"], 0)
        asked, number = _Asked(ranks), next(self._numbers)
        with self._lock:
            if self._gone:
                raise Gone
            self._asked[number] = asked
        for rank in ranks:
            if rank == self._post.rank:
                self._replied(number, rank, self._add(counter, amount))
            else:
                self._post.send(rank, "add", number, counter, amount)
        asked.complete.wait()
        with self._lock:
            self._asked.pop(number, None)
        if asked.missing:
            raise Gone
        return tuple(asked.values[rank] for rank in ranks)

    def handle(self, source: int, message: Message) -> None:
        """Answers another rank, or takes its answer."""
        match message:
            case "add", number, counter, amount:
                self._post.send(source, "was", number, self._add(counter, amount))
            case "was", number, value:
                self._replied(number, source, value)

    def waiting(self) -> bool:
        """Tells whether any thread waits for a reply."""
        return bool(self._asked)

    def taken(self) -> int | None:
        """Gives this rank's own counter."""
        return self._mine[PLACES["taken"]]

    def give_up(self) -> None:
        """Lets the threads go that wait for replies."""
        with self._lock:
            self._gone = True
            for asked in self._asked.values():
                asked.complete.set()

    def _add(self, counter: int, amount: int) -> int:
        with self._lock:
            before = self._mine[counter]
            self._mine[counter] += amount
        return before

    def _replied(self, number: int, rank: int, value: int) -> None:
        with self._lock:
            asked = self._asked.get(number)
            if asked is not None:
                asked.values[rank] = value
                asked.missing.discard(rank)
                if not asked.missing:
                    asked.complete.set()


class WindowCounters:
    """The counters lie in memory that every rank reaches by itself, while their own rank is busy.

    The window stays locked, shared, for all of the batch: to lock it for each claim takes a hundred times as long.

    Args:
        ranks: The ranks; all make the window together.
    """

    def __init__(self, ranks: Together) -> None:
        self._lock = ranks.lock
        self._gone = False
        comm = ranks.comm
        self._window = MPI.Win.Allocate(8 * len(PLACES), 8, comm=comm)
        # Every counter must be 0 before any rank adds to one: the ranks meet after this.
        self._window.Lock(comm.rank)
        self._window.Put(array("q", [0] * len(PLACES)), comm.rank)
        self._window.Unlock(comm.rank)
        self._window.Lock_all(MPI.MODE_NOCHECK)

    def do(self, step: Step) -> Outcome:
        """Does it at once."""
        if isinstance(step, Add):
            return (self._fetch(step.rank, PLACES[step.counter], MPI.SUM),)
        return tuple(self._fetch(rank, PLACES["taken"], MPI.NO_OP) for rank in step.ranks)

    def handle(self, source: int, message: Message) -> None:
        """Nothing: no message is sent."""

    def waiting(self) -> bool:
        """Tells that nothing waits."""
        return False

    def taken(self) -> int | None:
        """Gives nothing: a window is not used where a rank may be lost."""
        return None

    def give_up(self) -> None:
        """Refuses further steps."""
        self._gone = True

    def close(self) -> None:
        """Gives the memory back; all ranks call it together."""
        with self._lock:
            self._window.Unlock_all()
            self._window.Free()

    def _fetch(self, rank: int, place: int, operation: MPI.Op) -> int:
        one, before = array("q", [1]), array("q", [0])
        with self._lock:
            # Asked under the lock: once given up, the window may be freed as soon as the lock is.
            if self._gone:
                raise Gone
            self._window.Fetch_and_op([one, MPI.INT64_T], [before, MPI.INT64_T], rank, place, operation)
            self._window.Flush(rank)
        return before[0]
