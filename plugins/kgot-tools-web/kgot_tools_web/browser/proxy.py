"""The browser's only way out: a proxy on loopback that connects to no address but those which the guard gives."""

from __future__ import annotations

import asyncio
import contextlib
from types import TracebackType
from urllib.parse import urlsplit

from kgot_core.errors import KgotError
from kgot_tools_web.net.guard import PORTS, Guard, Opening, openings
from kgot_tools_web.net.urls import LONGEST

CONNECT_SECONDS = 10.0
MOST_REFUSED = 100
_LONGEST_HEAD = 1 << 16
_PIECE = 1 << 16


class GuardedProxy:
    """An HTTP proxy for one rendering.

    Args:
        guard: What may be reached.
        most: Bytes that may come through in all; what goes beyond is cut off.

    Attributes:
        refused: Hosts that were asked for and refused, with the reason.
        opened: Private addresses that were connected to.
    """

    def __init__(self, guard: Guard, most: int) -> None:
        self._guard = guard
        self._left = most
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self.refused: dict[str, str] = {}
        self.opened: set[Opening] = set()

    async def __aenter__(self) -> GuardedProxy:
        self._server = await asyncio.start_server(self._started, "127.0.0.1", 0, limit=_LONGEST_HEAD)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._server is not None
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    @property
    def address(self) -> str:
        """Where it listens."""
        assert self._server is not None
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    def _started(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.get_running_loop().create_task(self._serve(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, TimeoutError):
            try:
                await self._request(reader, writer)
            finally:
                writer.close()

    async def _request(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        line, _, fields = head.partition("\r\n")
        method, target, *_ = [*line.split(" "), "", ""]
        try:
            if method == "CONNECT":
                there, back = await self._connect(*_host_and_port(target))
                writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
            else:
                goal = self._guard.check(target)
                there, back = await self._connect(goal.host, goal.port)
                back.write(_as_origin(method, target, fields).encode("latin-1"))
        except (KgotError, OSError, TimeoutError, ValueError) as error:
            if len(self.refused) < MOST_REFUSED:  # a page may ask for thousands
                self.refused[target[:LONGEST]] = str(error) or type(error).__name__
            writer.write(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
            await writer.drain()
            return
        try:
            await writer.drain()
            await asyncio.gather(self._pipe(reader, back), self._pipe(there, writer, counted=True))
        finally:
            back.close()

    async def _connect(self, host: str, port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        failure: OSError = OSError("no address")
        for address in await self._guard.addresses(host, port):
            self.opened |= openings(host, port, [address])
            try:
                async with asyncio.timeout(CONNECT_SECONDS):
                    return await asyncio.open_connection(str(address), port)
            except OSError as error:
                failure = error
        raise failure

    async def _pipe(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, counted: bool = False) -> None:
        try:
            while data := await reader.read(_PIECE):
                if counted:
                    self._left -= len(data)
                    if self._left < 0:
                        writer.close()
                        return
                writer.write(data)
                await writer.drain()
        finally:
            with contextlib.suppress(OSError, RuntimeError):
                if writer.can_write_eof():
                    writer.write_eof()


def _host_and_port(target: str) -> tuple[str, int]:
    parts = urlsplit(f"//{target}")
    return parts.hostname or "", parts.port or PORTS["https"]


def _as_origin(method: str, target: str, fields: str) -> str:
    """Writes a request to a proxy as one to the server itself, for one answer on this connection."""
    parts = urlsplit(target)
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    kept = [
        field
        for field in fields.split("\r\n")
        if field and not field.lower().startswith(("proxy-", "connection:", "keep-alive:"))
    ]
    return "\r\n".join([f"{method} {path} HTTP/1.1", *kept, "Connection: close", "", ""])
