"""The communicators of a batch: made at its start, and anew among those that are left when ranks were lost."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from kgot_core.contracts.scheduler import Batch, ScheduleNote
from kgot_mpi.counters import Counters, MessageCounters, WindowCounters
from kgot_mpi.deal import Deal, longest_first
from kgot_mpi.hands import Epoch, Hands
from kgot_mpi.post import Post
from kgot_mpi.recovery import Remains, redealt
from kgot_mpi.stealing import Stealing
from kgot_mpi.together import Lost, Together

T = TypeVar("T")


class Epochs:
    """Deals the tasks of a batch.

    Args:
        batch: The batch.
        rank: This rank, as it is numbered in records.
        ranks: The ranks; with messages for this batch alone.
        one_sided: Whether counters are reached through windows.
    """

    current: Epoch

    def __init__(self, batch: Batch, rank: int, ranks: Together, *, one_sided: bool) -> None:
        self.ranks = ranks
        self._batch = batch
        self._rank = rank
        self._one_sided = one_sided
        self._order = longest_first([task.id for task in batch.tasks], batch.estimates)

    def open(self, hands: Hands) -> None:
        """Deals the tasks; all ranks call it together."""
        members = self._gathered(lambda: self._rank)
        self._begin(hands, Deal(self._order, len(members)), tuple(members), {})

    def met(self) -> bool:
        """Waits until all ranks are at the end of the batch, and gives back what it took.

        Raises:
            Lost: A rank is gone.
        """
        self.ranks.meet()
        if isinstance(self.current.counters, WindowCounters):
            self.current.counters.close()
        return True

    def recover(self, hands: Hands) -> None:
        """Deals anew what is left among the ranks that are left; they all come here once one of them sees the loss."""
        before = self.current
        self.ranks = self.ranks.left()
        remains = self._gathered(lambda: Remains(self._rank, before.counters.taken() or 0, *hands.freeze()))
        members = tuple(each.rank for each in remains)
        lost = [member for member in before.members if member not in members]
        deal = redealt(self._order, [each.ended for each in remains], [each.running for each in remains])
        if self.ranks.comm.rank == 0:
            for member in lost:
                self._batch.note(ScheduleNote("lost", self._rank, peer=member))
        self._begin(hands, deal, members, _doubtful(before, remains, lost))

    def _gathered(self, mine: Callable[[], T]) -> list[T]:
        """Gives what each rank says, where need be once more among those that are left."""
        while True:
            try:
                return self.ranks.gather(mine())
            except Lost:
                if not self.ranks.survives:
                    raise
                self.ranks = self.ranks.left()

    def _begin(self, hands: Hands, deal: Deal, members: tuple[int, ...], doubtful: dict[int, int]) -> None:
        post = Post(self.ranks)
        counters: Counters = MessageCounters(post)
        if self._one_sided and len(members) > 1:
            counters = WindowCounters(self.ranks)
            self.ranks.meet()
        place = post.rank
        self.current = Epoch(hands.number, deal, Stealing(deal, place), counters, post, members, doubtful)
        self._batch.note(ScheduleNote("dealt", self._rank, count=deal.size(place)))
        hands.begin(self.current)


def _doubtful(before: Epoch, remains: Sequence[Remains], lost: Sequence[int]) -> dict[int, int]:
    """Finds what the lost ranks may have begun: what was claimed and nobody has, and all of their own queues."""
    taken = {each.rank: each.taken for each in remains}
    known = set[int]().union(*(each.ended for each in remains), *(each.running for each in remains))
    doubtful: dict[int, int] = {}
    for place, member in enumerate(before.members):
        claimed = taken.get(member, before.deal.size(place))
        for task in (before.deal.task(place, at) for at in range(min(claimed, before.deal.size(place)))):
            if task not in known:
                doubtful[task] = member if member in lost else lost[0]
    return doubtful
