"""What a search engine is, and which one a run searches with."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from kgot_core.errors import KgotError
from kgot_tools_web.dates import Span
from kgot_tools_web.search.names import chosen, missing, problem
from kgot_tools_web.session import WebSession


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


def engines(session: WebSession) -> list[Engine]:
    """Makes the engines of a run.

    Raises:
        KgotError: None is set up; the message says what to set.
    """
    settings = session.settings
    why, way_out = problem(settings)
    if why:
        raise KgotError(why, hint=way_out)
    return [_engine(name, session) for name in chosen(settings) if not missing(name, settings)]


def _engine(name: str, session: WebSession) -> Engine:
    kind, _, file = name.partition(":")
    if kind == "pages":
        from kgot_tools_web.search.stored import StoredPages

        return StoredPages(session.corpus(file))
    if kind == "duckduckgo":
        from kgot_tools_web.search.duckduckgo import DuckDuckGo

        return DuckDuckGo(session.settings)
    from kgot_tools_web.search import services

    makers: Mapping[str, Callable[[WebSession], Engine]] = {
        "searxng": services.Searxng,
        "serpapi": services.SerpApi,
        "wikipedia": services.Wikipedia,
    }
    return makers[kind](session)
