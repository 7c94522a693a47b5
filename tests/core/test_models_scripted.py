"""The scripted chat model: what third parties test with."""

from __future__ import annotations

import pytest
from langchain_core.messages import HumanMessage

from kgot_core.contracts.model import Request, user
from kgot_core.errors import ModelError
from kgot_core.models.client import ModelClient
from kgot_core.testing.scripted_model import Asked, Say, ScriptedModel

ASK = Request((user("hello"),))


def test_as_a_plain_langchain_model() -> None:
    model = ScriptedModel(["one", Say("", [("calc", {"x": 2})])])
    assert model.invoke("a").content == "one"
    tool = {"name": "calc", "description": "Adds.", "parameters": {"type": "object", "properties": {}}}
    message = model.bind_tools([tool]).invoke([HumanMessage("b")])
    assert message.tool_calls[0]["args"] == {"x": 2}
    assert [asked.prompt for asked in model.requests] == ["a", "b"]
    assert model.requests[1].tools == ("calc",)


async def test_one_entry_for_each_request() -> None:
    client = ModelClient(ScriptedModel(["a", ["b", "c"], RuntimeError("no more")]))
    assert [item.text for item in (await client.ask(ASK, n=2)).completions] == ["a", "a"]
    assert [item.text for item in (await client.ask(ASK, n=2)).completions] == ["b", "c"]
    with pytest.raises(ModelError, match="no more"):
        await client.ask(ASK)


async def test_a_script_that_ends_or_fails_is_told_at_once() -> None:
    with pytest.raises(ModelError, match="the script ends after 0 requests"):
        await ModelClient(ScriptedModel([])).ask(ASK)
    with pytest.raises(ModelError, match="the script gives 1 samples"):
        await ModelClient(ScriptedModel([["only"]])).ask(ASK, n=2)
    with pytest.raises(ModelError, match="the script failed: KeyError"):
        await ModelClient(ScriptedModel(lambda asked: {}["missing"])).ask(ASK)


async def test_an_asynchronous_script_and_truncation() -> None:
    async def script(asked: Asked) -> Say:
        return Say(f"{asked.prompt} {asked.index}", truncated=True)

    reply = await ModelClient(ScriptedModel(script)).ask(ASK)
    assert reply.completions[0].text == "hello 0" and reply.completions[0].truncated
    assert reply.usage.input_tokens > 0 and reply.usage.output_tokens > 0
