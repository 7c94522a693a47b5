"""What is left to do when ranks were lost. Pure: every rank that is left works out the same."""

from __future__ import annotations

from array import array
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from kgot_mpi.deal import Deal


@dataclass(frozen=True)
class Remains:
    """What one of the ranks that are left tells the others.

    Attributes:
        rank: The rank, as it was numbered at the start.
        taken: How many tasks were taken from its queue.
        ended: Tasks that have ended there.
        running: Tasks that run there.
    """

    rank: int
    taken: int
    ended: Collection[int]
    running: Collection[int]


def redealt(order: Sequence[int], ended: Sequence[Collection[int]], running: Sequence[Collection[int]]) -> Deal:
    """Deals anew what the ranks that are left neither have done nor are doing.

    Tasks that a lost rank had done are among it: who gets one finds its answer in the task's folder.

    Args:
        order: Indexes of all tasks, the longest first.
        ended: Tasks that have ended, for each rank that is left.
        running: Tasks that run, for each rank that is left.

    Returns:
        The deal among those ranks.
    """
    kept = set().union(*ended, *running)
    return Deal(array("q", (task for task in order if task not in kept)), len(ended), [len(tasks) for tasks in running])
