"""Self-consistency: the choice that most samples are for (paper, B.2)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from kgot_core.contracts.run import Run
from kgot_core.contracts.voter import Ballot, Choice, Vote, Voter


class MajorityVoter(Voter):
    """Draws until the majority of the ballot's size is certain.

    Where several samples come with one request, all are drawn at once. Elsewhere those that a majority needs at least
    are asked side by side, the rest one after another. Samples that cannot be read are drawn again once, then left out.
    """

    async def choose(self, run: Run, ballot: Ballot) -> Choice:
        """Draws samples and counts them."""
        votes: list[Vote] = []
        while True:
            again = sum(vote.key is None for vote in votes[: ballot.size])
            wanted = min(_open_samples(votes, ballot), ballot.size + again - len(votes))
            if wanted <= 0:
                return _choice(votes, ballot)
            if not ballot.at_once:
                least = ballot.size // 2 + 1
                wanted = min(wanted, least - len(votes) if len(votes) < least else 1)
            new = await ballot.draw(len(votes) + 1, wanted)
            votes += new or [Vote(None, "the reply held no sample")]


def _open_samples(votes: Sequence[Vote], ballot: Ballot) -> int:
    """Samples of the ballot that are still open; 0 where they cannot change the outcome any more."""
    counts = Counter(vote.key for vote in votes if vote.key is not None)
    left = ballot.size - sum(counts.values())
    if not counts or left <= 0:
        return max(left, 0)
    leader, most = _leader(votes, ballot)
    second = max((count for key, count in counts.items() if key != leader), default=0)
    if most > second + left or (most == second + left and ballot.tie == leader):
        return 0
    return left


def _leader(votes: Sequence[Vote], ballot: Ballot) -> tuple[str, int]:
    counts = Counter(vote.key for vote in votes if vote.key is not None)
    most = max(counts.values())
    leading = [key for key, count in counts.items() if count == most]
    if len(leading) > 1 and ballot.tie in leading:
        return str(ballot.tie), most
    return leading[0], most


def _choice(votes: Sequence[Vote], ballot: Ballot) -> Choice:
    counts = Counter(vote.key for vote in votes if vote.key is not None)
    key = _leader(votes, ballot)[0] if counts else None
    return Choice(key, tuple(votes), dict(counts))
