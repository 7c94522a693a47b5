"""Ballots over given samples, for the tests of voters."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

from kgot_core.contracts.voter import Ballot, Choice, Vote, Voter
from kgot_core.testing.runs import Ended, Setting, try_in_run


def ballot(
    votes: Sequence[Vote | str | None], size: int, *, tie: str | None = None, stage: str = "decide", **more: Any
) -> tuple[Ballot, list[int]]:
    """A ballot over given samples, and how many were drawn each time."""
    drawn: list[int] = []
    samples = iter([vote if isinstance(vote, Vote) else Vote(vote) for vote in votes])

    async def draw(first: int, count: int) -> Sequence[Vote]:
        assert first == sum(drawn) + 1
        drawn.append(count)
        return list(itertools.islice(samples, count))

    return Ballot(stage, size, draw, tie, **more), drawn


def put(
    voter: Voter, votes: Sequence[Vote | str | None], size: int, script: Any = None, **more: Any
) -> tuple[Choice, list[int], Ended[Choice]]:
    """Puts samples to a voter in a real run whose model says what the script does."""
    asked, drawn = ballot(votes, size, **more)
    ended = try_in_run(lambda run: voter.choose(run, asked), Setting(script=script or (lambda request: "I pass.")))
    return ended.result, drawn, ended
