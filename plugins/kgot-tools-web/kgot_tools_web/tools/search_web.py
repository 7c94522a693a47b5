"""``search_web``: addresses of pages, by words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pydantic import BaseModel, Field, PrivateAttr

from kgot_core.contracts.prompts import tagged
from kgot_core.contracts.tools import Source, ToolArtifact, ToolContext
from kgot_core.errors import KgotError, TransientToolError
from kgot_tools_web.dates import Span, span
from kgot_tools_web.net.guard import Blocked, Guard
from kgot_tools_web.search.engine import Engine, Found, Results
from kgot_tools_web.search.engines import engines
from kgot_tools_web.settings import WebSettings
from kgot_tools_web.tools.base import WebTool

LONGEST_SNIPPET = 400


class SearchArguments(BaseModel):
    """Arguments of ``search_web``."""

    query: str = Field(min_length=1, description="A few words that the page must hold: names, places, terms, years")
    since: str = Field(default="", description="Only pages from this day on: 2015, 2015-03 or 2015-03-14")
    until: str = Field(default="", description="Only pages up to this day, in the same form")


class SearchWeb(WebTool):
    """Searches with the first engine that is set up and answers."""

    name: str = "search_web"
    description: str = (
        "Searches the web and gives titles, addresses and snippets of the best pages. Snippets are short: open a page"
        ' with visit_page to be sure. Example: {"query": "lighthouse Skerry Point first lit"}'
    )
    args_schema: type[BaseModel] = SearchArguments
    _engines: Sequence[Engine] = PrivateAttr()

    def __init__(self, context: ToolContext, settings: WebSettings, **fields: Any) -> None:
        super().__init__(context, settings, **fields)
        self._engines = engines(self._session)

    async def _arun(self, query: str, since: str = "", until: str = "") -> tuple[str, ToolArtifact]:
        name, results = await search(
            self._engines, query, self._settings.results, span(since, until), self._session.guard
        )
        sources = tuple(Source(one.url, one.title, "search result") for one in results.found)
        return written(query, name, results), ToolArtifact(sources)


async def search(engines: Sequence[Engine], query: str, most: int, days: Span, guard: Guard) -> tuple[str, Results]:
    """Asks the engines one after the other until one answers.

    Args:
        engines: The engines, at least one.
        query: The words.
        most: Results at most.
        days: Days from which they should be.
        guard: Results on hosts that it blocks are left out.

    Returns:
        Name of the engine that answered, and its results.

    Raises:
        KgotError: None answered.
    """
    failures: list[KgotError] = []
    for engine in engines:
        try:
            results = await engine.search(" ".join(query.split()), most, days)
        except KgotError as error:
            failures.append(error)
            continue
        kept = [one for one in results.found if _is_open(one, guard)]
        failed = tuple(f"{failure}" for failure in failures)
        return engine.name, Results(kept, (*failed, *results.notes))
    if len(failures) == 1:
        raise failures[0]
    kind = TransientToolError if all(isinstance(one, TransientToolError) for one in failures) else KgotError
    raise kind("; ".join(str(failure) for failure in failures))


def written(query: str, engine: str, results: Results) -> str:
    """Writes results for a model."""
    notes = [f"[Note: {note}]" for note in results.notes]
    if not results.found:
        return "\n\n".join([*notes, f"no results for {query!r} ({engine}); try fewer or other words"])
    lines = []
    for number, one in enumerate(results.found, 1):
        dated = f" ({one.date})" if one.date else ""
        snippet = " ".join(one.snippet.split())[:LONGEST_SNIPPET]
        lines.append(f"{number}. {' '.join(one.title.split())}{dated}\n   {one.url}\n   {snippet}".rstrip())
    return "\n\n".join([*notes, tagged("results", "\n".join(lines), query=query, engine=engine)])


def _is_open(one: Found, guard: Guard) -> bool:
    if not one.url.startswith(("http://", "https://")):
        return True  # a stored page
    try:
        guard.check(one.url)
    except Blocked:
        return False
    except KgotError:
        return False
    return True
