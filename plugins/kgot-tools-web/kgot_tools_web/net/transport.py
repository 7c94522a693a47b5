"""HTTP that connects only to an address that was checked: the name is not looked up a second time."""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator, Iterable
from typing import Any

import httpcore
import httpx

from kgot_core.errors import KgotError
from kgot_tools_web.net.guard import Guard, Opening, openings


class GuardedBackend(httpcore.AsyncNetworkBackend):
    """Opens connections to addresses that the guard gives.

    Args:
        guard: The guard.
        network: What opens them.

    Attributes:
        opened: Private addresses that were connected to.
    """

    def __init__(self, guard: Guard, network: httpcore.AsyncNetworkBackend | None = None) -> None:
        self.opened: set[Opening] = set()
        self._guard = guard
        self._plain = network or httpcore.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 - the name is httpcore's
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        failure: Exception = KgotError(f"{host} has no address")
        for address in await self._guard.addresses(host, port):
            self.opened |= openings(host, port, [address])
            try:
                return await self._plain.connect_tcp(str(address), port, timeout, local_address, socket_options)
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                failure = error
        raise failure

    async def connect_unix_socket(self, *arguments: Any, **named: Any) -> httpcore.AsyncNetworkStream:
        raise KgotError("sockets of this machine are not reached")

    async def sleep(self, seconds: float) -> None:
        await self._plain.sleep(seconds)


class GuardedTransport(httpx.AsyncBaseTransport):
    """What httpx sends through: HTTP/1.1 and HTTP/2 over :class:`GuardedBackend`, certificates checked by name.

    Args:
        guard: The guard.
        certificates: How certificates are checked.
        http2: Speak HTTP/2 where the server does.
    """

    def __init__(self, guard: Guard, certificates: ssl.SSLContext, http2: bool = True) -> None:
        self._network = GuardedBackend(guard)
        self._pool = httpcore.AsyncConnectionPool(
            ssl_context=certificates, http1=True, http2=http2, network_backend=self._network
        )

    @property
    def opened(self) -> set[Opening]:
        """Private addresses that were connected to."""
        return self._network.opened

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        assert isinstance(request.stream, httpx.AsyncByteStream)
        sent = httpcore.Request(
            method=request.method,
            url=httpcore.URL(
                scheme=request.url.raw_scheme,
                host=request.url.raw_host,
                port=request.url.port,
                target=request.url.raw_path,
            ),
            headers=request.headers.raw,
            content=request.stream,
            extensions=request.extensions,
        )
        reply = await self._pool.handle_async_request(sent)
        return httpx.Response(
            status_code=reply.status, headers=reply.headers, stream=_Body(reply), extensions=reply.extensions
        )

    async def aclose(self) -> None:
        await self._pool.aclose()


class _Body(httpx.AsyncByteStream):
    def __init__(self, reply: httpcore.Response) -> None:
        self._reply = reply

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for piece in self._reply.aiter_stream():
            yield piece

    async def aclose(self) -> None:
        await self._reply.aclose()
