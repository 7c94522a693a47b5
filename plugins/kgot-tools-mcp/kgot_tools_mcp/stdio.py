"""Speaks to a server that is a program, over its standard input and output.

The library's own transport keeps a line of any length in memory, and leaves standard error to the terminal. This one
ends a server that floods, and keeps the end of what it says for the errors.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import anyio
import mcp_types
from anyio.abc import Process
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.client.stdio import get_default_environment
from mcp.shared.message import SessionMessage

from kgot_core.errors import UsageError
from kgot_tools_mcp.servers import Server
from kgot_tools_mcp.settings import ServerSettings
from kgot_tools_mcp.wire import Wire

LEAVING_SECONDS = 1.5
TERMINATING_SECONDS = 0.5
_POLL = 0.01
_SHOWN = 200
# Between two answers a server may tell of its progress, but not without end.
_BETWEEN_ANSWERS = 4
_Read = MemoryObjectSendStream[SessionMessage | Exception]
_GONE = (anyio.ClosedResourceError, anyio.BrokenResourceError, OSError)


@asynccontextmanager
async def program(server: Server, wire: Wire) -> AsyncIterator[tuple[Any, Any]]:
    """Starts a server and gives the streams of its messages; at the end it has to leave, with all that it has started.

    Args:
        server: The server.
        wire: Gets what becomes of it.

    Raises:
        UsageError: It cannot be started.
    """
    process = await _start(server)
    wire.pid = process.pid
    to_us, incoming = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    outgoing, from_us = anyio.create_memory_object_stream[SessionMessage](0)
    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_read, process, to_us, wire)
            tasks.start_soon(_listen, process, wire)
            tasks.start_soon(_write, process, from_us, to_us)
            try:
                yield incoming, outgoing
            finally:
                with anyio.CancelScope(shield=True):
                    await stop(process, wire)
                tasks.cancel_scope.cancel()
    finally:
        for stream in (to_us, incoming, outgoing, from_us):
            stream.close()


async def _start(server: Server) -> Process:
    settings = server.settings
    environment = get_default_environment() | dict(settings.env)
    folder, found = _place(server), _found(settings, environment)
    if found is None:
        hint = f"install it, or give {server.key}.command with its whole path"
        raise UsageError(f"there is no program {settings.command}", hint=hint)
    try:
        # A group of its own: it can be ended with all that it starts, and Ctrl-C in a terminal is not for it.
        return await anyio.open_process(
            [found, *settings.args], env=environment, cwd=folder, start_new_session=os.name == "posix"
        )
    except (OSError, ValueError) as error:
        cause = getattr(error, "strerror", None) or error
        raise UsageError(f"the program {settings.command} cannot be started: {cause}") from None


def _place(server: Server) -> Path:
    folder = Path(server.settings.folder or ".")
    if not folder.is_dir():
        raise UsageError(f"its folder {folder} does not exist", hint=f"set {server.key}.folder")
    return folder


def _found(settings: ServerSettings, environment: Mapping[str, str]) -> str | None:
    command, folder = settings.command, Path(settings.folder or ".")
    if os.sep in command or (os.altsep and os.altsep in command):
        return str(path) if os.access(path := folder.absolute() / Path(command).expanduser(), os.X_OK) else None
    return shutil.which(command, path=environment.get("PATH"))


async def _read(process: Process, messages: _Read, wire: Wire) -> None:
    assert process.stdout is not None
    line, between = bytearray(), 0
    async with messages:
        with suppress(anyio.EndOfStream, *_GONE):
            while True:
                chunk = await process.stdout.receive()
                between += len(chunk)
                *whole, rest = chunk.split(b"\n")
                if len(line) + len(chunk) > wire.most or between > _BETWEEN_ANSWERS * wire.most:
                    wire.fault = wire.flood
                    break
                for part in whole:
                    line += part
                    if await _deliver(bytes(line), messages, wire):
                        between = 0
                    line.clear()
                line += rest
        wire.ended = True
        wire.exit_code = process.returncode
    if wire.fault:
        _signal(process, signal.SIGTERM)
    # Whatever still comes is not kept, but a program that writes must not hang on a full pipe while it leaves.
    with suppress(anyio.EndOfStream, *_GONE):
        while True:
            await process.stdout.receive()


async def _deliver(line: bytes, messages: _Read, wire: Wire) -> bool:
    """Hands a line on if it is a message, and tells whether it is an answer; programs print other things there, too."""
    if not line.strip():
        return False
    try:
        message = mcp_types.jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValueError:
        wire.garbage = line[:_SHOWN].decode("utf-8", "replace").strip()
        return False
    await messages.send(SessionMessage(message))
    return isinstance(message, mcp_types.JSONRPCResponse | mcp_types.JSONRPCError)


async def _listen(process: Process, wire: Wire) -> None:
    assert process.stderr is not None
    with suppress(anyio.EndOfStream, *_GONE):
        while True:
            wire.hear(await process.stderr.receive())


async def _write(process: Process, outgoing: MemoryObjectReceiveStream[SessionMessage], messages: _Read) -> None:
    assert process.stdin is not None
    try:
        async with outgoing:
            async for sent in outgoing:
                text = sent.message.model_dump_json(by_alias=True, exclude_unset=True)
                await process.stdin.send(f"{text}\n".encode())
    except _GONE:
        # Requests that wait for an answer learn that there will be none.
        messages.close()


async def stop(process: Process, wire: Wire) -> None:
    """Closes a server's input, waits for it to leave, then ends it and what it has started."""
    assert process.stdin is not None
    with suppress(*_GONE):
        await process.stdin.aclose()
    for seconds, then in ((LEAVING_SECONDS, signal.SIGTERM), (TERMINATING_SECONDS, _kill())):
        with anyio.move_on_after(seconds):
            # Its wait() waits for the end of the pipes too, which a child may hold open.
            while process.returncode is None:  # noqa: ASYNC110
                await anyio.sleep(_POLL)
        if process.returncode is None:
            _signal(process, then)
    _signal(process, _kill())  # children that outlived it
    with anyio.move_on_after(TERMINATING_SECONDS):
        await process.wait()
    wire.exit_code = process.returncode
    with anyio.move_on_after(TERMINATING_SECONDS), suppress(*_GONE):
        await process.aclose()


def kill(wire: Wire) -> None:
    """Kills a server, with its children, that has not ended by itself."""
    if wire.pid is not None and wire.exit_code is None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(wire.pid, signal.SIGKILL) if os.name == "posix" else os.kill(wire.pid, signal.SIGTERM)


def _kill() -> signal.Signals:
    return signal.SIGKILL if os.name == "posix" else signal.SIGTERM


def _signal(process: Process, number: signal.Signals) -> None:
    """Signals the whole group where there are such, also where its first process has ended."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if os.name == "posix":
            os.killpg(process.pid, number)
        else:
            process.terminate()
