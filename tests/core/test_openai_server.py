"""The scripted server itself, by raw HTTP: what tests and benchmarks stand on."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import threading
from typing import Any

import httpx
import pytest

from kgot_core.testing.openai_server import Broken, Dropped, Hang, HttpError, NoChoices, OpenAIServer, Say

ASK = {"model": "m", "messages": [{"role": "user", "content": "hello"}]}


def post(server: OpenAIServer, payload: dict[str, Any] = ASK, **headers: str) -> httpx.Response:
    return httpx.post(f"{server.url}/chat/completions", json=payload, headers=headers, timeout=10)


def test_importing_it_loads_no_model_library() -> None:
    code = (
        "import sys, kgot_core.testing.openai_server\n"
        "heavy = 'langchain_core openai httpx pydantic'.split()\n"
        "sys.exit(' '.join(name for name in heavy if name in sys.modules) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_a_reply_with_usage() -> None:
    with OpenAIServer(lambda payload, index: Say(f"{payload['model']} {index}", cached_tokens=2), count=len) as server:
        first, second = post(server).json(), post(server).json()
    assert first["choices"] == [
        {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "m 0"}}
    ]
    assert second["choices"][0]["message"]["content"] == "m 1"
    prompt = len(json.dumps(ASK["messages"]))
    assert first["usage"] == {
        "prompt_tokens": prompt,
        "completion_tokens": 3,
        "total_tokens": prompt + 3,
        "prompt_tokens_details": {"cached_tokens": 2},
    }


def test_samples() -> None:
    with OpenAIServer(lambda payload, index: ["a", Say("b", finish_reason="length")]) as server:
        choices = post(server, {**ASK, "n": 2}).json()["choices"]
    assert [(choice["index"], choice["message"]["content"], choice["finish_reason"]) for choice in choices] == [
        (0, "a", "stop"),
        (1, "b", "length"),
    ]
    with OpenAIServer("same") as server:
        assert len(post(server, {**ASK, "n": 3}).json()["choices"]) == 3
    with OpenAIServer("same", ignore_n=True) as server:
        assert len(post(server, {**ASK, "n": 3}).json()["choices"]) == 1


def test_tool_calls() -> None:
    with OpenAIServer(lambda payload, index: Say(None, [("calc", {"x": 2}), ("calc", '{"x": ')])) as server:
        choice = post(server).json()["choices"][0]
    assert choice["finish_reason"] == "tool_calls" and choice["message"]["content"] is None
    functions = [call["function"] for call in choice["message"]["tool_calls"]]
    assert functions == [{"name": "calc", "arguments": '{"x": 2}'}, {"name": "calc", "arguments": '{"x": '}]


def test_models_and_paths() -> None:
    with OpenAIServer("x", models=("a", "b")) as server:
        assert [entry["id"] for entry in httpx.get(f"{server.url}/models").json()["data"]] == ["a", "b"]
        assert httpx.get(f"{server.url}/nothing").status_code == 404
        assert httpx.post(server.url, json={}).status_code == 404
        assert server.payloads == []


def test_key_and_records() -> None:
    with OpenAIServer("x", key="secret") as server:
        assert post(server).status_code == 401
        assert httpx.get(f"{server.url}/models").status_code == 401
        assert post(server, Authorization="Bearer secret").status_code == 200
        (seen,) = server.seen
    assert seen.payload == ASK and seen.authorization == "Bearer secret" and 0 <= seen.started <= seen.ended


@pytest.mark.parametrize("name", ["n", "temperature", "tools", "response_format", "max_tokens"])
def test_refusals(name: Any) -> None:
    with OpenAIServer("x", refuse=(name,)) as server:
        refused = post(server, {**ASK, name: 2})
        assert refused.status_code == 400 and refused.json()["error"]["param"] == name
        assert post(server, {**ASK, "n": 1}).status_code == 200


def test_faults_on_the_wire() -> None:
    faults = [
        HttpError(429, "later", code="slow", headers={"Retry-After": "3"}),
        NoChoices(),
        Broken(),
        Broken(connection=True),
        Dropped(),
        "fine",
    ]
    with OpenAIServer(lambda payload, index: faults[index]) as server:
        limited = post(server)
        assert (limited.status_code, limited.headers["retry-after"]) == (429, "3")
        assert limited.json()["error"] == {"message": "later", "code": "slow", "param": None}
        assert post(server).json()["choices"] == []
        with pytest.raises(json.JSONDecodeError):
            post(server).json()
        for _ in range(2):
            with pytest.raises(httpx.RemoteProtocolError):
                post(server)
        assert post(server).json()["choices"][0]["message"]["content"] == "fine"


def test_headers_then_nothing_and_closing_frees_it() -> None:
    server = OpenAIServer(lambda payload, index: Hang())
    server.start()
    with httpx.stream("POST", f"{server.url}/chat/completions", json=ASK, timeout=10) as response:
        assert response.status_code == 200
        server.close()
        with pytest.raises(httpx.RemoteProtocolError):
            response.read()
    server.close()
    with pytest.raises(RuntimeError):
        _ = server.url


def test_context_length() -> None:
    with OpenAIServer("x", context_tokens=50) as server:
        long = post(server, {**ASK, "messages": [{"role": "user", "content": "word " * 100}]})
        assert long.status_code == 400 and long.json()["error"]["code"] == "context_length_exceeded"
        assert post(server).status_code == 200


def test_a_script_that_fails_is_shown() -> None:
    with OpenAIServer(lambda payload, index: {}["missing"]) as server:
        assert "KeyError" in post(server).json()["error"]["message"]
    with OpenAIServer(lambda payload, index: ["only one"]) as server:
        assert "1 samples" in post(server, {**ASK, "n": 2}).json()["error"]["message"]


async def test_requests_in_flight_are_counted() -> None:
    together = threading.Barrier(4)

    def answer(payload: Any, index: int) -> str:
        if index:
            together.wait(timeout=30)
        return "x"

    with OpenAIServer(answer) as server:
        async with httpx.AsyncClient(timeout=40) as client:
            address = f"{server.url}/chat/completions"
            await client.post(address, json=ASK)
            assert server.most_in_flight == 1
            await asyncio.gather(*(client.post(address, json=ASK) for _ in range(4)))
    assert server.most_in_flight == 4 and len(server.payloads) == 5
