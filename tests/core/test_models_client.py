"""The client of a model: what it sends, counts and gives back, and how it ends."""

from __future__ import annotations

import asyncio
import random
import runpy
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kgot_core.contracts.model import Message, Request, ToolCallRequest, ToolSpec, user
from kgot_core.contracts.task import Usage
from kgot_core.errors import ModelError
from kgot_core.models.client import ModelClient
from kgot_core.models.faults import NothingSaid
from kgot_core.testing.openai_server import Broken, Dropped, Hang, HttpError, NoChoices, OpenAIServer, Say

_clients = runpy.run_path(str(Path(__file__).with_name("kit_clients.py")))
ASK, client_for = _clients["ASK"], _clients["client_for"]
CALC = ToolSpec("calc", "Adds one.", {"type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"]})


async def test_one_sample() -> None:
    with OpenAIServer(lambda payload, index: Say("Paris", prompt_tokens=20, completion_tokens=2)) as server:
        client = client_for(server)
        reply = await client.ask(ASK)
        await client.aclose()
    assert [completion.text for completion in reply.completions] == ["Paris"]
    assert reply.usage == Usage(requests=1, input_tokens=20, output_tokens=2, unpriced=1)
    assert (reply.model, reply.notices) == ("scripted", ())
    assert server.payloads[0]["messages"] == [
        {"role": "system", "content": "Be short."},
        {"role": "user", "content": "What is the capital of France?"},
    ]
    assert "n" not in server.payloads[0] and "temperature" not in server.payloads[0]


@pytest.mark.parametrize("content", [None, ""])
async def test_d06_tool_call_without_content(content: str | None) -> None:
    with OpenAIServer(lambda payload, index: Say(content, [("calc", {"x": 2})])) as server:
        client = client_for(server)
        first = await client.ask(Request(ASK.messages, tools=(CALC,)))
        (completion,) = first.completions
        assert completion.tool_calls == (ToolCallRequest("calc", {"x": 2}, "c1"),)
        assert completion.text == ""
        answered = (Message("assistant", "", completion.tool_calls), Message("tool", "3", tool_call_id="c1"))
        await client.ask(Request((*ASK.messages, *answered), tools=(CALC,)))
    sent = server.payloads[1]["messages"][-2:]
    assert sent[0]["tool_calls"][0]["id"] == sent[1]["tool_call_id"] == "c1"
    assert sent[0]["content"] is None and sent[1]["content"] == "3"
    assert [tool["function"]["name"] for tool in server.payloads[1]["tools"]] == ["calc"]


@pytest.mark.parametrize("empty", ["", None, "  \n", NoChoices()])
async def test_d06_empty_reply_is_asked_again(empty: Any) -> None:
    causes: list[str] = []
    with OpenAIServer(lambda payload, index: "Paris" if index else _say(empty)) as server:
        client = client_for(server)
        reply = await client.ask(ASK, on_retry=lambda attempt, seconds, cause: causes.append(cause))
    assert [completion.text for completion in reply.completions] == ["Paris"]
    assert reply.usage.requests == 2, "the empty reply was paid too"
    assert len(causes) == 1 and ("nothing" in causes[0] or "choices" in causes[0])


def _say(content: Any) -> Any:
    return content if isinstance(content, NoChoices) else Say(content)


async def test_d06_only_empty_replies_end_in_a_clear_error() -> None:
    with OpenAIServer(lambda payload, index: Say("", prompt_tokens=7, completion_tokens=0)) as server:
        client = client_for(server)
        with pytest.raises(ModelError, match=r"kept replying with nothing \(in 6 attempts\)") as caught:
            await client.ask(ASK)
    assert len(server.payloads) == 6
    assert isinstance(caught.value, NothingSaid) and caught.value.usage.input_tokens == 42


BROKEN = ['{"x": 2', "[1]", "7", '"words"', "{'x': 2}", [1]]


@pytest.mark.parametrize("arguments", BROKEN)
async def test_malformed_arguments_come_as_text(arguments: Any) -> None:
    with OpenAIServer(lambda payload, index: Say(None, [("calc", arguments)])) as server:
        reply = await client_for(server).ask(Request(ASK.messages, tools=(CALC,)))
    (completion,) = reply.completions
    assert completion.tool_calls == ()
    assert '"name": "calc"' in completion.text
    assert (arguments if isinstance(arguments, str) else "[1]") in completion.text
    assert len(server.payloads) == 1


@pytest.mark.parametrize("arguments", ["", None, "{}", "null", '"{}"', {}])
async def test_missing_arguments_are_none(arguments: Any) -> None:
    with OpenAIServer(lambda payload, index: Say(None, [("calc", arguments)])) as server:
        reply = await client_for(server).ask(Request(ASK.messages, tools=(CALC,)))
    assert [dict(call.arguments) for call in reply.completions[0].tool_calls] == [{}]


@pytest.mark.parametrize("arguments", ['{"x": 2}', '"{\\"x\\": 2}"', '{"x": 2}\n'])
async def test_arguments_encoded_twice_are_decoded(arguments: str) -> None:
    with OpenAIServer(lambda payload, index: Say(None, [("calc", arguments)])) as server:
        reply = await client_for(server).ask(Request(ASK.messages, tools=(CALC,)))
    assert [dict(call.arguments) for call in reply.completions[0].tool_calls] == [{"x": 2}]


async def test_one_broken_call_beside_a_good_one() -> None:
    calls = [("calc", {"x": 1}), ("calc", '{"x": ')]
    with OpenAIServer(lambda payload, index: Say("Both:", calls)) as server:
        reply = await client_for(server).ask(Request(ASK.messages, tools=(CALC,)))
    (completion,) = reply.completions
    assert [dict(call.arguments) for call in completion.tool_calls] == [{"x": 1}]
    assert completion.text.startswith("Both:") and '{"x": ' in completion.text


async def test_d52_call_written_as_text_is_delivered_as_it_is() -> None:
    text = '```json\n{"name": "search_web", "arguments": {"query": "x"}}\n```'
    with OpenAIServer(text) as server:
        reply = await client_for(server).ask(Request(ASK.messages, tools=(CALC,)))
    assert reply.completions[0].text == text and reply.completions[0].tool_calls == ()


async def test_images_and_reply_limit() -> None:
    picture = "data:image/png;base64,AAAA"
    with OpenAIServer("a cat") as server:
        request = Request((Message("user", "What is it?", images=(picture,)),), temperature=0.5, max_tokens=9)
        await client_for(server, temperature=0.1, max_tokens=50).ask(request)
        await client_for(server, temperature=0.1, max_tokens=50).ask(ASK)
    first, second = server.payloads
    assert first["messages"][0]["content"][1] == {"type": "image_url", "image_url": {"url": picture}}
    assert (first["temperature"], first["max_tokens"]) == (0.5, 9)
    assert (second["temperature"], second["max_tokens"]) == (0.1, 50)
    assert "max_completion_tokens" not in first, "most servers but OpenAI's know only max_tokens"


async def test_usage_that_is_not_reported_is_estimated() -> None:
    with OpenAIServer("Paris is the capital.", report_usage=False) as server:
        client = client_for(server)
        first, second = await client.ask(ASK), await client.ask(ASK)
    assert first.usage.input_tokens > 5 and first.usage.output_tokens > 3
    assert any("estimated" in notice for notice in first.notices) and second.notices == ()


async def test_no_empty_assistant_message_is_sent_back() -> None:
    with OpenAIServer("ok") as server:
        await client_for(server).ask(Request((user("a"), Message("assistant", " "), user("b"))))
    assert [message["role"] for message in server.payloads[0]["messages"]] == ["user", "user"]


async def test_two_clients_do_not_see_each_other() -> None:
    with OpenAIServer("a", refuse=("n",)) as plain, OpenAIServer("b") as rich:
        first, second = client_for(plain), client_for(rich)
        await first.ask(ASK, n=2)
        assert not first.samples_at_once and second.samples_at_once


@pytest.mark.parametrize("make", [lambda client: client.ask(ASK, n=0)])
async def test_no_sample_is_no_question(make: Callable[[ModelClient], Any]) -> None:
    with OpenAIServer("a") as server, pytest.raises(ValueError, match="at least one"):
        await make(client_for(server))


async def test_the_model_that_answered_is_named_for_one_sample_and_for_several() -> None:
    class Dated(OpenAIServer):
        """Names the exact version, as OpenAI does."""

        def body(self, payload: Any, result: Any) -> dict[str, Any]:
            return {**super().body(payload, result), "model": "scripted-2031-04-09"}

    with Dated("x") as server:
        client = client_for(server)
        replies = [await client.ask(ASK), await client.ask(ASK, n=3)]
    assert [reply.model for reply in replies] == ["scripted-2031-04-09"] * 2


async def test_cancelling_ends_a_request_in_flight() -> None:
    arrived = threading.Event()

    def script(payload: dict[str, Any], index: int) -> Hang:
        arrived.set()
        return Hang()

    with OpenAIServer(script) as server:
        task = asyncio.create_task(client_for(server).ask(ASK, n=3))
        await asyncio.to_thread(arrived.wait, 10)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asyncio.wait_for(task, 10)
    assert len(server.payloads) == 1, "a cancelled request is not tried again"


async def test_one_fault_in_five_changes_no_answer() -> None:
    draw = random.Random(5)
    faults = [HttpError(429), HttpError(500), Broken(), Broken(connection=True), Dropped(), NoChoices(), Say("")]
    plan = [draw.choice(faults) if draw.random() < 0.2 else None for _ in range(400)]

    def script(payload: dict[str, Any], index: int) -> Any:
        return plan[index] or Say(payload["messages"][0]["content"], prompt_tokens=100, completion_tokens=10)

    with OpenAIServer(script) as server:
        client = client_for(server)
        requests = [Request((user(f"question {number}"),)) for number in range(60)]
        replies = await asyncio.gather(
            *(client.ask(request, n=1 + number % 3) for number, request in enumerate(requests))
        )
    for number, (request, reply) in enumerate(zip(requests, replies, strict=True)):
        assert [completion.text for completion in reply.completions] == [request.messages[0].text] * (1 + number % 3)
    paid = sum((reply.usage for reply in replies), Usage()).input_tokens
    assert paid <= 1.25 * 60 * 100 and len(server.payloads) > 60


def test_clients_in_two_event_loops() -> None:
    with OpenAIServer("hi") as server:
        for _ in range(2):  # a script that calls asyncio.run twice opens its session anew, from the same settings
            reply = asyncio.run(client_for(server).ask(ASK))
            assert reply.completions[0].text == "hi"
