"""ChatOllama through real HTTP: parameters, truncation, a prompt that was cut off, errors."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from kgot_core.contracts.model import ModelSpec, Request, ToolSpec, user
from kgot_core.errors import ContextOverflow, ModelError
from kgot_core.models.client import ModelClient
from kgot_core.models.embedding import EmbeddingClient
from kgot_core.models.providers import MODEL_PROVIDERS, reachable
from kgot_core.models.retry import RetryPolicy

OLLAMA = next(provider for provider in MODEL_PROVIDERS if provider.name == "ollama")
ASK = Request((user("hello"),))


class FakeOllama:
    """Speaks as much of Ollama's protocol as the client uses."""

    def __init__(self) -> None:
        self.payloads: list[dict[str, Any]] = []
        self.answers: list[Any] = []  # (status, body) or (text, done fields); the last one stays
        fake = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *arguments: Any) -> None:
                pass

            def do_GET(self) -> None:
                self.send(200, json.dumps({"models": [{"name": "m:latest"}, {"name": "q:7b"}]}))

            def do_POST(self) -> None:
                fake.payloads.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
                answer = fake.answers.pop(0) if len(fake.answers) > 1 else fake.answers[0]
                if isinstance(answer[0], int):
                    self.send(answer[0], json.dumps(answer[1]))
                    return
                message = {"role": "assistant", "content": answer[0], **answer[1].pop("message", {})}
                done = {"done": True, "done_reason": "stop", "prompt_eval_count": 20, "eval_count": 3, **answer[1]}
                lines = [{"model": "m", "message": message, "done": False}]
                lines += [{"model": "m", "message": {"role": "assistant", "content": ""}, **done}]
                self.send(200, "".join(json.dumps(line) + "\n" for line in lines))

            def send(self, status: int, text: str) -> None:
                self.send_response(status)
                self.send_header("Content-Length", str(len(text.encode())))
                self.end_headers()
                self.wfile.write(text.encode())

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_port}"
        threading.Thread(target=self.http.serve_forever, args=(0.02,), daemon=True).start()

    def client(self, **settings: Any) -> ModelClient:
        spec = self.spec(**settings)
        return ModelClient(OLLAMA.open(None, spec), spec, policy=RetryPolicy(attempts=2, sleep=no_sleep), owned=True)

    def spec(self, name: str = "m", **settings: Any) -> ModelSpec:
        return ModelSpec("ollama", name, {"base_url": self.url, **settings})


async def no_sleep(seconds: float) -> None:
    """Waits not at all."""


@pytest.fixture
def ollama() -> Iterator[FakeOllama]:
    fake = FakeOllama()
    yield fake
    fake.http.shutdown()
    fake.http.server_close()


async def test_parameters_and_usage(ollama: FakeOllama) -> None:
    ollama.answers = [("hi", {})]
    client = ollama.client(num_ctx=8_192, options={"top_k": 5})
    schema = {"type": "object"}
    reply = await client.ask(Request(ASK.messages, schema=schema, temperature=0.4, max_tokens=30))
    await client.ask(ASK)
    await client.aclose()
    first, second = ollama.payloads
    assert first["options"] == {"num_ctx": 8_192, "temperature": 0.4, "num_predict": 30, "top_k": 5}
    assert second["options"] == {"num_ctx": 8_192, "top_k": 5}, "one request leaves nothing behind for the next"
    assert first["format"] == schema
    assert reply.completions[0].text == "hi" and reply.model == "m" and reply.notices == ()
    assert (reply.usage.input_tokens, reply.usage.output_tokens, reply.usage.unpriced) == (20, 3, 1)


async def test_samples_are_asked_one_by_one_without_a_try(ollama: FakeOllama) -> None:
    ollama.answers = [("hi", {})]
    client = ollama.client()
    reply = await client.ask(ASK, n=3)
    assert len(reply.completions) == len(ollama.payloads) == reply.usage.requests == 3
    assert reply.notices == () and not client.samples_at_once


async def test_truncation(ollama: FakeOllama) -> None:
    ollama.answers = [("half a", {"done_reason": "length"})]
    reply = await ollama.client().ask(ASK)
    assert reply.completions[0].truncated


async def test_tool_calls_and_their_refusal(ollama: FakeOllama) -> None:
    tool = ToolSpec("calc", "Adds.", {"type": "object", "properties": {"x": {"type": "integer"}}})
    call = {"function": {"name": "calc", "arguments": {"x": 2}}}
    ollama.answers = [
        ("", {"message": {"tool_calls": [call]}}),
        (400, {"error": "registry.ollama.ai/library/m:latest does not support tools"}),
        ("text", {}),
    ]
    client, request = ollama.client(), Request(ASK.messages, tools=(tool,))
    reply = await client.ask(request)
    assert [(made.name, dict(made.arguments)) for made in reply.completions[0].tool_calls] == [("calc", {"x": 2})]
    reply = await client.ask(request)
    assert len(reply.notices) == 1 and "tool calling" in reply.notices[0]
    assert "calc: Adds." in ollama.payloads[-1]["messages"][0]["content"] and not ollama.payloads[-1]["tools"]


LONG = Request((user("begin " * 50), user("word " * 4_000)))


@pytest.mark.parametrize("read", [2_048, 2_047, 2_000, 60])
async def test_a_prompt_that_was_cut_off_stops_the_run(ollama: FakeOllama, read: int) -> None:
    ollama.answers = [("nonsense", {"prompt_eval_count": read})]
    with pytest.raises(ModelError, match="num_ctx = 2048") as caught:
        await ollama.client(num_ctx=2_048).ask(LONG)
    assert not isinstance(caught.value, ContextOverflow)
    assert "models.<role>.num_ctx" in caught.value.hint and len(ollama.payloads) == 1


@pytest.mark.parametrize(("num_ctx", "read"), [(16_384, 4_060), (4_100, 3_800), (2_048, None)])
async def test_a_prompt_that_was_read_whole_passes(ollama: FakeOllama, num_ctx: int, read: int | None) -> None:
    ollama.answers = [("sense", {"prompt_eval_count": read})]
    reply = await ollama.client(num_ctx=num_ctx).ask(LONG)
    assert reply.completions[0].text == "sense"


async def test_errors(ollama: FakeOllama) -> None:
    ollama.answers = [(404, {"error": "model 'm' not found"})]
    with pytest.raises(ModelError, match="was not found") as caught:
        await ollama.client().ask(ASK)
    assert caught.value.hint == "ollama pull m" and len(ollama.payloads) == 1
    ollama.answers = [(500, {"error": "model runner has unexpectedly stopped"}), ("back", {})]
    assert (await ollama.client().ask(ASK)).completions[0].text == "back"
    ollama.answers = [(400, {"error": "the input length exceeds the context length"})]
    with pytest.raises(ContextOverflow):
        await ollama.client().ask(ASK)


async def test_reachable(ollama: FakeOllama) -> None:
    assert await reachable(ollama.spec("m")) is None
    assert await reachable(ollama.spec("q:7b")) is None
    missing = await reachable(ollama.spec("q"))
    assert missing is not None and missing.hint == "ollama pull q"
    ollama.http.shutdown()
    ollama.http.server_close()
    gone = await reachable(ollama.spec("m"))
    assert gone is not None and "cannot be reached" in gone.message and "ollama serve" in gone.hint


async def test_ollama_embeds_with_the_settings_of_its_role(ollama: FakeOllama) -> None:
    ollama.answers = [(200, {"model": "m", "embeddings": [[1.0, 0.0], [0.6, 0.8]]})]
    spec = ollama.spec(num_ctx=2048)
    assert OLLAMA.embed is not None
    client = EmbeddingClient(OLLAMA.embed(None, spec), spec, owned=True)
    done = await client.embed(["one", "two"])
    await client.aclose()
    assert done.vectors == ((1.0, 0.0), (0.6, 0.8)) and done.usage.unpriced == 1
    assert ollama.payloads[0]["input"] == ["one", "two"] and ollama.payloads[0]["options"]["num_ctx"] == 2048
