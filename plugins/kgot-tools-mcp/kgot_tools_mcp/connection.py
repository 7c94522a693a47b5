"""One connection to a server for the time of a run: an event loop on a thread of its own, used by concurrent calls."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Coroutine, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from typing import Any, TypeVar

from mcp import Client
from mcp_types import CallToolResult, Implementation, Tool

from kgot_core.errors import KgotError
from kgot_tools_mcp.faults import explained, lost
from kgot_tools_mcp.http import address
from kgot_tools_mcp.servers import Server
from kgot_tools_mcp.stdio import kill, program
from kgot_tools_mcp.wire import Wire

T = TypeVar("T")
CLOSING_SECONDS = 3.0
MOST_PAGES = 50
_GRACE = 2.0
# The library logs what servers do wrong; where nobody listens, logging's last resort would print it.
logging.getLogger("mcp").addHandler(logging.NullHandler())
logging.getLogger("client").addHandler(logging.NullHandler())


class Connection:
    """A server and the way to it. Made for one run; its methods may be called from any thread.

    Sampling, elicitation and roots are not offered, so that a server which asks for them is refused by the library.

    Args:
        server: The server.
    """

    def __init__(self, server: Server) -> None:
        self.server = server
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._work, daemon=True, name=f"kgot-mcp-{server.name}")
        self._turn = asyncio.Lock()
        self._link: _Link | None = None
        self._closed = False

    @property
    def process(self) -> int | None:
        """The process of a server that is a program, once it runs."""
        return self._link.wire.pid if self._link is not None else None

    def tools(self) -> Future[Sequence[Tool]]:
        """Starts the server and lists its tools; called once.

        Returns:
            The tools, or a ``KgotError`` where it cannot be reached or does not answer in time; its message says why,
            without secrets.
        """
        self._thread.start()
        return self._submit(self._tools())

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> CallToolResult:
        """Calls a tool, from the loop of the run; where the call is cancelled, the server is told.

        A server that has gone is started anew, once for each call.

        Raises:
            TransientToolError: The server has gone during the call.
            KgotError: It refused the call, or took too long.
        """
        return await asyncio.wrap_future(self._submit(self._call(tool, dict(arguments))))

    def close(self) -> None:
        """Ends the connection, and the server where it is a program of ours. Idempotent."""
        if self._closed or not self._thread.ident:
            return
        self._closed = True
        with suppress(Exception):
            self._submit(self._leave()).result(CLOSING_SECONDS)
        if self._link is not None:
            kill(self._link.wire)
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._loop.stop)

    def _submit(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        try:
            return asyncio.run_coroutine_threadsafe(work, self._loop)
        except RuntimeError:  # the loop is closed
            work.close()
            raise KgotError(f"the MCP server {self.server.name} was left when the run ended") from None

    def _work(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_forever()
            if rest := asyncio.all_tasks(self._loop):
                for task in rest:
                    task.cancel()
                self._loop.run_until_complete(asyncio.wait(rest, timeout=_GRACE))
            self._loop.run_until_complete(self._loop.shutdown_asyncgens())
        finally:
            self._loop.close()

    async def _tools(self) -> Sequence[Tool]:
        try:
            async with asyncio.timeout(self.server.settings.start_seconds):
                return await _listed((await self._connected()).client)
        except Exception as error:
            wire = self._link.wire if self._link is not None else Wire(0)
            raise explained(self.server, wire, error, starting=True) from None

    async def _call(self, tool: str, arguments: dict[str, Any]) -> CallToolResult:
        link = await self._connected()
        seconds = self.server.settings.seconds
        link.wire.fault = link.wire.status = ""
        try:
            # The library's clock starts once the request is written, which a server that does not read can hold up.
            async with asyncio.timeout(seconds + _GRACE):
                return await link.client.call_tool(tool, arguments, read_timeout_seconds=seconds)
        except Exception as error:
            if lost(link.wire, error):
                await link.end()
            raise explained(self.server, link.wire, error) from None

    async def _connected(self) -> _Link:
        async with self._turn:
            if self._closed:
                raise KgotError(f"the MCP server {self.server.name} was left when the run ended")
            if self._link is None or self._link.gone:
                if self._link is not None:
                    await self._link.end()
                self._link = _Link(self.server)
                await self._link.start()
            return self._link

    async def _leave(self) -> None:
        if self._link is not None:
            await self._link.end()


class _Link:
    """A client that is connected, held by a task of its own as its scopes need it."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self.wire = Wire(server.settings.message_mb << 20)
        self.leave = asyncio.Event()
        self._ready: asyncio.Future[Client] = asyncio.get_running_loop().create_future()
        self._task = asyncio.create_task(self._hold())

    @property
    def client(self) -> Client:
        return self._ready.result()

    @property
    def gone(self) -> bool:
        return self._task.done() or self.leave.is_set() or self.wire.ended or not self._ready.done()

    async def start(self) -> None:
        try:
            async with asyncio.timeout(self._server.settings.start_seconds):
                await asyncio.shield(self._ready)
        except BaseException as error:
            self._task.cancel()
            with suppress(asyncio.CancelledError, Exception):
                await self._task
            if not self._ready.cancelled():
                self._ready.exception()
            if isinstance(error, Exception):
                raise explained(self._server, self.wire, error, starting=True) from None
            raise

    async def end(self) -> None:
        self.leave.set()
        if not self._ready.done():
            self._task.cancel()
        await asyncio.wait([self._task], timeout=CLOSING_SECONDS)
        self._task.cancel()

    async def _hold(self) -> None:
        reach = program if self._server.settings.command else address
        # A server's answers may change nothing here but results: no response of it is cached.
        info = Implementation(name="kgot", version="0.1")
        try:
            async with Client(reach(self._server, self.wire), client_info=info, cache=None) as client:
                self._ready.set_result(client)
                await self.leave.wait()
        except Exception as error:
            if not self._ready.done():
                self._ready.set_exception(error)
        finally:
            self.wire.ended = True
            if not self._ready.done():
                self._ready.cancel()


async def _listed(client: Client) -> Sequence[Tool]:
    tools: list[Tool] = []
    cursor: str | None = None
    for _ in range(MOST_PAGES):
        page = await client.list_tools(cursor=cursor)
        tools += page.tools
        cursor = page.next_cursor
        if not cursor:
            break
    return tools
