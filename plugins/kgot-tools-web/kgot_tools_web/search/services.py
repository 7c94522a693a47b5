"""Search engines that are asked over HTTP."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from typing import Any

from kgot_core.errors import KgotError, TransientToolError
from kgot_tools_web.dates import Span
from kgot_tools_web.mediawiki import MediaWiki
from kgot_tools_web.net.cache import now
from kgot_tools_web.search.engine import Engine, Found, Results
from kgot_tools_web.search.json_api import ask_json
from kgot_tools_web.session import WebSession


class Searxng(Engine):
    """A SearXNG server with the format ``json`` switched on.

    Args:
        session: The run's session.
    """

    name = "searxng"

    def __init__(self, session: WebSession) -> None:
        self._session = session

    async def search(self, query: str, most: int, span: Span) -> Results:
        settings = self._session.settings
        asked = {"q": query, "format": "json", "language": settings.language}
        if span.first and (near := _nearest(span.first)):
            asked["time_range"] = near
        address = settings.searxng_url.rstrip("/")
        url = address if address.endswith("/search") else f"{address}/search"
        try:
            data = await ask_json(self._session.services, url, asked)
        except TransientToolError:
            raise
        except KgotError as error:
            way_out = "is tools.web.searxng_url right, and json among the search.formats of the server's settings.yml?"
            raise KgotError(f"the SearXNG server gives no results: {error.message}", hint=way_out) from None
        found = [_result(item, "url", "content", "publishedDate") for item in _items(data, "results")]
        return _within([one for one in found if one], most, span)


class SerpApi(Engine):
    """Google, through SerpApi.

    Args:
        session: The run's session.
    """

    name = "serpapi"

    def __init__(self, session: WebSession) -> None:
        self._session = session

    async def search(self, query: str, most: int, span: Span) -> Results:
        settings = self._session.settings
        asked = {"engine": "google", "q": query, "num": str(most), "hl": settings.language}
        if span:
            first, last = span.first or datetime.date(1990, 1, 1), span.last or now().date()
            asked["tbs"] = f"cdr:1,cd_min:{first:%m/%d/%Y},cd_max:{last:%m/%d/%Y}"
        key = str(settings.serpapi_key)
        try:
            data = await ask_json(self._session.services, settings.serpapi_url, asked, {"api_key": key})
        except TransientToolError:
            raise
        except KgotError as error:
            said = error.message.replace(key, "***")
            raise KgotError(f"SerpApi gives no results: {said}", hint="is tools.web.serpapi_key right?") from None
        problem = str(data.get("error") or "").replace(key, "***")
        if problem and "hasn't returned any results" not in problem:
            raise KgotError(f"SerpApi says: {problem[:200]}", hint="tools.web.serpapi_key is its key")
        found = [_result(item, "link", "snippet", "date") for item in _items(data, "organic_results")]
        return Results([one for one in found if one][:most])


class Wikipedia(Engine):
    """Wikipedia's own search.

    Args:
        session: The run's session.
    """

    name = "wikipedia"

    def __init__(self, session: WebSession) -> None:
        self._wiki = MediaWiki(session)
        self._language = session.settings.language

    async def search(self, query: str, most: int, span: Span) -> Results:
        hits = await self._wiki.search(query, self._language, most)
        found = [Found(hit.title, self._wiki.address(hit.title, self._language), hit.snippet) for hit in hits]
        no_dates = "Wikipedia's search knows no dates; the tool wikipedia gives an article as it was at a date"
        return Results(found, (no_dates,) if span else ())


def _items(data: Mapping[str, Any], name: str) -> Sequence[Mapping[str, Any]]:
    items = data.get(name)
    return [item for item in items if isinstance(item, dict)] if isinstance(items, list) else []


def _result(item: Mapping[str, Any], url: str, snippet: str, date: str) -> Found | None:
    """Reads a result; one without an address is none."""
    address = str(item.get(url) or "")
    if not address.startswith(("http://", "https://")):
        return None
    return Found(
        str(item.get("title") or address), address, str(item.get(snippet) or ""), str(item.get(date) or "")[:20]
    )


def _nearest(first: datetime.date) -> str:
    """Gives the shortest of the engine's spans up to today that holds a day; empty where none does."""
    days = (now().date() - first).days
    return next((name for name, length in (("day", 1), ("month", 30), ("year", 365)) if 0 <= days <= length), "")


def _within(found: Sequence[Found], most: int, span: Span) -> Results:
    """Leaves out what is dated outside; what has no date stays, and that is said."""
    if not span:
        return Results(found[:most])
    kept = [one for one in found if not one.date or span.holds(one.date)][:most]
    undated = sum(not one.date for one in kept)
    notes = (f"{undated} of these results have no date, so they may be from another time",) if undated else ()
    return Results(kept, notes)
