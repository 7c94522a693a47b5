"""Small parts of SPARQL over HTTP: headers, bodies, and what is shown of an address."""

from __future__ import annotations

import base64
import http.client
import json
import time
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from kgot_core.errors import QueryError

MOST_BYTES = 64 << 20
PART = 1 << 18


class OneSegment(http.client.HTTPConnection):
    """A connection that sends head and body of a request at once: some servers wait long for the second part."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._held: bytearray | None = None

    def send(self, data: Any) -> None:
        """Sends data, or holds it back."""
        if self._held is None:
            super().send(data)
        else:
            self._held += data

    def post(self, path: str, content: bytes, headers: Mapping[str, str]) -> None:
        """Sends a request."""
        self._held = bytearray()
        try:
            self.request("POST", path, content, dict(headers))
        finally:
            held, self._held = self._held, None
        self.send(held)


class OneSegmentTls(OneSegment, http.client.HTTPSConnection):
    """The same over TLS."""


def read_json(body: bytes, seconds: float) -> Mapping[str, Any]:
    """Reads a result table; one that is cut off is a time-out.

    Raises:
        QueryError: It is cut off.
    """
    try:
        data = json.loads(body)
        if "boolean" in data or isinstance(data["results"]["bindings"], list):
            return dict(data)
    except (ValueError, KeyError, TypeError):
        pass
    raise too_long(seconds)


def credentials(user: str, password: str, token: str) -> dict[str, str]:
    """Gives the headers that authenticate."""
    if token:
        return {"authorization": f"Bearer {token}"}
    if user:
        return {"authorization": "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()}
    return {}


def shown(url: str) -> str:
    """Gives an address without what may be secret in it."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


def limit(connection: http.client.HTTPConnection, end: float) -> None:
    """Lets the next step on the connection take no longer than until a moment of the monotonic clock."""
    if connection.sock is not None:
        connection.sock.settimeout(max(0.01, end - time.monotonic()))


def read_body(connection: http.client.HTTPConnection, response: http.client.HTTPResponse, end: float) -> bytes:
    """Reads a body to its end.

    Raises:
        QueryError: It is too large.
        TimeoutError: The time is up.
    """
    body = response.read(PART)
    if len(body) < PART:
        return body
    parts, size = [body], len(body)
    while part := response.read(PART):
        parts.append(part)
        size += len(part)
        if size > MOST_BYTES:
            raise QueryError("the result is too large; ask for less")
        if time.monotonic() > end:
            raise TimeoutError
        limit(connection, end)
    return b"".join(parts)


def too_long(seconds: float) -> QueryError:
    """Makes the error for a time-out."""
    return QueryError(f"the statement took longer than {seconds:.3g} seconds, or its result was cut off; ask for less")


def cause(error: BaseException) -> str:
    """Gives the cause of a failure on one line."""
    return " ".join(str(error).split())[:120] or type(error).__name__
