"""The run's tools: limits, retries, failures, what they hand over."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any, Literal

import pytest
from langchain_core.tools import BaseTool, StructuredTool, ToolException, tool

from kgot_core.contracts.model import ToolCallRequest
from kgot_core.contracts.options import Caps
from kgot_core.contracts.task import Usage
from kgot_core.contracts.tools import Source, ToolArtifact, ToolResult
from kgot_core.errors import CapReached, TransientToolError
from kgot_core.providers import ToolProvider
from kgot_core.run.caps import Budget
from kgot_core.run.concurrency.side_by_side import side_by_side
from kgot_core.run.desks.toolbox import OpenTool, ToolDesk, describe
from kgot_core.run.record.journal import Journal
from kgot_core.sinks.memory import MemorySink


class Desk:
    """A desk with tools, whose pauses are only noted."""

    def __init__(self, *tools: BaseTool | Callable[..., Any], retries: int = 6, **provider: Any) -> None:
        made = [item if isinstance(item, BaseTool) else _made(item) for item in tools]
        kind = ToolProvider(name="test", summary="", create=lambda settings, context: made, **provider)
        self.sink = MemorySink()
        self.pauses: list[float] = []
        self.entered: list[tuple[str, str]] = []
        self.desk = ToolDesk(
            Journal("run", None, [self.sink]),
            [describe(item) for item in made],
            {item.name: OpenTool(item, kind) for item in made},
            retries,
            lambda step, name: self.entered.append((step, name)),
            Budget(Caps(), Usage),
            self._pause,
        )

    async def _pause(self, seconds: float) -> None:
        self.pauses.append(seconds)

    async def call(self, name: str, step: str = "1/tools/1", **arguments: Any) -> ToolResult:
        return await self.desk.call(step, ToolCallRequest(name, arguments))

    def of(self, kind: str) -> list[Any]:
        return [record for record in self.sink.records if record["kind"] == kind]


def _made(function: Callable[..., Any]) -> BaseTool:
    if asyncio.iscoroutinefunction(function):
        return StructuredTool.from_function(coroutine=function)
    return StructuredTool.from_function(func=function)


def failing(error: BaseException, times: int = 100) -> tuple[Callable[..., str], list[int]]:
    tries: list[int] = []

    def search(query: str = "x") -> str:
        """Searches."""
        tries.append(len(tries))
        if len(tries) <= times:
            raise error
        return "found"

    return search, tries


@pytest.mark.parametrize(
    ("failures", "retries", "tries", "failed"), [(2, 6, 3, False), (6, 6, 7, False), (7, 6, 7, True), (1, 0, 1, True)]
)
async def test_an_error_that_may_pass_is_tried_again(failures: int, retries: int, tries: int, failed: bool) -> None:
    search, made = failing(TransientToolError("the site is busy"), failures)
    desk = Desk(search, retries=retries)
    result = await desk.call("search")
    assert (len(made), result.failed) == (tries, failed)
    assert result.text == ("the site is busy" if failed else "found")
    assert len(desk.pauses) == len(desk.of("tool_retried")) == tries - 1
    assert desk.pauses == sorted(desk.pauses) and max(desk.pauses, default=0) <= 30
    assert len(desk.of("tool_called")) == len(desk.of("tool_started")) == 1


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (ValueError("the page is empty"), "ValueError: the page is empty"),
        (ToolException("no such page"), "ToolException: no such page"),
        (KeyError("x"), "KeyError: 'x'"),
        (TimeoutError("the socket timed out"), "TimeoutError: the socket timed out"),
        (asyncio.CancelledError("gone"), "CancelledError: gone"),
        (RuntimeError(""), "RuntimeError"),
    ],
)
@pytest.mark.parametrize("asynchronous", [True, False])
async def test_any_other_error_is_told_at_once_in_its_own_words(
    error: BaseException, text: str, asynchronous: bool
) -> None:
    search, made = failing(error)

    async def search_async(query: str = "x") -> str:
        """Searches."""
        return search(query)

    desk = Desk(search_async if asynchronous else search)
    result = await desk.call("search_async" if asynchronous else "search")
    assert result.failed and len(made) == 1 and not desk.pauses
    assert text.partition(":")[0] in result.text and text.partition(": ")[2] in result.text
    assert desk.of("tool_called")[0]["failed"]


async def test_a_cap_that_a_tool_reaches_is_its_result_and_is_not_tried_again() -> None:
    search, tries = failing(CapReached("max_cost = $1"))
    result = await Desk(search).call("search")
    assert result.failed and result.text == "stopped: max_cost = $1" and len(tries) == 1


async def test_a_tool_that_makes_its_errors_messages_has_failed_all_the_same() -> None:
    @tool
    def search(query: str) -> str:
        """Searches."""
        raise ToolException("no such page")

    search.handle_tool_error = True
    result = await Desk(search).call("search", query="x")
    assert (result.failed, result.text) == (True, "no such page")


async def test_a_tool_that_writes_is_never_tried_again() -> None:
    search, made = failing(TransientToolError("busy"))
    effect: Literal["write"] = "write"
    assert (await Desk(search, effect=effect).call("search")).failed and len(made) == 1


@pytest.mark.parametrize("asynchronous", [True, False])
async def test_a_slow_tool_ends_at_its_limit(asynchronous: bool) -> None:
    never = threading.Event()

    def search(query: str) -> str:
        """Searches."""
        never.wait(20)
        return "late"

    async def search_async(query: str) -> str:
        """Searches."""
        await asyncio.sleep(20)
        return "late"

    desk = Desk(search, search_async, seconds=0.05)
    result = await desk.call("search_async" if asynchronous else "search", query="x")
    never.set()
    assert result.failed and result.text.endswith("took longer than 0.05 seconds") and not desk.pauses


@pytest.mark.parametrize(("parallel", "most"), [(True, 3), (False, 1)])
async def test_calls_run_side_by_side_where_the_tool_allows_it(parallel: bool, most: int) -> None:
    inside: list[str] = []
    seen: list[int] = []

    async def search(query: str) -> str:
        """Searches."""
        inside.append(query)
        for _ in range(5):
            await asyncio.sleep(0)
        seen.append(len(inside))
        inside.remove(query)
        return query

    desk = Desk(search, parallel=parallel)
    results = await side_by_side(desk.call("search", f"1/tools/{query}", query=query) for query in "abc")
    assert [result.text for result in results] == ["a", "b", "c"] and max(seen) == most


async def test_an_equal_call_is_not_made_again_whatever_the_order_of_its_arguments() -> None:
    made: list[str] = []

    def search(query: str, place: str) -> str:
        """Searches."""
        made.append(query)
        return f"about {query}"

    desk = Desk(search)
    first = await desk.call("search", "1/tools/1", query="x", place="y")
    again = await desk.desk.call("2/tools/1", ToolCallRequest("search", {"place": "y", "query": "x"}))
    assert again == first and again.step == "1/tools/1" and made == ["x"] and len(desk.of("tool_called")) == 1
    await desk.call("search", "2/tools/2", query="x", place="z")
    assert made == ["x", "x"]


async def test_a_call_that_failed_twice_is_not_made_a_third_time() -> None:
    search, made = failing(ValueError("closed"))
    desk = Desk(search)
    results = [await desk.call("search", f"{number}/tools/1", query="x") for number in (1, 2, 3, 4)]
    assert len(made) == 2 and all(result.failed for result in results)
    assert results[2].text == results[3].text == "not called again: the same call has failed twice; try another way"


async def test_sources_and_files_that_a_tool_hands_over_are_kept() -> None:
    @tool(response_format="content_and_artifact")
    def search(query: str) -> tuple[str, ToolArtifact]:
        """Searches."""
        return "found", ToolArtifact((Source("https://example.org/x", "A page", "page 3"),), ("table.csv",))

    desk = Desk(search)
    result = await desk.call("search", query="x")
    assert result.artifact == ToolArtifact((Source("https://example.org/x", "A page", "page 3"),), ("table.csv",))
    assert desk.of("tool_called")[0]["sources"][0]["address"] == "https://example.org/x"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("", "(the tool gave nothing)"),
        ("  \n", "(the tool gave nothing)"),
        ({"a": 1}, '{"a": 1}'),
        (5, "5"),
        (None, "null"),
    ],
)
async def test_results_of_any_kind_become_text(value: Any, text: str) -> None:
    def search(query: str) -> Any:
        """Searches."""
        return value

    assert (await Desk(search).call("search", query="x")).text == text


async def test_a_tool_of_our_own_class_with_both_ways_is_awaited() -> None:
    class Search(BaseTool):
        name: str = "search"
        description: str = "Searches."

        def _run(self, query: str) -> str:
            raise NotImplementedError

        async def _arun(self, query: str) -> str:
            return f"about {query}"

    desk = Desk(Search())
    assert (await desk.call("search", query="x")).text == "about x"
    assert desk.entered == [("1/tools/1", "search")]


def test_problems_name_what_is_wrong() -> None:
    def search(query: str, most: int = 3) -> str:
        """Searches the archive."""
        return query

    desk = Desk(search).desk
    assert desk.problem(ToolCallRequest("search", {"query": "x"})) == ""
    assert "'query' is a required property" in desk.problem(ToolCallRequest("search", {}))
    assert "'three' is not of type 'integer'" in desk.problem(
        ToolCallRequest("search", {"query": "x", "most": "three"})
    )
    assert desk.problem(ToolCallRequest("serch", {})) == "there is no tool 'serch'; did you mean search?"
    assert desk.problem(ToolCallRequest("zzz", {})) == "there is no tool 'zzz'; use one of: search"
    assert desk.specs[0].description == "Searches the archive."
