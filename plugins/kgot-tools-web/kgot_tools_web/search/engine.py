"""What a search engine is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

from kgot_tools_web.dates import Span


@dataclass(frozen=True)
class Found:
    """A result of a search."""

    title: str
    url: str
    snippet: str
    date: str = ""


@dataclass(frozen=True)
class Results:
    """What a search gave.

    Attributes:
        found: Best first.
        notes: What one has to know, such as that dates were not looked at.
    """

    found: Sequence[Found]
    notes: tuple[str, ...] = ()


class Engine(ABC):
    """Where is searched."""

    name: str

    @abstractmethod
    async def search(self, query: str, most: int, span: Span) -> Results:
        """Searches.

        Args:
            query: The words.
            most: Results at most.
            span: Days from which results should be.

        Raises:
            KgotError: The search failed; the message says why, without a key.
        """
