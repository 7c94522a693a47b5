"""A tool that uses other tools and the run's models."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from langchain_core.tools import StructuredTool

from kgot_core.contracts.model import ToolCallRequest, ToolSpec, user
from kgot_core.contracts.options import LoopLimits
from kgot_core.contracts.run import Run
from kgot_core.contracts.tools import ToolContext, ToolResult
from kgot_core.errors import TransientToolError
from kgot_core.providers import NoSettings, ToolProvider
from kgot_core.run import opening
from kgot_core.run.desks import toolbox
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


@pytest.mark.parametrize("fails", [False, True])
def test_what_a_tool_has_opened_is_closed_at_the_end_last_one_first(fails: bool) -> None:
    told: list[str] = []

    def outer(context: ToolContext) -> Callable[..., Any]:
        def broken() -> None:
            raise ValueError("cannot be closed")

        context.at_end(lambda: told.append("first"))
        context.at_end(broken)

        async def made() -> str:
            context.at_end(lambda: told.append("within a call"))
            told.append("called")
            if fails:
                raise ValueError("no")
            return "done"

        return made

    assert tried(outer).result.failed is fails
    assert told == ["called", "within a call", "first"]


@pytest.mark.parametrize(("effect", "tries"), [("write", 1), ("read", 3), (None, 3), ("odd", 3)])
def test_a_tool_may_say_for_itself_that_it_writes(
    monkeypatch: pytest.MonkeyPatch, effect: str | None, tries: int
) -> None:
    monkeypatch.setattr(toolbox, "LONGEST_WAIT", 0.0)
    told: list[int] = []

    def create(settings: NoSettings, context: ToolContext) -> Sequence[Any]:
        async def flaky() -> str:
            """Fails."""
            told.append(1)
            raise TransientToolError("away")

        return [StructuredTool.from_function(coroutine=flaky, metadata={"effect": effect} if effect else None)]

    provider = ToolProvider(name="flaky", summary="Fails.", create=create)

    async def work(run: Run) -> ToolResult:
        return await run.tools.call("1", ToolCallRequest("flaky", {}))

    limits = LoopLimits(max_tool_retries=2)
    assert try_in_run(work, Setting(tools=[ToolEntry(provider, NoSettings())], limits=limits)).result.failed
    assert len(told) == tries


def test_a_tool_that_takes_too_long_to_be_made_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening, "OPENING_SECONDS", 0.05)
    ended = threading.Event()

    def create(settings: NoSettings, context: ToolContext) -> Sequence[Any]:
        ended.wait(30)
        return []

    provider = ToolProvider(name="slow", summary="Slow.", create=create)

    async def work(run: Run) -> Sequence[str]:
        return [spec.name for spec in run.tools.specs]

    done = try_in_run(work, Setting(tools=[ToolEntry(provider, NoSettings())]))
    ended.set()
    [opened] = [record for record in done.records if record["kind"] == "tools_opened"]
    assert done.result == [] and opened["left_out"] == {"slow": "it could not be made within 0.05 seconds"}


def test_calls_that_a_model_writes_as_text_stand_among_its_calls() -> None:
    offered = [ToolSpec("open", "Opens.", {"type": "object", "properties": {"url": {"type": "string"}}})]

    def outer(context: ToolContext) -> Callable[..., Any]:
        async def made() -> str:
            replies = [await context.ask([user(text)], tools=offered) for text in ("call", "talk")]
            return str(
                [[(call.name, dict(call.arguments)) for call in one.completions[0].tool_calls] for one in replies]
            )

        return made

    written = '{"name": "open", "arguments": {"url": "a.example"}}'
    ended = tried(outer, script=lambda asked: written if asked.prompt == "call" else "I would open a page.")
    assert ended.result.text == "[[('open', {'url': 'a.example'})], []]"


def test_what_tools_share_is_made_once() -> None:
    made_so_far: list[str] = []

    def outer(context: ToolContext) -> Callable[..., Any]:
        def make() -> list[str]:
            made_so_far.append("made")
            return []

        context.share("basket", make).append("at first")

        async def made() -> str:
            context.share("basket", make).append("later")
            return f"{context.share('basket', make)} {context.share('other', lambda: 7)}"

        return made

    assert tried(outer).result.text == "['at first', 'later'] 7" and made_so_far == ["made"]


def test_tools_may_say_what_is_missing_of_them() -> None:
    def create(settings: NoSettings, context: ToolContext) -> Sequence[Any]:
        context.leave_out("far server", "nobody\nlistens")
        return [StructuredTool.from_function(func=lambda: "near", name="near", description="Is there.")]

    provider = ToolProvider(name="servers", summary="Servers.", create=create)

    async def work(run: Run) -> Sequence[str]:
        return [spec.name for spec in run.tools.specs]

    done = try_in_run(work, Setting(tools=[ToolEntry(provider, NoSettings())]))
    [opened] = [record for record in done.records if record["kind"] == "tools_opened"]
    assert done.result == ["near"] and opened["left_out"] == {"far server": "nobody listens"}
