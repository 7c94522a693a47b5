"""Which rank holds which tasks at first, and how their ends are counted. Pure: every rank works out the same."""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence

CHILDREN = 16
"""How many ranks report to one: a tree of 1,000 ranks is three levels high."""


def longest_first(ids: Sequence[str], estimates: Mapping[str, float]) -> Sequence[int]:
    """Orders tasks by what is expected of them; those of which nothing is known count as average ones.

    Args:
        ids: Ids of the tasks.
        estimates: Expected seconds by id.

    Returns:
        Places in ``ids``, the longest task first.
    """
    known = [estimates[name] for name in ids if name in estimates]
    usual = sum(known) / len(known) if known else 0.0
    return array("q", sorted(range(len(ids)), key=lambda index: -estimates.get(ids[index], usual)))


class Deal:
    """Tasks dealt out like cards, the longest first, so that each rank's queue is longest first as well.

    No queue is stored: the task at a place of a queue follows from the order, which takes 8 bytes a task.

    Args:
        order: Tasks that no rank has begun, as indexes, the longest first.
        ranks: How many ranks there are.
        running: How many tasks each rank already runs; none where empty.
    """

    def __init__(self, order: Sequence[int], ranks: int, running: Sequence[int] = ()) -> None:
        self.ranks = ranks
        self._order = order
        self._awaited = array("q", (self.size(rank) for rank in range(ranks)))
        for rank, count in enumerate(running):
            self._awaited[rank] += count
        # From the leaves up: whether anything is awaited below a rank.
        for rank in range(ranks - 1, 0, -1):
            if self._awaited[rank]:
                self._awaited[self.parent(rank)] += 1
        self.tasks = len(order) + sum(running)

    def size(self, owner: int) -> int:
        """Gives how many tasks a rank was dealt."""
        return (len(self._order) - owner + self.ranks - 1) // self.ranks

    def task(self, owner: int, place: int) -> int:
        """Gives the task at a place of a rank's queue, both counted from 0."""
        return self._order[place * self.ranks + owner]

    def awaited(self, rank: int) -> int:
        """Gives how many ends are counted at a rank: those of its tasks, and one for each child that awaits any."""
        return self._awaited[rank]

    def parent(self, rank: int) -> int:
        """Gives the rank at which it is counted that all below this one has ended; not for rank 0."""
        return (rank - 1) // CHILDREN

    def children(self, rank: int) -> range:
        """Gives the ranks to which this one hands on what all have to know."""
        first = rank * CHILDREN + 1
        return range(min(first, self.ranks), min(first + CHILDREN, self.ranks))
