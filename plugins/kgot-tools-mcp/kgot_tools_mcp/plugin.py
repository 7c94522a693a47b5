"""The entry point: tools of servers of the Model Context Protocol."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from kgot_core.hookspecs import hookimpl
from kgot_core.providers import Problem, ToolProvider, later
from kgot_tools_mcp.settings import LONGEST_CALL, McpSettings

if TYPE_CHECKING:
    from kgot_core.contracts.tools import ToolContext
    from kgot_tools_mcp.tool import McpTool


def check(settings: McpSettings) -> Problem | None:
    """Tells whether the protocol's library is installed. What is wrong with one server costs that server alone."""
    if _any(settings) and importlib.util.find_spec("mcp") is None:
        return Problem("not installed: mcp", "pip install --force-reinstall kgot-tools-mcp")
    return None


def create(settings: McpSettings, context: ToolContext) -> Sequence[McpTool]:
    """Makes the tools of all servers; a run without any does not wait for the protocol's library to be imported."""
    if not _any(settings):
        return ()
    from kgot_tools_mcp import opening

    return opening.create(settings, context)


def _any(settings: McpSettings) -> bool:
    return bool(settings.servers or settings.file)


@hookimpl
def kgot_tools() -> Iterable[ToolProvider]:
    """The tools of all servers."""
    return [
        ToolProvider(
            name="mcp",
            summary="Tools of the servers of the Model Context Protocol that are set.",
            settings=McpSettings,
            check=check,
            create=create,
            parts=later("kgot_tools_mcp.opening:parts"),
            needs="a server in tools.mcp.servers or tools.mcp.file",
            # What its tools declare decides; this holds where they say nothing.
            effect="write",
            # Each server has a limit of its own below this.
            seconds=LONGEST_CALL + 60.0,
        )
    ]
