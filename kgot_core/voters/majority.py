"""Self-consistency: the choice that most samples are for (paper, B.2)."""

from __future__ import annotations

from collections.abc import Sequence

from kgot_core.contracts.run import Run
from kgot_core.contracts.voter import Ballot, Choice, Vote, Voter, count
from kgot_core.voters.drawing import again, draw_more


class MajorityVoter(Voter):
    """Draws until the majority of the ballot's size is certain.

    Where several samples come with one request, all are drawn at once. Elsewhere those that a majority needs at least
    are asked side by side, the rest one after another. Samples that cannot be read are drawn again once, then left out.
    """

    async def choose(self, run: Run, ballot: Ballot) -> Choice:
        """Draws samples and counts them."""
        votes: list[Vote] = []
        while True:
            wanted = min(_open_samples(votes, ballot), ballot.size + again(ballot, votes) - len(votes))
            if wanted <= 0:
                return Choice.of(ballot.leader(votes), votes)
            if not ballot.at_once:
                least = ballot.size // 2 + 1
                wanted = min(wanted, least - len(votes) if len(votes) < least else 1)
            votes = await draw_more(ballot, votes, wanted)


def _open_samples(votes: Sequence[Vote], ballot: Ballot) -> int:
    """Samples of the ballot that are still open; 0 where they cannot change the outcome any more."""
    counts = count(votes)
    left = ballot.size - sum(counts.values())
    leader = ballot.leader(votes)
    if leader is None or left <= 0:
        return max(left, 0)
    most = counts.pop(leader)
    second = max(counts.values(), default=0)
    if most > second + left or (most == second + left and ballot.tie == leader):
        return 0
    return left
