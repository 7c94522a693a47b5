"""DuckDuckGo, through the library ``ddgs`` (extra ``duckduckgo``); needs no key."""

from __future__ import annotations

import asyncio
import datetime
from typing import Any

from kgot_core.errors import KgotError, TransientToolError
from kgot_tools_web.dates import Span
from kgot_tools_web.net.cache import now
from kgot_tools_web.search.engine import Engine, Found, Results
from kgot_tools_web.settings import WebSettings


class DuckDuckGo(Engine):
    """Searches without a key.

    Args:
        settings: The settings.
    """

    name = "duckduckgo"

    def __init__(self, settings: WebSettings) -> None:
        self._seconds = settings.seconds

    async def search(self, query: str, most: int, span: Span) -> Results:
        items = await asyncio.to_thread(self._ask, query, most, _limit(span.first))
        found = [
            Found(str(item.get("title") or ""), str(item["href"]), str(item.get("body") or ""))
            for item in items
            if str(item.get("href") or "").startswith(("http://", "https://"))
        ]
        no_dates = "DuckDuckGo's results have no dates; only the last day, week, month or year can be asked for"
        return Results(found[:most], (no_dates,) if span else ())

    def _ask(self, query: str, most: int, limit: str | None) -> list[dict[str, Any]]:
        from ddgs import DDGS
        from ddgs.exceptions import DDGSException, RatelimitException, TimeoutException

        try:
            # Named, so that no other engine is asked that the user does not know of.
            return list(
                DDGS(timeout=int(self._seconds)).text(query, max_results=most, timelimit=limit, backend="duckduckgo")
            )
        except (RatelimitException, TimeoutException):
            raise TransientToolError("DuckDuckGo does not answer, or asks for fewer requests") from None
        except DDGSException as error:
            if "no results" in str(error).lower():
                return []
            cause = " ".join(str(error).split())[:200] or type(error).__name__
            way_out = "another engine in tools.web.search may"
            raise KgotError(f"DuckDuckGo gives no results: {cause}", hint=way_out) from None


def _limit(first: datetime.date | None) -> str | None:
    if first is None:
        return None
    days = (now().date() - first).days
    spans = (("d", 1), ("w", 7), ("m", 30), ("y", 365))
    return next((name for name, length in spans if 0 <= days <= length), None)
