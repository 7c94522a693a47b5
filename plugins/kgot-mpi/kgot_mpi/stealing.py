"""Work stealing, as the paper's section B.5 describes it: peer to peer, without a master, one task at a time.

Each rank's queue is the tasks that it was dealt and a counter of those that were taken. Adding one to the counter
claims the task at the place that the counter gave, so each task is claimed once, whoever asks and in whatever order. A
rank takes from its own queue until that is empty, then from the rank with the most left.

Nothing here sends anything. The generators yield what is to be done with the counters of some rank and are sent the
outcome; so the same code runs over MPI and in simulated time.
"""

from __future__ import annotations

import heapq
import random
import threading
from array import array
from collections.abc import Generator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from kgot_mpi.deal import Deal

Counter: TypeAlias = Literal["taken", "ended"]
LOOKS = 8
"""How many queues are looked at side by side before one is stolen from."""


@dataclass(frozen=True)
class Add:
    """Adds one to a counter of a rank; the outcome is what it was before."""

    counter: Counter
    rank: int


@dataclass(frozen=True)
class Look:
    """Reads how many tasks were taken from the queues of some ranks; the outcomes in that order."""

    ranks: tuple[int, ...]


@dataclass(frozen=True)
class Claim:
    """A claimed task.

    Attributes:
        task: Index of the task.
        owner: The rank in whose queue it was.
    """

    task: int
    owner: int


Step: TypeAlias = Add | Look
Outcome: TypeAlias = tuple[int, ...]
Claiming: TypeAlias = Generator[Step, Outcome, Claim | None]
Counting: TypeAlias = Generator[Step, Outcome, bool]


class Stealing:
    """What one rank knows of all queues, and what it does next.

    The counters only grow, so an old reading says that at most so much is left, and an empty queue stays empty.

    Args:
        deal: The deal, the same on all ranks.
        rank: This rank.
        seed: Breaks ties, so that ranks that run dry together do not all ask the same one.
    """

    def __init__(self, deal: Deal, rank: int, seed: int = 0) -> None:
        self._deal = deal
        self._rank = rank
        self._taken = array("q", bytes(8 * deal.ranks))
        self._random = random.Random(seed * deal.ranks + rank)
        self._lock = threading.Lock()
        self._queues: list[tuple[int, float, int]] | None = None

    def claim(self) -> Claiming:
        """Claims a task; the end of the generator is the claim, or ``None`` where no task is left anywhere."""
        while True:
            owner = self._rank
            if self._left(owner) <= 0:
                candidates, others = self._fullest()
                if not candidates:
                    return None
                for peer, taken in zip(candidates, (yield Look(candidates)), strict=True):
                    self._learn(peer, taken)
                owner = max(candidates, key=self._left)
                # One that holds far less than another may hold is not the fullest: that one is looked at first.
                if self._left(owner) <= 0 or self._left(owner) * 2 < others:
                    continue
            (place,) = yield Add("taken", owner)
            self._learn(owner, place + 1)
            if place < self._deal.size(owner):
                return Claim(self._deal.task(owner, place), owner)

    def end(self, owner: int) -> Counting:
        """Counts a task as ended; the end of the generator tells whether it was the last one of the batch.

        Args:
            owner: The rank that it was dealt to.
        """
        while True:
            (before,) = yield Add("ended", owner)
            if before + 1 < self._deal.awaited(owner):
                return False
            if owner == 0:
                return True
            owner = self._deal.parent(owner)

    def _left(self, owner: int) -> int:
        return self._deal.size(owner) - self._taken[owner]

    def _learn(self, owner: int, taken: int) -> None:
        # Threads of one rank may bring readings in any order.
        with self._lock:
            self._taken[owner] = max(self._taken[owner], taken)

    def _fullest(self) -> tuple[tuple[int, ...], int]:
        """Gives the ranks that may have the most left, ties in random order, and the most that any other may have."""
        with self._lock:
            if self._queues is None:
                owners = range(self._deal.ranks)
                self._queues = [(-self._left(owner), self._random.random(), owner) for owner in owners]
                heapq.heapify(self._queues)
            found: list[tuple[int, float, int]] = []
            while self._queues and len(found) <= LOOKS:
                queue = heapq.heappop(self._queues)
                left = self._left(queue[2])
                if left == -queue[0] > 0:
                    found.append(queue)
                elif left > 0:
                    heapq.heappush(self._queues, (-left, queue[1], queue[2]))
            for queue in found:
                heapq.heappush(self._queues, queue)
        return tuple(owner for _, _, owner in found[:LOOKS]), -found[LOOKS][0] if len(found) > LOOKS else 0
