"""The conformance suite of chat models. A third party subclasses :class:`ModelSuite` and gives one fixture.

Example:
    class TestMyModel(ModelSuite):
        @pytest.fixture
        def model(self) -> BaseChatModel:
            return MY_PROVIDER.open(MySettings(), ModelSpec("mine", "small", {"api_key": SECRET}))
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import ClassVar

import pytest
from langchain_core.language_models import BaseChatModel

from kgot_core.contracts.model import Reply, Request, ToolSpec, system, user
from kgot_core.models.client import ModelClient
from kgot_core.models.retry import RetryPolicy
from kgot_core.testing.suite import Suite

SECRET = "kit-secret-4417"
_TOOL = ToolSpec(
    "look_up",
    'Looks a word up. Example: {"word": "tarn"}',
    {
        "type": "object",
        "properties": {"word": {"type": "string", "description": "The word to look up"}},
        "required": ["word"],
    },
)


class ModelSuite(Suite):
    """What every chat model does, asked through the core's own client. Open it with the key ``SECRET``."""

    open_to: ClassVar[frozenset[str]] = frozenset({"model"})

    @pytest.fixture
    def model(self) -> BaseChatModel:
        """Gives the model under test."""
        raise NotImplementedError("give a fixture 'model' that returns the chat model under test")

    def test_is_a_chat_model(self, model: BaseChatModel) -> None:
        assert isinstance(model, BaseChatModel), "open gives a LangChain BaseChatModel"

    def test_answers_with_text(self, model: BaseChatModel) -> None:
        reply = _asked(model, Request((system("Answer in one word."), user("Which colour has grass?"))))
        assert len(reply.completions) == 1, "one sample was asked for"
        assert reply.completions[0].text.strip(), "the model gave no text"

    def test_tells_what_it_used(self, model: BaseChatModel) -> None:
        usage = _asked(model, Request((user("Which colour has grass?"),))).usage
        assert usage.requests == 1, f"one question is one request, not {usage.requests}: the core does the retries"
        assert usage.input_tokens > 0 and usage.output_tokens > 0, "tell the tokens in usage_metadata or llm_output"

    def test_gives_several_samples(self, model: BaseChatModel) -> None:
        reply = _asked(model, Request((user("Which colour has grass?"),), temperature=0.7), 3)
        assert len(reply.completions) == 3, f"three samples were asked for, {len(reply.completions)} came"

    def test_takes_tools(self, model: BaseChatModel) -> None:
        reply = _asked(model, Request((user("Look up the word tarn."),), tools=(_TOOL,)))
        for call in reply.completions[0].tool_calls:
            assert call.name == "look_up", f"the model calls {call.name}, which was not offered"
        assert reply.completions[0].tool_calls or reply.completions[0].text, (
            "the model neither called a tool nor answered"
        )

    def test_answers_side_by_side(self, model: BaseChatModel) -> None:
        async def work() -> Sequence[Reply]:
            client = _client(model)
            requests = [Request((user(f"Which colour has grass? ({number})"),)) for number in range(3)]
            return await asyncio.gather(*(client.ask(request) for request in requests))

        assert all(reply.completions[0].text for reply in asyncio.run(work())), (
            "requests at the same time must not disturb"
        )

    def test_has_no_retries_of_its_own(self, model: BaseChatModel) -> None:
        assert not getattr(model, "max_retries", 0), "set max_retries to 0: the core retries, and counts what it costs"

    def test_shows_no_secret(self, model: BaseChatModel) -> None:
        assert SECRET not in f"{model!r} {model}", "the key stands in the model's text: use pydantic's SecretStr"


def _client(model: BaseChatModel) -> ModelClient:
    return ModelClient(model, policy=RetryPolicy(attempts=1))


def _asked(model: BaseChatModel, request: Request, n: int = 1) -> Reply:
    return asyncio.run(_client(model).ask(request, n))
