"""Interfaces that speak JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, cast

from kgot_core.errors import KgotError
from kgot_tools_web.net.fetching import Fetcher


async def ask_json(
    fetcher: Fetcher, url: str, parameters: Mapping[str, str], secret: Mapping[str, str] | None = None
) -> Mapping[str, Any]:
    """Asks an interface and reads its JSON object.

    Args:
        fetcher: What fetches.
        url: Its address.
        parameters: What is asked.
        secret: Parameters that are neither kept nor shown.

    Raises:
        KgotError: It gives something else.
    """
    fetched = await fetcher.get(url, parameters, secret)
    try:
        data = json.loads(fetched.body)
    except (ValueError, RecursionError):
        data = None
    if not isinstance(data, dict):
        raise KgotError(f"{url.partition('?')[0]} gives no JSON object")
    return cast(dict[str, Any], data)
