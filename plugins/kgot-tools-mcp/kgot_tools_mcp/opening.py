"""Makes the tools of a run from the servers that are set; what is wrong with one server costs that server alone."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from concurrent.futures import CancelledError, Future
from fnmatch import fnmatchcase

from mcp_types import Tool

from kgot_core.contracts.tools import ToolContext, ToolPart
from kgot_core.errors import KgotError
from kgot_tools_mcp.connection import Connection
from kgot_tools_mcp.naming import names_of
from kgot_tools_mcp.servers import Server, Unusable, find_servers
from kgot_tools_mcp.settings import McpSettings
from kgot_tools_mcp.tool import McpTool

MOST_SHOWN = 12


def create(settings: McpSettings, context: ToolContext) -> Sequence[McpTool]:
    """Starts all servers at once and gives their tools; a server that cannot be used is left out with a line."""
    usable = []
    for found in find_servers(settings):
        if isinstance(found, Unusable):
            context.leave_out(_title(found.name), str(found.error))
        else:
            usable.append(Connection(found))
    _close_at_end(context, usable)
    listed: list[tuple[Connection, Tool]] = []
    for connection, offered in _opened(usable):
        if isinstance(offered, KgotError):
            context.leave_out(_title(connection.server.name), str(offered))
            continue
        tools, unknown = chosen(connection.server, offered)
        listed += [(connection, tool) for tool in tools]
        if unknown:
            context.leave_out(f"{_title(connection.server.name)}, {', '.join(unknown)}", "the server has no such tool")
    names = names_of((connection.server.name, tool.name) for connection, tool in listed)
    made: list[McpTool] = []
    for connection, tool in listed:
        name = names[connection.server.name, tool.name]
        try:
            made.append(McpTool(context, connection, tool, name))
        except KgotError as error:
            context.leave_out(name, str(error))
    return made


def parts(settings: McpSettings) -> Sequence[ToolPart]:
    """Tells of each server which tools it offers now, or why it cannot be used."""
    found = list(find_servers(settings))
    told = {one.name: _unusable(one.name, one.error) for one in found if isinstance(one, Unusable)}
    connections = [Connection(one) for one in found if isinstance(one, Server)]
    try:
        for connection, offered in _opened(connections):
            server = connection.server
            if isinstance(offered, KgotError):
                told[server.name] = _unusable(server.name, offered)
            else:
                told[server.name] = ToolPart(server.name, _summary(server, offered))
    finally:
        _close(connections)
    return [told[one.name] for one in found]


def chosen(server: Server, offered: Iterable[Tool]) -> tuple[list[Tool], list[str]]:
    """Gives the tools that the settings let through, and the names in the settings that the server does not have."""
    tools = list({tool.name: tool for tool in offered}.values())
    include, exclude = server.settings.include, server.settings.exclude
    unknown = [name for name in include if not any(fnmatchcase(tool.name, name) for tool in tools)]
    kept = [
        tool
        for tool in tools
        if (not include or any(fnmatchcase(tool.name, name) for name in include))
        and not any(fnmatchcase(tool.name, name) for name in exclude)
    ]
    return kept, unknown


def _opened(connections: Sequence[Connection]) -> Sequence[tuple[Connection, Sequence[Tool] | KgotError]]:
    begun = [(connection, connection.tools()) for connection in connections]
    return [(connection, _waited(tools)) for connection, tools in begun]


def _waited(tools: Future[Sequence[Tool]]) -> Sequence[Tool] | KgotError:
    try:
        return tools.result()
    except KgotError as error:
        return error
    except CancelledError:
        return KgotError("the run ended while it was started")


def _close_at_end(context: ToolContext, connections: Sequence[Connection]) -> None:
    if connections:
        context.at_end(lambda: _close(connections))


def _close(connections: Sequence[Connection]) -> None:
    threads = [threading.Thread(target=connection.close, daemon=True) for connection in connections]
    for act in ("start", "join"):
        for thread in threads:
            getattr(thread, act)()


def _summary(server: Server, offered: Sequence[Tool]) -> str:
    tools, _ = chosen(server, offered)
    names = names_of((server.name, tool.name) for tool in tools)
    shown = [names[server.name, tool.name] for tool in tools]
    more = f" and {len(shown) - MOST_SHOWN} more" if len(shown) > MOST_SHOWN else ""
    return f"{len(shown)} tools: {', '.join(shown[:MOST_SHOWN])}{more}" if shown else "it offers no tools"


def _unusable(name: str, error: KgotError) -> ToolPart:
    return ToolPart(name, problem=error.message, hint=error.hint)


def _title(name: str) -> str:
    return f"mcp {name}".rstrip()
