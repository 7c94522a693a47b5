"""The entry point: tools of servers of the Model Context Protocol."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterable

from kgot_core.hookspecs import hookimpl
from kgot_core.providers import Problem, ToolProvider, later
from kgot_tools_mcp.settings import LONGEST_CALL, McpSettings


def check(settings: McpSettings) -> Problem | None:
    """Tells whether the protocol's library is installed. What is wrong with one server costs that server alone."""
    if (settings.servers or settings.file) and importlib.util.find_spec("mcp") is None:
        return Problem("not installed: mcp", "pip install --force-reinstall kgot-tools-mcp")
    return None


@hookimpl
def kgot_tools() -> Iterable[ToolProvider]:
    """The tools of all servers."""
    return [
        ToolProvider(
            name="mcp",
            summary="Tools of the servers of the Model Context Protocol that are set.",
            settings=McpSettings,
            check=check,
            create=later("kgot_tools_mcp.opening:create"),
            parts=later("kgot_tools_mcp.opening:parts"),
            needs="a server in tools.mcp.servers or tools.mcp.file",
            # What its tools declare decides; this holds where they say nothing.
            effect="write",
            # Each server has a limit of its own below this.
            seconds=LONGEST_CALL + 60.0,
        )
    ]
