"""How several samples become one choice (paper, sections 3.5 and B.2)."""

from __future__ import annotations

from abc import ABC, abstractmethod
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
    """

    key: str | None
    reason: str = ""
    payload: Any = None


@dataclass(frozen=True)
class Ballot:
    """One question put to several samples.

    Attributes:
        stage: ``decide``, ``choose_tools``, ``parse`` or ``final``.
        size: Samples wanted, at least 1.
        draw: ``draw(first, count)`` asks for ``count`` samples more, of which ``first`` is the number of the
            first (so that a repeated run asks the same); an unreadable sample has the key ``None``.
        tie: The key that wins a tie; ``None`` lets the earliest of the leading keys win.
        at_once: The model answers several samples in one request, so that asking one by one saves nothing.
    """

    stage: str
    size: int
    draw: Callable[[int, int], Awaitable[Sequence[Vote]]]
    tie: str | None = None
    at_once: bool = True


@dataclass(frozen=True)
class Choice:
    """The outcome of a ballot.

    Attributes:
        key: The winner; ``None`` where no sample could be read.
        votes: All samples drawn, in order.
        counts: Readable samples for each key.
    """

    key: str | None
    votes: tuple[Vote, ...] = ()
    counts: Mapping[str, int] = field(default_factory=dict)

    @property
    def agreement(self) -> float:
        """Share of the readable samples that are for the winner, 0 to 1."""
        total = sum(self.counts.values())
        return self.counts.get(self.key or "", 0) / total if total else 0.0

    def supporting(self) -> tuple[Vote, ...]:
        """The votes for the winner, in order."""
        return tuple(vote for vote in self.votes if vote.key is not None and vote.key == self.key)


class Voter(ABC):
    """Draws samples and chooses."""

    @abstractmethod
    async def choose(self, run: Run, ballot: Ballot) -> Choice:
        """Draws from the ballot as many samples as it needs, and gives the outcome."""
