"""A tool that uses other tools and the run's models."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from langchain_core.tools import StructuredTool

from kgot_core.contracts.model import ToolCallRequest
from kgot_core.contracts.run import Run
from kgot_core.contracts.tools import ToolContext, ToolResult
from kgot_core.providers import NoSettings, ToolProvider
from kgot_core.run.parts import ToolEntry
from kgot_core.testing.runs import Ended, Setting, try_in_run


def tried(
    outer: Callable[[ToolContext], Callable[..., Any]], *, parallel: bool = True, script: Any = None
) -> Ended[ToolResult]:
    """Calls the tool ``outer`` beside a tool ``double``, which asks the model and fails on 13."""

    def create(settings: NoSettings, context: ToolContext) -> Sequence[Any]:
        async def double(number: int) -> str:
            """Doubles."""
            if number == 13:
                raise ValueError("unlucky")
            return f"{number * 2} {await context.answer(f'say {number}')}"

        tools = [StructuredTool.from_function(coroutine=double)]
        made = outer(context)
        return [*tools, StructuredTool.from_function(coroutine=made, name="outer", description="Calls others.")]

    provider = ToolProvider(name="both", summary="Two tools.", create=create, parallel=parallel, seconds=5)

    async def work(run: Run) -> ToolResult:
        return await run.tools.call("1", ToolCallRequest("outer", {}))

    setting = Setting(tools=[ToolEntry(provider, NoSettings())])
    return try_in_run(work, setting if script is None else Setting(tools=setting.tools, script=script))


@pytest.mark.parametrize("parallel", [True, False])
def test_a_tool_calls_another_one_and_both_are_recorded(parallel: bool) -> None:
    def outer(context: ToolContext) -> Callable[..., Any]:
        async def made() -> str:
            result = await context.call("double", {"number": 21})
            return f"{sorted(context.tools)} {result.text} {await context.answer('after')}"

        return made

    ended = tried(outer, parallel=parallel, script=lambda asked: f"heard {asked.prompt}")
    assert ended.result.text == "['double', 'outer'] 42 heard say 21 heard after"
    calls = {record["step"]: record["tool"] for record in ended.records if record["kind"] == "tool_called"}
    assert calls == {"1/call-1": "double", "1": "outer"}
    asked = [(record["step"], record["parent"]) for record in ended.records if record["kind"] == "model_called"]
    assert asked == [("1/call-1/ask-1", "double"), ("1/ask-1", "outer")], (
        "each request belongs to the tool that made it"
    )


@pytest.mark.parametrize(
    ("name", "arguments", "words"),
    [
        ("double", {"number": 13}, "unlucky"),
        ("double", {}, "'number' is a required property"),
        ("triple", {"number": 1}, "there is no tool 'triple'"),
    ],
)
def test_a_call_that_fails_is_a_result(name: str, arguments: dict[str, Any], words: str) -> None:
    def outer(context: ToolContext) -> Callable[..., Any]:
        async def made() -> str:
            result = await context.call(name, arguments)
            return f"{result.failed} {result.text}"

        return made

    text = tried(outer).result.text
    assert text.startswith("True") and words in text


def test_an_answer_comes_without_its_reasoning_and_may_be_about_images() -> None:
    def outer(context: ToolContext) -> Callable[..., Any]:
        async def made() -> str:
            return await context.answer("what is it?", role="vision", images=["data:image/png;base64,AAAA"])

        return made

    ended = tried(outer, script=lambda asked: "<think>a lake</think>A pond")
    assert ended.result.text == "A pond"
    assert "data:image/png;base64,AAAA" in ended.requests[0]
