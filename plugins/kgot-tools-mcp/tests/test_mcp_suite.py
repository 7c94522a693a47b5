"""The tools of a server keep the contract of all tools."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from kgot_core.testing.tool_suite import ToolSuite
from kgot_tools_mcp.plugin import kgot_tools
from kgot_tools_mcp.settings import McpSettings, ServerSettings

HARBOUR = ServerSettings(
    command=sys.executable,
    args=(str(Path(__file__).parent / "fixtures" / "harbour.py"),),
    env={"HARBOUR_KEY": "kit-secret-4417"},
    include=("ships_of",),
)


class TestServer(ToolSuite):
    provider = next(iter(kgot_tools()))
    settings = McpSettings(servers={"harbour": HARBOUR})
    bad_calls: ClassVar[Mapping[str, Mapping[str, Any]]] = {"harbour_ships_of": {"port": "Nowhere"}}
