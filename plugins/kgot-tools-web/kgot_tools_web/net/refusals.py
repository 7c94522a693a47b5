"""What is said where a server gives no page."""

from __future__ import annotations

from urllib.parse import urlsplit

import httpx

from kgot_core.errors import KgotError, TransientToolError
from kgot_tools_web.net.pace import LONGEST_PAUSE, Pace

_ARCHIVE = "find_archived of browse_web, or a search, may bring it"


def raise_for(answer: httpx.Response, url: str, pace: Pace) -> None:
    """Raises what a status means; nothing where the page is there.

    Raises:
        TransientToolError: It may be there later.
        KgotError: It is not there, or not for us.
    """
    code, host = answer.status_code, urlsplit(url).hostname or ""
    if code < 400:
        return
    if code in (429, 503):
        pace.pause(host, answer.headers.get("retry-after", ""))
        busy = "asks for fewer requests" if code == 429 else "is not available now"
        if pace.pause_of(host) > LONGEST_PAUSE:
            raise KgotError(f"{host} {busy} ({code}), for {pace.pause_of(host):.0f} seconds; use another source")
        raise TransientToolError(f"{host} {busy} ({code})")
    if code >= 500 or code == 408:
        raise TransientToolError(f"{host} has an error of its own ({code})")
    if code in (404, 410):
        raise KgotError(f"there is no page at {url} ({code})", hint=_ARCHIVE)
    if code in (401, 407):
        raise KgotError(f"{url} asks for a login ({code}), which kgot has not", hint="use another source")
    if code in (402, 403, 451):
        raise KgotError(f"{host} refuses to give {url} to programs ({code})", hint=_ARCHIVE)
    raise KgotError(f"{host} answers {code} for {url}")
