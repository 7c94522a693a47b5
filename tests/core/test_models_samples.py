"""Several samples of a model: asked at once or one by one, empty or cut off."""

from __future__ import annotations

import runpy
import threading
from pathlib import Path
from typing import Any

import pytest

from kgot_core.contracts.model import Request
from kgot_core.contracts.task import Usage
from kgot_core.errors import ModelError
from kgot_core.testing.openai_server import OpenAIServer, Say

_clients = runpy.run_path(str(Path(__file__).with_name("kit_clients.py")))
ASK, client_for = _clients["ASK"], _clients["client_for"]


async def test_several_samples_are_one_request_counted_once() -> None:
    answers = [Say(word, completion_tokens=3, prompt_tokens=100, cached_tokens=64) for word in "abcde"]
    with OpenAIServer(lambda payload, index: answers) as server:
        client = client_for(server)
        assert client.samples_at_once
        reply = await client.ask(ASK, n=5)
    assert [completion.text for completion in reply.completions] == list("abcde")
    assert reply.usage == Usage(requests=1, input_tokens=100, output_tokens=15, cached_tokens=64, unpriced=1)
    assert [payload["n"] for payload in server.payloads] == [5]


@pytest.mark.parametrize(("options", "requests"), [({"ignore_n": True}, 4), ({"refuse": ("n",)}, 5)])
async def test_samples_not_offered_are_asked_one_by_one_for_good(options: Any, requests: int) -> None:
    with OpenAIServer(lambda payload, index: Say("r", completion_tokens=1, prompt_tokens=10), **options) as server:
        client = client_for(server)
        first = await client.ask(ASK, n=4)
        assert len(server.payloads) == requests
        second = await client.ask(ASK, n=3)
    assert len(first.completions) == 4 and len(second.completions) == 3
    assert not client.samples_at_once
    assert len(first.notices) == 1 and "one by one" in first.notices[0] and second.notices == ()
    assert [payload.get("n", 1) for payload in server.payloads[requests:]] == [1, 1, 1]
    assert first.usage == Usage(requests=4, input_tokens=40, output_tokens=4, unpriced=4)
    assert second.usage == Usage(requests=3, input_tokens=30, output_tokens=3, unpriced=3)


async def test_samples_asked_one_by_one_are_in_flight_together() -> None:
    meeting = threading.Barrier(3)

    def script(payload: dict[str, Any], index: int) -> str:
        if index >= 2:
            meeting.wait(timeout=10)  # ends only when three requests have arrived
        return f"sample {index}"

    with OpenAIServer(script, ignore_n=True) as server:
        client = client_for(server)
        await client.ask(ASK, n=2)
        reply = await client.ask(ASK, n=3)
    assert {completion.text for completion in reply.completions} == {"sample 2", "sample 3", "sample 4"}


async def test_fewer_choices_than_asked_are_filled_up() -> None:
    class Stingy(OpenAIServer):
        """Gives at most three choices."""

        def body(self, payload: Any, result: Any) -> dict[str, Any]:
            return super().body({**payload, "n": min(3, payload.get("n", 1))}, result)

    with Stingy("yes") as server:
        client = client_for(server)
        reply = await client.ask(ASK, n=5)
    assert len(reply.completions) == 5
    assert [payload.get("n", 1) for payload in server.payloads] == [5, 1, 1]
    assert client.samples_at_once, "three choices are several"


async def test_only_the_empty_samples_are_asked_again() -> None:
    def script(payload: dict[str, Any], index: int) -> list[str]:
        return ["a", "", "b", "", "c"] if index == 0 else ["d", "e"]

    with OpenAIServer(script) as server:
        reply = await client_for(server).ask(ASK, n=5)
    assert [completion.text for completion in reply.completions] == ["a", "b", "c", "d", "e"]
    assert [payload["n"] for payload in server.payloads] == [5, 2]


async def test_samples_that_stay_empty_are_left_out_with_a_notice() -> None:
    with OpenAIServer(lambda payload, index: ["a", ""] if index == 0 else Say("")) as server:
        reply = await client_for(server, attempts=3).ask(ASK, n=2)
    assert [completion.text for completion in reply.completions] == ["a"]
    assert reply.notices == ("openai:scripted left 1 of 2 samples empty",)
    assert len(server.payloads) == 3


async def test_one_silent_sample_does_not_end_the_others() -> None:
    with OpenAIServer(lambda payload, index: Say("" if index % 2 else "yes"), refuse=("n",)) as server:
        client = client_for(server, attempts=1)
        reply = await client.ask(ASK, n=4)
    assert [completion.text for completion in reply.completions] == ["yes", "yes"]
    assert any("left 2 of 4 samples empty" in notice for notice in reply.notices)


async def test_d07_truncation_is_told_and_kept_apart_for_each_sample() -> None:
    samples = [Say('{"queries": ["MERGE (b:City {name: \'Par', finish_reason="length"), Say("whole")]
    with OpenAIServer(lambda payload, index: samples) as server:
        reply = await client_for(server).ask(ASK, n=2)
    assert [completion.truncated for completion in reply.completions] == [True, False]


async def test_a_reply_truncated_before_it_says_anything_is_not_paid_six_times() -> None:
    with (
        OpenAIServer(lambda payload, index: Say("", finish_reason="length")) as server,
        pytest.raises(ModelError, match="truncated by the token limit") as caught,
    ):
        await client_for(server).ask(ASK)
    assert len(server.payloads) == 2
    assert "max_tokens" in caught.value.hint


async def test_truncation_under_a_schema() -> None:
    with OpenAIServer(lambda payload, index: Say('{"a": ', finish_reason="length")) as server:
        reply = await client_for(server).ask(Request(ASK.messages, schema={"type": "object"}))
    assert reply.completions[0].truncated and reply.completions[0].text == '{"a": '
