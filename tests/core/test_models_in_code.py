"""Models that are passed in code: what they can do is found out, and they stay as they are."""

from __future__ import annotations

from typing import Any

from langchain_core.language_models import FakeListChatModel

from kgot_core.contracts.model import Request, ToolSpec, user
from kgot_core.models.client import ModelClient
from kgot_core.testing.openai_server import OpenAIServer
from kgot_core.testing.scripted_model import Say, ScriptedModel

SEARCH = ToolSpec("search_web", "Searches the web.", {"type": "object", "properties": {"query": {"type": "string"}}})
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}}


async def test_scripted_model_offers_all() -> None:
    model = ScriptedModel([["a", Say("", [("search_web", {"query": "q"})]), "c"]], cached_tokens=3)
    client = ModelClient(model)
    request = Request((user("a"),), tools=(SEARCH,), schema=SCHEMA, temperature=0.5, max_tokens=5)
    reply = await client.ask(request, n=3)
    assert reply.notices == () and reply.usage.requests == 1 and reply.usage.cached_tokens == 3
    assert reply.completions[1].tool_calls[0].arguments == {"query": "q"}
    assert model.requests[0].arguments["n"] == 3 and model.requests[0].arguments["temperature"] == 0.5
    assert model.requests[0].tools == ("search_web",) and reply.model == "scripted"


async def test_scripted_model_that_passes_the_number_over() -> None:
    client = ModelClient(ScriptedModel(lambda asked: f"r{asked.index}", several=False))
    reply = await client.ask(Request((user("a"),)), n=3)
    assert [completion.text for completion in reply.completions] == ["r0", "r1", "r2"]
    assert not client.samples_at_once and len(reply.notices) == 1


async def test_bind_tools_that_gives_the_model_itself() -> None:
    class Own(FakeListChatModel):
        """As some users write their test models."""

        def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
            return self

    reply = await ModelClient(Own(responses=["x"])).ask(Request((user("a"),), tools=(SEARCH,)))
    assert not any("tool" in notice for notice in reply.notices)


async def test_a_temperature_set_in_the_object_is_dropped_after_its_refusal() -> None:
    from langchain_openai import ChatOpenAI

    with OpenAIServer("a", refuse=("temperature",)) as server:
        model = ChatOpenAI(model="m", base_url=server.url, api_key="x", temperature=0.3)  # type: ignore[arg-type]
        reply = await ModelClient(model).ask(Request((user("a"),), temperature=0.9))
    assert [payload.get("temperature") for payload in server.payloads] == [0.9, None] and len(reply.notices) == 1
