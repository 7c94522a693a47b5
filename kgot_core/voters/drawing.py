"""Draws samples as a ballot allows."""

from __future__ import annotations

from collections.abc import Sequence

from kgot_core.contracts.voter import NO_SAMPLE, Ballot, Vote


async def draw_more(ballot: Ballot, votes: Sequence[Vote], wanted: int) -> list[Vote]:
    """Gives the samples with ``wanted`` more; one that never came counts as unreadable, so that drawing ends."""
    return [*votes, *(await ballot.draw(len(votes) + 1, wanted) or [NO_SAMPLE])]


def again(ballot: Ballot, votes: Sequence[Vote]) -> int:
    """Tells how many samples may be drawn beyond the ballot's size: as many as could not be read at first."""
    return sum(vote.key is None for vote in votes[: ballot.size]) if ballot.redraw else 0


async def draw_all(ballot: Ballot) -> list[Vote]:
    """Draws all samples of a ballot; those that cannot be read are drawn again once, then left out."""
    votes: list[Vote] = []
    while (wanted := ballot.size + again(ballot, votes) - len(votes)) > 0:
        votes = await draw_more(ballot, votes, wanted)
    return votes
