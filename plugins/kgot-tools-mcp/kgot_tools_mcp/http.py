"""Speaks to a server over streamable HTTP, within limits."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import urlsplit

import httpx2
from mcp.client import Transport
from mcp.client.streamable_http import streamable_http_client

from kgot_tools_mcp.servers import Server, is_loopback
from kgot_tools_mcp.wire import Wire

_EVENTS = "text/event-stream"


@asynccontextmanager
async def address(server: Server, wire: Wire) -> AsyncIterator[tuple[Any, Any]]:
    """Gives the streams of a server's messages.

    The transport follows a redirect only where it stays with the server, so that no other one gets the headers.

    Args:
        server: The server.
        wire: Gets what becomes of it.
    """
    settings = server.settings

    async def limit(response: httpx2.Response) -> None:
        if response.status_code >= 400:
            wire.status = f"{response.status_code} {response.reason_phrase}".strip()
        if response.headers.get("content-encoding", "identity").lower() != "identity":
            raise httpx2.StreamError("it compressed its answer although it was asked not to")
        if not response.headers.get("content-type", "").lower().startswith(_EVENTS):
            assert isinstance(response.stream, httpx2.AsyncByteStream)
            response.stream = _Limited(response.stream, wire)

    client = httpx2.AsyncClient(
        # Compressed, a small answer could unpack to any size.
        headers={"accept-encoding": "identity", **settings.headers},
        timeout=httpx2.Timeout(settings.start_seconds, read=settings.seconds + settings.start_seconds),
        event_hooks={"response": [limit]},
        trust_env=not is_loopback(urlsplit(settings.url).hostname or ""),
    )
    transport: Transport = streamable_http_client(settings.url, http_client=client, max_sse_event_size=wire.most)
    try:
        async with client, transport as streams:
            yield streams
    finally:
        wire.ended = True


class _Limited(httpx2.AsyncByteStream):
    """A body that ends with an error where it is larger than a message may be."""

    def __init__(self, body: httpx2.AsyncByteStream, wire: Wire) -> None:
        self._body = body
        self._wire = wire

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for chunk in self._body:
            size += len(chunk)
            if size > self._wire.most:
                self._wire.fault = self._wire.flood
                raise httpx2.StreamError(self._wire.fault)
            yield chunk

    async def aclose(self) -> None:
        await self._body.aclose()
