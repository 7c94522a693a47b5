"""Searches stored pages."""

from __future__ import annotations

from kgot_tools_web.dates import Span
from kgot_tools_web.search.corpus import Corpus
from kgot_tools_web.search.engine import Engine, Found, Results


class StoredPages(Engine):
    """Searches a corpus by BM25.

    Args:
        corpus: The pages.
    """

    name = "pages"

    def __init__(self, corpus: Corpus) -> None:
        self._corpus = corpus

    async def search(self, query: str, most: int, span: Span) -> Results:
        index = await self._corpus.ready()
        notes: tuple[str, ...] = ()
        dated = bool(span) and self._corpus.dated
        if span and not dated:
            notes = ("the stored pages have no dates, so these were not looked at",)
        numbers = index.best(query, len(self._corpus.pages) if dated else most)
        if dated:
            numbers = [number for number in numbers if span.holds(self._corpus.date(number))][:most]
        found = [
            Found(page.title, page.url, index.snippet(query, number) or page.text[:200], self._corpus.date(number))
            for number in numbers
            for page in [self._corpus.pages[number]]
        ]
        return Results(found, notes)
