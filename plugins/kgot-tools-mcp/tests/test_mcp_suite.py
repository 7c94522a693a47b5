"""The tools of a server keep the contract of all tools."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import pytest

from kgot_core.testing.checking import test_classes as classes_of
from kgot_core.testing.tool_suite import NoToolSuite, ToolSuite
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


@pytest.mark.parametrize("command", ["", "no-such-program-here", sys.executable])
def test_only_without_a_server_the_provider_is_checked_for_making_no_tool(tmp_path: Path, command: str) -> None:
    server = {"command": command, "args": f'["{HARBOUR.args[0]}"]', "include": '["ships_of"]'} if command else {}
    sets = [f"tools.mcp.servers.harbour.{key}={value}" for key, value in server.items()]
    made = classes_of("mcp", tmp_path, sets, ())["TestToolMcp"]
    assert issubclass(made, ToolSuite if command else NoToolSuite)
    if not command:
        made().test_without_what_it_needs_it_makes_no_tool_and_no_error()
