"""Addresses in one form."""

from __future__ import annotations

import re
from collections.abc import Mapping
from urllib.parse import SplitResult, quote, urlencode, urljoin, urlsplit, urlunsplit

from kgot_core.errors import KgotError

LONGEST = 4_000
_NOT_IN_ADDRESSES = re.compile(r"[\s\x00-\x20\x7f\"<>\\^`{|}]")


def normal_url(url: str, parameters: Mapping[str, str] | None = None) -> str:
    """Gives an address without user, password and fragment, with ``https`` where it has no scheme.

    What no address may hold, such as a space or a quote, is written by its number: a page may lead to what is no
    address but a text.

    Args:
        url: The address.
        parameters: Added to it as a query.

    Raises:
        KgotError: It is no address.
    """
    text = _NOT_IN_ADDRESSES.sub(lambda found: quote(found[0]), url.strip().strip("<>\"'"))
    if len(text) > LONGEST:
        raise KgotError(f"{text[:120]}... is too long for an address: {len(text):,} characters")
    if "://" not in text and re.match(r"[\w-]+(\.[\w-]+)+([/:?#]|$)", text):
        text = f"https://{text}"
    try:
        parts: SplitResult = urlsplit(text)
    except ValueError:
        raise KgotError(f"{text[:120]} is no address") from None
    query = "&".join(filter(None, [parts.query, urlencode(parameters or {})]))
    netloc = parts.netloc.rpartition("@")[2]
    return urlunsplit((parts.scheme.lower(), netloc, parts.path or ("/" if netloc else ""), query, ""))


def joined(base: str, url: str) -> str:
    """Gives the address to which another one leads from a page; empty where it is none."""
    try:
        return urljoin(base, url)
    except ValueError:
        return ""
