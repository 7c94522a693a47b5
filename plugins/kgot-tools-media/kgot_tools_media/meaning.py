"""Which passages are nearest to a question in meaning, by the run's embedding model."""

from __future__ import annotations

import math
from array import array
from collections.abc import Sequence
from itertools import groupby
from operator import mul

from kgot_core.contracts.cache import cache_folder
from kgot_core.contracts.tools import ToolContext
from kgot_core.errors import ModelError
from kgot_tools_media.parts import Passage
from kgot_tools_media.vectors import VectorCache

CACHE = "embeddings"
AT_ONCE = 64


class Meanings:
    """The vectors of passages, each asked for once.

    Args:
        context: What the tool may use.
        most: Passages that are embedded at most; 0 embeds none.

    Attributes:
        failed: Why nothing is compared by meaning, once the model has failed.
    """

    def __init__(self, context: ToolContext, most: int) -> None:
        self._context = context
        self._most = most if context.embedding_model else 0
        self._cache = VectorCache(cache_folder(CACHE), context.embedding_model)
        self._vectors: dict[int, array[float]] = {}
        self.failed = ""

    def left_out(self, passages: Sequence[Passage]) -> int:
        """Gives how many passages are too many to be embedded."""
        return max(0, len(passages) - self._most) if self._most else 0

    async def nearest(self, query: str, passages: Sequence[Passage]) -> list[int]:
        """Gives the places of the passages, nearest first; none without a model, or where it fails.

        Args:
            query: What is looked for.
            passages: All passages so far; those of an earlier call stand at the same places.

        Raises:
            CapReached: The run may not ask the model.
        """
        if not self._most or self.failed or not passages:
            return []
        try:
            # The query comes first: it is short, and its vector tells whether those on disk are the same model's.
            asked = (await self._embed([query]))[0]
            await self._take(passages[: self._most], len(asked))
        except ModelError as error:
            self.failed = str(error)
            return []
        likeness = {place: _cosine(asked, vector) for place, vector in self._vectors.items()}
        return sorted((place for place in likeness if likeness[place] > 0), key=lambda place: (-likeness[place], place))

    async def _take(self, passages: Sequence[Passage], length: int) -> None:
        new = [place for place in range(len(passages)) if place not in self._vectors]
        waiting: list[list[int]] = []
        for _, group in groupby(new, key=lambda place: passages[place].address):
            document = list(group)
            kept = self._cache.get([passages[place].text for place in document], length)
            if kept is None:
                waiting.append(document)
            else:
                self._vectors.update(zip(document, kept, strict=True))
        missing = [place for document in waiting for place in document]
        for start in range(0, len(missing), AT_ONCE):
            places = missing[start : start + AT_ONCE]
            vectors = await self._embed([passages[place].text for place in places])
            self._vectors.update(zip(places, vectors, strict=True))
            while waiting and waiting[0][-1] in self._vectors:
                document = waiting.pop(0)
                self._cache.put(
                    [passages[place].text for place in document], [self._vectors[place] for place in document]
                )

    async def _embed(self, texts: Sequence[str]) -> list[array[float]]:
        return [array("f", vector) for vector in await self._context.embed(texts) or ()]


def _cosine(left: Sequence[float], right: Sequence[float]) -> float:
    lengths = math.hypot(*left) * math.hypot(*right)
    return sum(map(mul, left, right)) / lengths if lengths and len(left) == len(right) else 0.0
