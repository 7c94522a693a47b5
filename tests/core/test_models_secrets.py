"""A key never appears in an exception, a notice, a log or a repr (case D47)."""

from __future__ import annotations

import logging
import traceback
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgot_core.contracts.model import ModelSpec, Request, ToolSpec, user
from kgot_core.errors import ModelError
from kgot_core.models.client import ModelClient
from kgot_core.models.providers import MODEL_PROVIDERS, reachable
from kgot_core.models.redact import Redactor
from kgot_core.models.retry import RetryPolicy
from kgot_core.testing.openai_server import HttpError, OpenAIServer

MARK = "ABC123DEF456"
KEY = f"sk-test-{MARK}"
ASK = Request((user("hello"),))
OPENAI = next(provider for provider in MODEL_PROVIDERS if provider.name == "openai")


async def no_sleep(seconds: float) -> None:
    """Waits not at all."""


def client_for(spec: ModelSpec) -> ModelClient:
    return ModelClient(OPENAI.open(None, spec), spec, policy=RetryPolicy(attempts=2, sleep=no_sleep), owned=True)


def shown(error: BaseException) -> str:
    """All that a careless program might print of an exception."""
    parts = ["".join(traceback.format_exception(error)), repr(error), str(error), str(vars(error))]
    below: BaseException | None = error
    while below is not None:
        parts += [repr(below), str(below.args)]
        below = below.__cause__ or below.__context__
    return "\n".join(parts)


async def test_wrong_key_that_the_server_repeats(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    with OpenAIServer("x", key="another") as server:
        spec = ModelSpec("openai", "m", {"base_url": server.url, "api_key": KEY})
        client = client_for(spec)
        with pytest.raises(ModelError, match="refused the key") as caught:
            await client.ask(ASK)
        problem = await reachable(spec)
    assert MARK not in shown(caught.value) and MARK not in caplog.text
    assert "OPENAI_API_KEY" in caught.value.hint
    assert problem is not None and "refused the key" in problem.message and MARK not in str(problem)
    assert MARK not in repr(client) + repr(vars(client)) + repr(client._model)
    assert caplog.records, "debug logging was on"


@pytest.mark.parametrize("key", [KEY, f"{KEY}\n", f"plain{MARK}", f"{KEY} {KEY}", f"schlüssel-{MARK}"])
async def test_connection_error_and_strange_keys(key: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    with OpenAIServer("x") as server:
        address = server.url
    with pytest.raises(ModelError) as caught:
        await client_for(ModelSpec("openai", "m", {"base_url": address, "api_key": key})).ask(ASK)
    assert MARK not in shown(caught.value) and MARK not in caplog.text


async def test_password_in_the_address() -> None:
    with OpenAIServer("x") as server:
        address = server.url.replace("://", f"://me:{MARK}@")
    spec = ModelSpec("openai", "m", {"base_url": address})
    with pytest.raises(ModelError, match="cannot be reached") as caught:
        await client_for(spec).ask(ASK)
    problem = await reachable(spec)
    assert problem is not None and MARK not in shown(caught.value) + str(problem)


async def test_notices_and_retries_are_clean() -> None:
    told: list[str] = []

    def script(payload: dict[str, Any], index: int) -> Any:
        if "tools" in payload:
            return HttpError(400, f"no tools for {KEY}", param="tools")
        return "x" if index > 1 else HttpError(500, f"Bearer {KEY} is overloaded")

    with OpenAIServer(script) as server:
        spec = ModelSpec("openai", "m", {"base_url": server.url, "api_key": KEY})
        request = Request(ASK.messages, tools=(ToolSpec("t", "d", {"type": "object"}),))
        reply = await client_for(spec).ask(request, on_retry=lambda attempt, seconds, cause: told.append(cause))
    assert len(told) == 1 and len(reply.notices) == 1
    assert MARK not in told[0] + reply.notices[0]


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        (f"Incorrect API key provided: sk-proj-{MARK}_x.", "Incorrect API key provided: [key]"),
        (f"GET /search?q=a&api_key={MARK}&n=2", "GET /search?q=a&api_key=[key]&n=2"),
        (f"Authorization: Bearer {MARK}==", "Authorization: Bearer [key]"),
        (f"https://user:{MARK}@host/v1", "https://host/v1"),
        (f"{{'api_key': '{MARK}'}}", "{'api_key': '[key]'}"),
        ("max_tokens: 4096 is a key-value of the request", "max_tokens: 4096 is a key-value of the request"),
        ("unexpected token: } in the token stream", "unexpected token: } in the token stream"),
    ],
)
def test_what_looks_like_a_secret_is_removed(text: str, clean: str) -> None:
    assert Redactor().clean(text) == clean


@given(secret=st.text(min_size=6, max_size=30), before=st.text(max_size=20), after=st.text(max_size=20))
def test_known_secrets_never_pass(secret: str, before: str, after: str) -> None:
    cleaned = Redactor([secret]).clean(before + secret + after)
    assert secret not in cleaned or secret in "[key]" or secret in before + "[key]" + after


def test_one_line_of_bounded_length() -> None:
    line = Redactor().line("a\n\n b " * 500)
    assert "\n" not in line and len(line) <= 300
