"""Servers that the tests start, and how their tools are called in a run."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from kgot_core.contracts.model import ToolCallRequest
from kgot_core.contracts.run import Run
from kgot_core.contracts.tools import ToolResult
from kgot_core.run.parts import ToolEntry
from kgot_core.testing.runs import Ended, Setting, try_in_run
from kgot_tools_mcp.plugin import kgot_tools
from kgot_tools_mcp.settings import McpSettings, ServerSettings

FIXTURES = Path(__file__).parent / "fixtures"
PROVIDER = next(iter(kgot_tools()))


def program_of(file: str, *args: str, **more: Any) -> ServerSettings:
    """Gives the settings of a server of the fixtures that is a program."""
    return ServerSettings(command=sys.executable, args=(str(FIXTURES / file), *args), **more)


@dataclass(frozen=True)
class InRun:
    """Does things in runs that have the tools of some servers.

    Attributes:
        folder: Folder for files of the run.
    """

    folder: Path

    def work(self, work: Callable[[Run], Awaitable[Any]], **servers: ServerSettings) -> Ended[Any]:
        """Does something in a run."""
        entry = ToolEntry(PROVIDER, McpSettings(servers=servers))
        return try_in_run(work, Setting(tools=[entry], folder=self.folder))

    def call(self, name: str, arguments: Mapping[str, Any], **servers: ServerSettings) -> ToolResult:
        """Calls a tool in a run."""

        async def work(run: Run) -> ToolResult:
            return await run.tools.call("test", ToolCallRequest(name, arguments))

        return self.work(work, **servers).result

    def opened(self, **servers: ServerSettings) -> tuple[dict[str, Mapping[str, Any]], dict[str, str]]:
        """Gives the tools of a run by their names, and what is left out with the causes."""

        async def work(run: Run) -> None:
            return None

        records = self.work(work, **servers).records
        event = next(record for record in records if record["kind"] == "tools_opened")
        return {spec["name"]: spec for spec in event["specs"]}, event["left_out"]


@pytest.fixture
def in_run(tmp_path: Path) -> InRun:
    """Gives runs whose files are in a folder of the test."""
    return InRun(tmp_path / "run")


@pytest.fixture
def program() -> Callable[..., ServerSettings]:
    """Gives the settings of a server of the fixtures: ``program("harbour.py", seconds=1)``."""
    return program_of


@pytest.fixture
def told() -> Callable[[Path, str], Awaitable[None]]:
    """Waits until a file holds a word."""

    async def wait(path: Path, word: str) -> None:
        async with asyncio.timeout(30):
            while not path.exists() or path.read_text(encoding="utf-8") != word:  # noqa: ASYNC110, ASYNC240
                await asyncio.sleep(0.01)

    return wait
