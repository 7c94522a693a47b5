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
        items = await asyncio.to_thread(self._ask, query, _limit(span.first))
        found = [
            Found(str(item.title or ""), str(item.href), str(item.body or ""))
            for item in items
            if str(item.href or "").startswith(("http://", "https://"))
        ]
        no_dates = "DuckDuckGo's results have no dates; only the last day, week, month or year can be asked for"
        return Results(found[:most], (no_dates,) if span else ())

    def _ask(self, query: str, limit: str | None) -> list[Any]:
        from ddgs.engines.duckduckgo import Duckduckgo
        from ddgs.exceptions import DDGSException, TimeoutException

        try:
            # Its engine by itself: what chooses among the library's engines tells a refusal as if nothing was found.
            items = Duckduckgo(timeout=int(self._seconds)).search(query, timelimit=limit)
        except TimeoutException:
            raise TransientToolError("DuckDuckGo does not answer") from None
        except DDGSException as error:
            if "error sending request" in str(error):
                raise TransientToolError("DuckDuckGo cannot be reached") from None
            cause = " ".join(str(error).split())[:200] or type(error).__name__
            way_out = "another engine in tools.web.search may"
            raise KgotError(f"DuckDuckGo gives no results: {cause}", hint=way_out) from None
        except Exception as error:  # what the parser makes of a page that is not as it was
            raise KgotError(f"DuckDuckGo's page cannot be read: {type(error).__name__}") from None
        if items is None:
            raise TransientToolError("DuckDuckGo refuses the search, as it does after many of them")
        return list(items)


def _limit(first: datetime.date | None) -> str | None:
    if first is None:
        return None
    days = (now().date() - first).days
    spans = (("d", 1), ("w", 7), ("m", 30), ("y", 365))
    return next((name for name, length in spans if 0 <= days <= length), None)
