"""Stability of the samples as agreement: embedded and compared in pairs, in the manner of CheckEmbed (2024)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations
from operator import mul

from kgot_core.contracts.run import Run
from kgot_core.contracts.voter import Ballot, Choice, Vote, Voter
from kgot_core.voters.drawing import draw_all

# Sums of floats differ with their order in the last digits; the outcome must not.
DIGITS = 9


class StabilityVoter(Voter):
    """Draws all samples; the most central one wins, and the mean similarity of all pairs is their agreement.

    Samples are compared as texts by the model of the role ``embedding``; without one, by their runs of characters.
    """

    async def choose(self, run: Run, ballot: Ballot) -> Choice:
        """Draws samples and compares them."""
        votes = await draw_all(ballot)
        readable = [vote for vote in votes if vote.key is not None]
        if len(readable) < 2:
            return Choice.of(ballot.leader(votes), votes)
        texts = [vote.text or f"{vote.key}\n{vote.reason}" for vote in readable]
        distinct = sorted(set(texts))
        if len(distinct) == 1:
            return Choice.of(ballot.leader(votes), votes, 1.0)
        vectors = dict(zip(distinct, await run.embed("embed", ballot.stage, distinct), strict=True))
        similar = _similarities([vectors[text] for text in texts])
        pairs = len(readable) * (len(readable) - 1) / 2
        agreement = math.fsum(similar[pair] for pair in combinations(range(len(readable)), 2)) / pairs
        return Choice.of(_most_central(ballot, readable, similar), votes, round(min(1.0, max(0.0, agreement)), DIGITS))


def _similarities(vectors: Sequence[Sequence[float]]) -> dict[tuple[int, int], float]:
    """Gives the cosine of each pair of vectors, by their places, in either order."""
    unit = [_normed(vector) for vector in vectors]
    found: dict[tuple[int, int], float] = {}
    for left, right in combinations(range(len(unit)), 2):
        found[left, right] = found[right, left] = math.fsum(map(mul, unit[left], unit[right]))
    return found


def _normed(vector: Sequence[float]) -> Sequence[float]:
    length = math.hypot(*vector)
    return [number / length for number in vector] if length else vector


def _most_central(ballot: Ballot, votes: Sequence[Vote], similar: dict[tuple[int, int], float]) -> str | None:
    """Gives the key of the sample most similar to all others; of equally central ones the majority decides."""
    places = range(len(votes))
    sums = [round(math.fsum(similar[place, other] for other in places if other != place), DIGITS) for place in places]
    return ballot.leader([vote for vote, total in zip(votes, sums, strict=True) if total == max(sums)])
