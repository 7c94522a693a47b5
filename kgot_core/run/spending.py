"""Whether a request would exceed a cap on tokens or money."""

from __future__ import annotations

from kgot_core.contracts.options import Caps
from kgot_core.contracts.task import Usage


def exceeded(caps: Caps, used: Usage, coming: int, share: float, where: str = "", kept: int = 0) -> str:
    """Tells which cap requests would exceed; empty where they may be made.

    Args:
        caps: The limits.
        used: What has been used.
        coming: Prompt tokens of the requests that are made or on their way.
        share: Share of each cap that may be used.
        where: What stands before a cap's name in the message.
        kept: Prompt tokens of a further request for which there must be room.
    """
    tokens = used.input_tokens + used.output_tokens
    if caps.max_tokens is not None and tokens + coming > min(caps.max_tokens * share, caps.max_tokens - kept):
        return f"{where}max_tokens = {caps.max_tokens:,}: {tokens:,} are used"
    if caps.max_cost is not None and used.unpriced:
        return f"{where}max_cost = ${caps.max_cost:g} cannot be kept: the price of a request is unknown"
    # What a token has cost so far tells what the next ones will cost; nothing is known before the first request.
    price = used.cost / tokens if tokens else 0.0
    dollars = used.cost + price * coming
    if caps.max_cost is not None and dollars > min(caps.max_cost * share, caps.max_cost - price * kept):
        return f"{where}max_cost = ${caps.max_cost:g}: ${used.cost:.4f} are spent"
    return ""
