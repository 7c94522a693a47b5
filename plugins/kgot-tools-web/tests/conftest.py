"""A web on loopback, and how the tools are called on it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from kgot_core.contracts.model import ToolCallRequest
from kgot_core.contracts.run import Run
from kgot_core.contracts.tools import ToolResult
from kgot_core.providers import ToolProvider
from kgot_core.run.parts import ToolEntry
from kgot_core.testing.runs import Ended, Setting, try_in_run
from kgot_tools_web.plugin import kgot_tools


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Gives each test a cache of its own."""
    monkeypatch.setenv("KGOT_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture(scope="session")
def web_kit(launcher: Callable[[str], ModuleType]) -> ModuleType:
    """The module of the loopback web."""
    return launcher("loopback_web")


@pytest.fixture
def web(web_kit: ModuleType, launcher: Callable[[str], ModuleType]) -> Iterator[Any]:
    """A loopback web of the sample pages."""
    with web_kit.Loopback(web_kit.stored_pages(), launcher("loopback_wiki").answer) as server:
        yield server


@pytest.fixture
def settings(web: Any) -> dict[str, Any]:
    """Settings that open the loopback web, and nothing else that is private, to the tools."""
    return {
        "allow_hosts": (web.place,),
        "per_second": 1_000.0,
        "wikipedia_url": f"{web.url}/w/api.php",
        "archive_url": web.url,
        "browser": "never",
    }


@pytest.fixture
def run_tool(settings: dict[str, Any], tmp_path: Path) -> Callable[..., Ended[ToolResult]]:
    """Calls a tool in a real run: ``run_tool("visit_page", script=..., settings={...}, url=...)``."""

    def made(
        name: str,
        *,
        script: Any = None,
        more: Mapping[str, Any] | None = None,
        beside: tuple[ToolProvider, ...] = (),
        **arguments: Any,
    ) -> Ended[ToolResult]:
        given = {**settings, **(more or {})}
        entries = [ToolEntry(provider, provider.settings(**given)) for provider in kgot_tools()]
        entries += [ToolEntry(provider, provider.settings()) for provider in beside]

        async def work(run: Run) -> ToolResult:
            return await run.tools.call("test", ToolCallRequest(name, arguments))

        setting = Setting(tools=entries, folder=tmp_path / "run", **({"script": script} if script else {}))
        return try_in_run(work, setting)

    return made


@pytest.fixture
def call(run_tool: Callable[..., Ended[ToolResult]]) -> Callable[..., ToolResult]:
    """Calls a tool, and gives its result."""
    return lambda name, **given: run_tool(name, **given).result
