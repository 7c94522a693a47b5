"""How several samples become one choice (paper, sections 3.5 and B.2)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kgot_core.contracts.run import Run


@dataclass(frozen=True)
class Vote:
    """One sample, read.

    Attributes:
        key: What it is for; ``None`` where the sample could not be read.
        reason: Why, in the model's words.
        payload: What came with it: a query, an answer, tool calls.
        text: What it says, as text: for voters that compare samples or let a model judge them.
    """

    key: str | None
    reason: str = ""
    payload: Any = None
    text: str = ""


NO_SAMPLE = Vote(None, "the reply held no sample")
"""Stands for a sample that never came, so that drawing ends."""


@dataclass(frozen=True)
class Ballot:
    """One question put to several samples.

    Attributes:
        stage: ``decide``, ``choose_tools``, ``parse`` or ``final``.
        size: Samples wanted, at least 1.
        draw: ``draw(first, count)`` asks for ``count`` samples more, of which ``first`` is the number of the
            first (so that a repeated run asks the same); an unreadable sample has the key ``None``.
        tie: The key that wins a tie; ``None`` lets the earliest of the leading keys win.
        at_once: The model answers several samples in one request, so that asking one by one saves nothing; or all are
            wanted, for how far they agree.
        redraw: Samples that cannot be read are drawn again; otherwise the stage has a better way to mend them.
        basis: What the samples were made from besides the task, for a voter that asks a model.
        with_state: They were made from the graph as it is, too.
    """

    stage: str
    size: int
    draw: Callable[[int, int], Awaitable[Sequence[Vote]]]
    tie: str | None = None
    at_once: bool = True
    redraw: bool = True
    basis: str = ""
    with_state: bool = False

    def leader(self, votes: Sequence[Vote]) -> str | None:
        """Gives the key that most samples are for, ties as the ballot says; ``None`` where none can be read."""
        counts = count(votes)
        most = max(counts.values(), default=0)
        leading = [key for key, number in counts.items() if number == most]
        return self.tie if self.tie in leading else next(iter(leading), None)


@dataclass(frozen=True)
class Choice:
    """The outcome of a ballot.

    Attributes:
        key: The winner; ``None`` where no sample could be read.
        votes: All samples drawn, in order.
        counts: Readable samples for each key.
        measured: Agreement of the samples where the voter has a measure of its own, 0 to 1.
    """

    key: str | None
    votes: tuple[Vote, ...] = ()
    counts: Mapping[str, int] = field(default_factory=dict)
    measured: float | None = None

    @classmethod
    def of(cls, key: str | None, votes: Sequence[Vote], measured: float | None = None) -> Choice:
        """Makes the outcome that a key wins, with the samples counted."""
        return cls(key, tuple(votes), count(votes), measured)

    @property
    def agreement(self) -> float:
        """How far the samples agree, 0 to 1: as measured, else the share of the readable ones for the winner."""
        if self.measured is not None:
            return self.measured
        total = sum(self.counts.values())
        return self.counts.get(self.key or "", 0) / total if total else 0.0

    def supporting(self) -> tuple[Vote, ...]:
        """The votes for the winner, in order."""
        return tuple(vote for vote in self.votes if vote.key is not None and vote.key == self.key)


class Voter(ABC):
    """Draws samples and chooses. What it asks itself goes through the run, so that a repeated run need not ask."""

    @abstractmethod
    async def choose(self, run: Run, ballot: Ballot) -> Choice:
        """Draws from the ballot as many samples as it needs, and gives the outcome.

        The outcome may depend on nothing but the samples in the order in which they were asked for. Where a voter
        raises, or chooses what was not on the ballot, the majority of what it drew counts, and a notice says why.
        """


def count(votes: Sequence[Vote]) -> dict[str, int]:
    """Counts the readable samples for each key, the earliest key first."""
    return dict(Counter(vote.key for vote in votes if vote.key is not None))
