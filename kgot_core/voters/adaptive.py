"""Adaptive consistency: no more samples than the outcome needs.

It stops like adaptive consistency (Aggarwal and others, 2023): how the two leading keys share the samples that are to
come follows their Beta posterior. What is asked here is whether the leader would still lead after all of the ballot.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import comb

from kgot_core.contracts.run import Run
from kgot_core.contracts.voter import Ballot, Choice, Vote, Voter, count
from kgot_core.voters.drawing import draw_more


class AdaptiveVoter(Voter):
    """Draws until it is sure enough how all samples of the ballot would choose; never more than the ballot's size.

    Each step asks for as few samples as could make it sure, in one request where the server takes several. A sample
    that cannot be read is not drawn again.

    Args:
        confidence: The probability that is sure enough; 1 stops at a certain majority.
    """

    def __init__(self, confidence: float) -> None:
        self._confidence = Fraction(str(confidence))

    async def choose(self, run: Run, ballot: Ballot) -> Choice:
        """Draws samples and counts them."""
        votes: list[Vote] = []
        while wanted := self._wanted(votes, ballot):
            votes = await draw_more(ballot, votes, wanted)
        return Choice.of(ballot.leader(votes), votes)

    def _wanted(self, votes: Sequence[Vote], ballot: Ballot) -> int:
        """Gives the least number of samples that could make it sure, if all were for the leader; 0 where it is."""
        left = max(0, ballot.size - len(votes))
        leader = ballot.leader(votes)
        counts = count(votes)
        first = counts.pop(leader) if leader is not None else 0
        second = max(counts.values(), default=0)
        wins_ties = ballot.tie == leader and leader is not None
        for more in range(0 if leader is not None else 1, left):
            if stays_ahead(first + more, second, left - more, wins_ties=wins_ties) >= self._confidence:
                return more
        return left


def stays_ahead(first: int, second: int, left: int, *, wins_ties: bool = False) -> Fraction:
    """Gives the probability that the leader leads after all samples, exactly.

    Of the samples that are left each is for one of the two; how many is distributed as Beta-binomial, from a uniform
    prior and what was seen.

    Args:
        first: Samples for the leader.
        second: Samples for the runner-up.
        left: Samples that are still to come.
        wins_ties: A tie is the leader's.
    """
    ways = comb(first + second + left + 1, left)
    ahead = [for_first for for_first in range(left + 1) if first + for_first + wins_ties > second + left - for_first]
    return Fraction(sum(comb(first + x, x) * comb(second + left - x, left - x) for x in ahead), ways)
