"""Which texts share most with a question: BM25, and how several rankings become one."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence

_WORD = re.compile(r"\w+")
_SATURATION, _LENGTH = 1.5, 0.75
# Of reciprocal rank fusion (Cormack, Clarke and Büttcher, 2009): how much less the first places count for.
_DAMPING = 60
DEPTH = 100


class Ranking:
    """Texts by what they share with a question.

    Args:
        texts: The texts.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        self._counts = [Counter(words(text)) for text in texts]
        self._lengths = [counts.total() for counts in self._counts]
        self._average = sum(self._lengths) / len(texts) if texts else 0.0
        self._holding = Counter(word for counts in self._counts for word in counts)

    def scores(self, question: str) -> list[float]:
        """Gives each text's score, 0 where it shares no word."""
        asked = set(words(question))
        return [self._score(place, asked) for place in range(len(self._counts))]

    def best(self, question: str, most: int) -> list[int]:
        """Gives the places of the best texts that share any word, best first."""
        scores = self.scores(question)
        order = sorted(range(len(scores)), key=lambda place: (-scores[place], place))
        return [place for place in order if scores[place] > 0][:most]

    def _score(self, place: int, asked: set[str]) -> float:
        counts, number = self._counts[place], len(self._counts)
        if not self._average:
            return 0.0
        weight = _SATURATION * (1 - _LENGTH + _LENGTH * self._lengths[place] / self._average)
        total = 0.0
        for word in sorted(asked & counts.keys()):
            rare = math.log(1 + (number - self._holding[word] + 0.5) / (self._holding[word] + 0.5))
            total += rare * counts[word] * (_SATURATION + 1) / (counts[word] + weight)
        return total


def fused(*rankings: Sequence[int]) -> list[int]:
    """Merges rankings by reciprocal rank fusion.

    Args:
        rankings: Places, best first; the first hundred of each count. One that is empty changes nothing.

    Returns:
        The places, best first; of equal ones the one that comes first in an earlier ranking.
    """
    scores: dict[int, float] = {}
    for ranking in rankings:
        for rank, place in enumerate(ranking[:DEPTH], 1):
            scores[place] = scores.get(place, 0.0) + 1 / (_DAMPING + rank)
    return sorted(scores, key=lambda place: -scores[place])


def words(text: str) -> list[str]:
    """Gives the words of a text in lower case."""
    return _WORD.findall(text.casefold())
