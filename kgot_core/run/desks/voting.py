"""Puts a ballot to a voter: what the voter does wrong costs its choice, never the run or the samples."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Sequence
from dataclasses import replace

from kgot_core.contracts.run import Run
from kgot_core.contracts.voter import NO_SAMPLE, Ballot, Choice, Vote, Voter
from kgot_core.errors import CapReached, ReplayDiverged
from kgot_core.events import Voted
from kgot_core.run.faults import said

# Samples that a voter may draw for each one of the ballot, those that cannot be read included.
MOST_DRAWN = 3


class Drawn:
    """The samples of a ballot, kept as they are drawn: whoever counts in the end begins with what was paid for.

    Args:
        ballot: The ballot.
    """

    def __init__(self, ballot: Ballot) -> None:
        self.votes: list[Vote] = []
        self.failure: Exception | None = None
        self._ballot = ballot
        self._turn = asyncio.Lock()

    async def draw(self, first: int, count: int) -> Sequence[Vote]:
        """Gives samples from number ``first`` on: those that were drawn already, then new ones.

        Raises:
            ValueError: There are no such samples, or more are asked for than a ballot may cost.
        """
        async with self._turn:
            if not 1 <= first <= len(self.votes) + 1 or count < 1:
                raise ValueError(f"draw({first}, {count}) after {len(self.votes)} samples")
            if first + count - 1 > MOST_DRAWN * self._ballot.size:
                raise ValueError(f"it asks for more than {MOST_DRAWN} times the {self._ballot.size} samples wanted")
            missing = first + count - 1 - len(self.votes)
            if missing > 0:
                try:
                    new = await self._ballot.draw(len(self.votes) + 1, missing)
                except Exception as error:
                    self.failure = error
                    raise
                self.votes += new[:missing] or [NO_SAMPLE]
            return self.votes[first - 1 : first - 1 + count]


async def put(run: Run, voter: Voter, ballot: Ballot) -> Choice:
    """Lets a voter choose; where it fails, or chooses what no sample is for, the majority of the samples counts.

    Args:
        run: The run at the stage that votes.
        voter: The stage's voter.
        ballot: What is voted on.

    Returns:
        The outcome, with the samples as they were drawn, whatever the voter said of them.
    """
    drawn = Drawn(ballot)
    try:
        choice = await voter.choose(run, replace(ballot, draw=drawn.draw))
        problem = _problem(choice, drawn.votes)
    except (ReplayDiverged, CapReached):
        raise
    except (Exception, SystemExit) as error:  # a voter is a plugin; its fault must not end the run
        problem = f"failed: {said(error)}"
    if drawn.failure is not None:  # the model's, whatever the voter made of it
        raise drawn.failure
    if not problem:
        return Choice.of(choice.key, drawn.votes, _share(choice.measured))
    run.notice(f"the voter {type(voter).__name__} on {ballot.stage} {problem}; the majority of the samples counts")
    if len(drawn.votes) < ballot.size:
        await drawn.draw(len(drawn.votes) + 1, ballot.size - len(drawn.votes))
    return Choice.of(ballot.leader(drawn.votes), drawn.votes)


def record(run: Run, ballot: Ballot, choice: Choice, shown: str | None = None) -> None:
    """Records how a ballot ended.

    Args:
        run: The run at the stage that votes.
        ballot: What was voted on.
        choice: The outcome.
        shown: The choice in words, where it is not its key.
    """
    run.emit(
        Voted(
            stage=ballot.stage,
            choice=shown or choice.key or "",
            counts=dict(choice.counts),
            unreadable=sum(vote.key is None for vote in choice.votes),
            reasons=tuple(dict.fromkeys(vote.reason for vote in choice.votes if vote.reason)),
            agreement=round(choice.agreement, 4),
            spared=max(0, ballot.size - len(choice.votes)),
        )
    )


def _problem(choice: object, votes: Sequence[Vote]) -> str:
    """Tells what is wrong with what a voter gave; empty where it may stand."""
    if not isinstance(choice, Choice):
        return f"gave a {type(choice).__name__}, which is no choice"
    readable = [vote.key for vote in votes if vote.key is not None]
    if choice.key in readable or (choice.key is None and votes and not readable):
        return ""
    return f"chose {choice.key!r:.80}, which no sample is for"


def _share(measured: object) -> float | None:
    """Gives a measure of agreement within its range; ``None`` for what is no number."""
    if not isinstance(measured, int | float) or not math.isfinite(measured):
        return None
    return min(1.0, max(0.0, float(measured)))
