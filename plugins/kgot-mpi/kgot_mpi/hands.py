"""What this rank has in hand: shared by its workers, which change it, and its monitor, which watches it."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Literal, TypeAlias

from kgot_mpi.counters import Counters
from kgot_mpi.deal import Deal
from kgot_mpi.post import Post
from kgot_mpi.stealing import Claim, Stealing

Ending: TypeAlias = Literal["", "ended", "stopped", "stuck"]


@dataclass(frozen=True)
class Epoch:
    """The time between two losses of ranks: within it nothing but counters changes.

    Attributes:
        number: 0 at the start, one more after each loss.
        deal: Who was dealt what.
        stealing: What this rank knows of all queues.
        counters: The counters of all ranks.
        post: Messages among the ranks.
        members: The ranks that are there, as they were numbered at the start.
        doubtful: Tasks that a lost rank may have begun, and the rank.
    """

    number: int
    deal: Deal
    stealing: Stealing
    counters: Counters
    post: Post
    members: tuple[int, ...]
    doubtful: dict[int, int]


class Hands:
    """The tasks of this rank, and how far the batch is."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._epoch: Epoch | None = None
        self._number = 0
        self._running: dict[int, tuple[int, int]] = {}
        self._ended: set[int] = set()
        self._left = False
        self.ending: Ending = ""
        self.changes = 0

    @property
    def running(self) -> tuple[int, ...]:
        """Indexes of the tasks that run."""
        with self._changed:
            return tuple(self._running)

    @property
    def number(self) -> int:
        """The number of this epoch, or of the next one where it is not known yet."""
        return self._number

    def begin(self, epoch: Epoch) -> None:
        """Begins an epoch; who waits for one goes on."""
        with self._changed:
            self._epoch, self._number = epoch, epoch.number
            self._changed.notify_all()

    def freeze(self) -> tuple[set[int], list[int]]:
        """Ends an epoch before the next is known: what is claimed in it from now on is void.

        Returns:
            The tasks that have ended here, and those that run.
        """
        with self._changed:
            if self._epoch is not None:
                self._epoch.counters.give_up()
            self._epoch = None
            self._number += 1
            return set(self._ended), list(self._running)

    def end(self, ending: Ending) -> None:
        """Lets no further task start; an empty ending takes that back."""
        with self._changed:
            self.ending = ending
            if ending and self._epoch is not None:
                self._epoch.counters.give_up()
            self._changed.notify_all()

    def leave(self) -> None:
        """Sends the workers home."""
        with self._changed:
            self._left = True
            if self._epoch is not None:
                self._epoch.counters.give_up()
            self._changed.notify_all()

    def epoch_to_claim_in(self, exhausted: Epoch | None) -> Epoch | None:
        """Waits for an epoch in which tasks may be left.

        Args:
            exhausted: One in which none is.

        Returns:
            The epoch, or ``None`` where the worker may go home.
        """
        with self._changed:
            self._changed.wait_for(lambda: self._left or (self._epoch not in (None, exhausted) and not self.ending))
            return None if self._left else self._epoch

    def take(self, claim: Claim, epoch: Epoch) -> bool:
        """Notes that a claimed task starts; not so where the claim is void."""
        with self._changed:
            if epoch is not self._epoch or self.ending or self._left:
                return False
            self._running[claim.task] = (claim.owner, epoch.number)
            self.changes += 1
            return True

    def put_down(self, task: int) -> tuple[Epoch, int] | None:
        """Notes that a task has ended, and tells where that is to be counted.

        Returns:
            The epoch, and the rank in it at which the end counts; ``None`` where it is known without.
        """
        with self._changed:
            owner, claimed = self._running.pop(task)
            self._ended.add(task)
            self.changes += 1
            # What has ended before a freeze is part of what the ranks tell each other after it.
            number = self._number
            self._changed.wait_for(lambda: self._epoch is not None or self._left)
            epoch = self._epoch
            if epoch is None or self._left or epoch.number != number:
                return None
            return epoch, owner if claimed == number else epoch.post.rank
