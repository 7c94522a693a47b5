"""From what went wrong with a server to one line that says it, with the next step and without secrets."""

from __future__ import annotations

import httpx2
from mcp import MCPError
from mcp_types import CONNECTION_CLOSED, REQUEST_TIMEOUT
from pydantic import ValidationError

from kgot_core.errors import KgotError, TransientToolError, UsageError
from kgot_core.graph.visible import visible
from kgot_tools_mcp.servers import Server
from kgot_tools_mcp.wire import Wire

# Ends of an HTTP session that a new connection mends, as the library words it.
_SESSION_ENDED = "Session terminated"
_PASSING = ("429", "502", "503", "504")
_ANEW = "; it is connected anew for the next call, and what it kept in memory is lost"
_LONGEST = 600


def explained(server: Server, wire: Wire, error: BaseException, *, starting: bool = False) -> KgotError:
    """Gives the error of a call, or of the start, in words.

    Args:
        server: The server.
        wire: What is known of the connection.
        error: What was raised.
        starting: It happened while the server was started.
    """
    error = _innermost(error)
    kind, text, hint = _told(server, wire, error, starting)
    subject = f"the MCP server {server.name} " if not isinstance(error, KgotError) else ""
    shown = " ".join(visible(server.scrubber.clean(f"{subject}{text}")).split())
    return kind(shown[:_LONGEST], hint=server.scrubber.clean(hint))


def lost(wire: Wire, error: BaseException) -> bool:
    """Tells whether the connection is of no use any more."""
    error = _innermost(error)
    return wire.ended or _is_closed(error) or (isinstance(error, MCPError) and error.message == _SESSION_ENDED)


def _is_closed(error: BaseException) -> bool:
    return isinstance(error, MCPError) and error.code == CONNECTION_CLOSED


def _told(server: Server, wire: Wire, error: BaseException, starting: bool) -> tuple[type[KgotError], str, str]:
    settings = server.settings
    if isinstance(error, KgotError):
        return type(error), error.message, error.hint
    if isinstance(error, MCPError) and error.message == _SESSION_ENDED:
        return TransientToolError, f"has ended the session{_ANEW}", ""
    if wire.status.startswith(("401", "403")):
        return KgotError, f"answered {wire.status}", f"set {server.key}.headers, such as Authorization"
    if wire.fault:
        return KgotError, wire.fault, f"{server.key}.message_mb allows more"
    if isinstance(error, TimeoutError) or (isinstance(error, MCPError) and error.code == REQUEST_TIMEOUT):
        name = "start_seconds" if starting else "seconds"
        limit = getattr(settings, name)
        return KgotError, f"did not answer within {limit:g} seconds{_beside(wire)}", f"{server.key}.{name} allows more"
    if wire.status:
        kind = TransientToolError if wire.status.startswith(_PASSING) else KgotError
        hint = f"see whether {server.key}.url is right" if wire.status.startswith("404") else ""
        return kind, f"answered {wire.status}", hint
    if isinstance(error, httpx2.TransportError):
        kind = UsageError if starting else TransientToolError
        return kind, f"cannot be reached: {error or type(error).__name__}", f"see whether {server.key}.url is right"
    if isinstance(error, MCPError) and not _is_closed(error):
        return KgotError, f"says: {error.message}", ""
    if isinstance(error, MCPError):
        hint = f"see what {settings.command} says when it is started by hand" if settings.command else ""
        return TransientToolError, f"{_end(wire)}{_beside(wire)}{'' if starting else _ANEW}", hint if starting else ""
    if isinstance(error, ValidationError):
        return KgotError, "answered something that is none of the protocol's results", ""
    return KgotError, f"failed: {error or type(error).__name__}", ""


def _end(wire: Wire) -> str:
    if wire.exit_code is None:
        return "has ended the connection"
    return f"has ended with exit code {wire.exit_code}" if wire.exit_code >= 0 else "was killed"


def _beside(wire: Wire) -> str:
    if wire.last_words:
        return f"; the last it said: {wire.last_words}"
    return f"; it wrote what is no message: {wire.garbage}" if wire.garbage else ""


def _innermost(error: BaseException) -> BaseException:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
