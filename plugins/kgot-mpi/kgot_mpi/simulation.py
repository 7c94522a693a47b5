"""Plays a batch in simulated time: the stealing of :mod:`kgot_mpi.stealing` with ranks and a network that do not exist.

For tests over thousands of schedules, and to see beforehand how a batch would go on more ranks than are at hand.
"""

from __future__ import annotations

import heapq
import random
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from kgot_mpi.deal import Deal
from kgot_mpi.recovery import redealt
from kgot_mpi.stealing import Add, Claim, Stealing, Step


@dataclass
class Played:
    """What a simulated batch came to.

    Attributes:
        makespan: Simulated seconds until it was counted that the last task had ended.
        started: Ranks that started each task, by task; one rank each where no rank was lost.
        ended: Tasks that ended on ranks that are left.
        messages: Requests between ranks; each has a reply.
        steals: Tasks taken from another rank's queue.
        idle: Simulated seconds that each claim from another rank took, summed.
        over: Whether the end was counted.
        busy: Simulated seconds of all tasks.
    """

    makespan: float = 0.0
    started: defaultdict[int, list[int]] = field(default_factory=lambda: defaultdict(list))
    ended: set[int] = field(default_factory=set)
    messages: int = 0
    steals: int = 0
    idle: float = 0.0
    over: bool = False
    busy: float = 0.0


class Simulation:
    """Ranks with ``jobs`` workers each.

    Args:
        order: Indexes of the tasks, the longest first.
        durations: Simulated seconds of each task.
        ranks: How many ranks there are.
        jobs: Tasks at once on a rank.
        latency: Simulated seconds of one way between ranks, at most; each way takes a random part of it.
        deaths: When which ranks die, by rank.
        notices: Simulated seconds until the others notice a death.
        seed: Of all randomness.
    """

    def __init__(
        self,
        order: Sequence[int],
        durations: Sequence[float],
        ranks: int,
        *,
        jobs: int = 1,
        latency: float = 0.0,
        deaths: Mapping[int, float] | None = None,
        notices: float = 0.01,
        seed: int = 0,
    ) -> None:
        self._order, self._durations, self._jobs = order, durations, jobs
        self._latency, self._notices, self._seed = latency, notices, seed
        self._random = random.Random(seed)
        self._events: list[tuple[float, int, Any, Any]] = []
        self._sequence = 0
        self._alive = list(range(ranks))
        self._done: dict[int, set[int]] = defaultdict(set)
        self._hands: dict[int, set[int]] = defaultdict(set)
        self._deaths = dict(deaths or {})
        self.played = Played()

    def play(self) -> Played:
        """Plays the batch to its end."""
        for rank, when in self._deaths.items():
            self._at(when, self._die, rank)
        self._begin(0.0, Deal(self._order, len(self._alive)))
        for rank in self._alive:
            for _ in range(self._jobs):
                self._claim(0.0, (self._epoch, rank))
        while self._events and not self.played.over:
            now, _, act, what = heapq.heappop(self._events)
            act(now, what)
        return self.played

    @property
    def left(self) -> set[int]:
        """The ranks that none of the others knows to be lost: what they have done counts."""
        return set(self._alive)

    def _at(self, when: float, act: Any, what: Any) -> None:
        self._sequence += 1
        heapq.heappush(self._events, (when, self._sequence, act, what))

    def _begin(self, now: float, deal: Deal) -> None:
        """Begins an epoch: the time between two losses of ranks."""
        self._epoch = deal
        self._counters = {"taken": [0] * deal.ranks, "ended": [0] * deal.ranks}
        self._place = {rank: place for place, rank in enumerate(self._alive)}
        self._thieves = [Stealing(deal, place, self._seed) for place in range(deal.ranks)]
        if not deal.tasks:
            self._end(now)

    def _end(self, now: float) -> None:
        self.played.over, self.played.makespan = True, now
        self.played.ended = set().union(*(self._done[rank] for rank in self._alive))

    def _claim(self, now: float, worker: tuple[Deal, int]) -> None:
        epoch, rank = worker
        if epoch is self._epoch and rank in self._place:
            self._run(now, epoch, rank, self._thieves[self._place[rank]].claim(), None, now)

    def _run(self, now: float, epoch: Deal, rank: int, steps: Any, value: Any, since: float) -> None:
        """Runs a generator until it has to wait for another rank, or is at its end."""
        while True:
            try:
                step: Step = steps.send(value)
            except StopIteration as end:
                self._finished(now, rank, end.value, since)
                return
            asked = (step.rank,) if isinstance(step, Add) else step.ranks
            if asked == (self._place[rank],):
                value = self._answer(step)
                continue
            self.played.messages += len(asked)
            arrives = now + self._latency * self._random.random()
            self._at(arrives, self._arrived, (epoch, rank, steps, step, since))
            return

    def _arrived(self, now: float, call: Any) -> None:
        epoch, rank, steps, step, since = call
        if epoch is self._epoch:
            back = now + self._latency * self._random.random()
            self._at(back, self._answered, (epoch, rank, steps, self._answer(step), since))

    def _answered(self, now: float, call: Any) -> None:
        epoch, rank, steps, value, since = call
        if epoch is self._epoch and rank in self._place:
            self._run(now, epoch, rank, steps, value, since)

    def _answer(self, step: Step) -> tuple[int, ...]:
        if isinstance(step, Add):
            counters = self._counters[step.counter]
            counters[step.rank] += 1
            return (counters[step.rank] - 1,)
        return tuple(self._counters["taken"][rank] for rank in step.ranks)

    def _finished(self, now: float, rank: int, outcome: Claim | bool | None, since: float) -> None:
        if isinstance(outcome, Claim):
            self.played.started[outcome.task].append(rank)
            if outcome.owner != self._place[rank]:
                self.played.steals += 1
                self.played.idle += now - since
            self._hands[rank].add(outcome.task)
            self.played.busy += self._durations[outcome.task]
            self._at(now + self._durations[outcome.task], self._task_ended, (rank, outcome, self._epoch))
        elif outcome is True:
            self._end(now)

    def _task_ended(self, now: float, what: tuple[int, Claim, Deal]) -> None:
        rank, claim, begun = what
        if rank not in self._place:
            return
        self._hands[rank].discard(claim.task)
        self._done[rank].add(claim.task)
        # A task that was begun before a loss is counted where it runs.
        place = self._place[rank]
        owner = claim.owner if begun is self._epoch else place
        self._run(now, self._epoch, rank, self._thieves[place].end(owner), None, now)
        self._claim(now, (self._epoch, rank))

    def _die(self, now: float, rank: int) -> None:
        if rank in self._place and len(self._place) > 1:
            del self._place[rank]
            self._at(now + self._notices, self._noticed, None)

    def _noticed(self, now: float, what: None) -> None:
        self._alive = [rank for rank in self._alive if rank in self._place]
        deal = redealt(
            self._order, [self._done[rank] for rank in self._alive], [self._hands[rank] for rank in self._alive]
        )
        self._begin(now, deal)
        for rank in self._alive:
            for _ in range(self._jobs - len(self._hands[rank])):
                self._claim(now, (deal, rank))
