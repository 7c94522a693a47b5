"""What a server does not offer is noticed at its first refusal and done another way from then on."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from langchain_core.language_models import BaseChatModel, FakeListChatModel

from kgot_core.contracts.model import Message, Request, ToolCallRequest, ToolSpec, system, user
from kgot_core.errors import ModelError
from kgot_core.models.client import ModelClient
from kgot_core.models.providers import MODEL_PROVIDERS
from kgot_core.models.retry import RetryPolicy
from kgot_core.testing.openai_server import HttpError, OpenAIServer
from kgot_core.testing.openai_server import Say as Called
from kgot_core.testing.scripted_model import ScriptedModel

OPENAI = next(provider for provider in MODEL_PROVIDERS if provider.name == "openai")
SEARCH = ToolSpec("search_web", "Searches the web.", {"type": "object", "properties": {"query": {"type": "string"}}})
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}}
HISTORY = (
    system("Choose."),
    user("Who?"),
    Message("assistant", "", (ToolCallRequest("search_web", {"query": "x"}, "c1"),)),
    Message("tool", "found it", tool_call_id="c1"),
)


async def no_sleep(seconds: float) -> None:
    """Waits not at all."""


def client_for(server: OpenAIServer, **settings: Any) -> ModelClient:
    spec = server.spec(**settings)
    return ModelClient(OPENAI.open(None, spec), spec, policy=RetryPolicy(sleep=no_sleep))


CASES: list[tuple[str, Request, str]] = [
    ("temperature", Request((user("a"),), temperature=0.7), "temperature"),
    ("tools", Request((system("s"), user("a")), tools=(SEARCH,)), "tool calling"),
    ("response_format", Request((user("a"),), schema=SCHEMA), "JSON schema"),
]


@pytest.mark.parametrize(("parameter", "request_", "says"), CASES, ids=[case[0] for case in CASES])
async def test_a_refused_part_is_left_out_for_good_with_one_notice(
    parameter: Any, request_: Request, says: str
) -> None:
    with OpenAIServer("answer", refuse=(parameter,)) as server:
        client = client_for(server)
        first, second = await client.ask(request_), await client.ask(request_)
    assert [parameter in payload for payload in server.payloads] == [True, False, False]
    assert len(first.notices) == 1 and says in first.notices[0] and first.notices[0].startswith("openai:scripted ")
    assert second.notices == ()
    assert first.completions[0].text == "answer" and first.usage.requests == 1


async def test_all_refused_at_once() -> None:
    refuse = ("n", "temperature", "tools", "response_format", "max_tokens", "max_completion_tokens")
    with OpenAIServer("answer", refuse=refuse) as server:
        request = Request((user("a"),), tools=(SEARCH,), schema=SCHEMA, temperature=1.0, max_tokens=5)
        reply = await client_for(server).ask(request, n=3)
        again = len(server.payloads)
        await client_for(server).ask(request, n=1)
    assert len(reply.completions) == 3 and len(reply.notices) == 5
    assert set(server.payloads[again - 1]) == {"model", "messages", "stream"}


async def test_concurrent_refusals_are_noticed_once() -> None:
    with OpenAIServer("answer", refuse=("temperature", "n")) as server:
        client = client_for(server)
        request = Request((user("a"),), temperature=0.7)
        replies = await asyncio.gather(*(client.ask(request, n=2) for _ in range(8)))
    assert all(len(reply.completions) == 2 for reply in replies)
    assert sum(len(reply.notices) for reply in replies) == 2


async def test_tools_described_in_the_prompt() -> None:
    with OpenAIServer("answer", refuse=("tools",)) as server:
        await client_for(server).ask(Request(HISTORY, tools=(SEARCH,)))
    sent = server.payloads[-1]["messages"]
    assert [message["role"] for message in sent] == ["system", "user", "assistant", "user"]
    assert sent[0]["content"].startswith("Choose.\n\n<tools>\nsearch_web: Searches the web.")
    assert '"query"' in sent[0]["content"] and "```json" in sent[0]["content"] and "$" not in sent[0]["content"]
    assert '{"name": "search_web", "arguments": {"query": "x"}}' in sent[2]["content"]
    assert "found it" in sent[3]["content"]


async def test_a_prompt_of_ones_own_describes_the_tools() -> None:
    model = ScriptedModel(["x"], calls_tools=False)
    client = ModelClient(model, tools_prompt="Use these:\n${tools}\nNow.")
    await client.ask(Request((user("a"),), tools=(SEARCH,)))
    assert model.requests[0].prompt.startswith("Use these:\nsearch_web: Searches the web.")


async def test_schema_described_in_the_prompt() -> None:
    with OpenAIServer("{}", refuse=("response_format",)) as server:
        await client_for(server).ask(Request((system("s"), user("Where?")), schema=SCHEMA))
    assert json.dumps(SCHEMA) in server.payloads[1]["messages"][1]["content"]
    assert server.payloads[1]["messages"][1]["content"].startswith("Where?")


@pytest.mark.parametrize(
    ("schema", "strict"),
    [
        (SCHEMA, False),
        ({**SCHEMA, "required": ["city"]}, False),
        ({**SCHEMA, "required": ["city"], "additionalProperties": False}, True),
        ({"type": "array", "items": SCHEMA}, False),
    ],
)
async def test_schema_is_sent_and_strict_only_where_it_may_be(schema: dict[str, Any], strict: bool) -> None:
    with OpenAIServer("{}") as server:
        await client_for(server).ask(Request((user("a"),), schema=schema))
    sent = server.payloads[0]["response_format"]
    assert sent["type"] == "json_schema" and sent["json_schema"]["schema"] == schema
    assert sent["json_schema"]["strict"] is strict


async def test_the_limit_changes_its_name_before_it_is_given_up() -> None:
    with OpenAIServer("a", refuse=("max_tokens",)) as server:
        client = client_for(server, max_tokens=7)
        reply = await client.ask(Request((user("a"),)))
    assert [payload.get("max_completion_tokens") for payload in server.payloads] == [None, 7]
    assert reply.notices == ()


async def test_a_limit_that_is_too_large_is_left_out() -> None:
    fault = HttpError(400, "max_tokens is too large: 9999. This model supports at most 4096 completion tokens")
    with OpenAIServer(lambda payload, index: fault if "max_tokens" in payload else "a") as server:
        reply = await client_for(server, max_tokens=9999).ask(Request((user("a"),)))
    assert len(server.payloads) == 2 and "limit" in reply.notices[0]


async def test_roles_in_turn_for_models_that_insist() -> None:
    fault = HttpError(400, "Conversation roles must alternate user/assistant/user/assistant/...")

    def script(payload: dict[str, Any], index: int) -> Any:
        roles = [message["role"] for message in payload["messages"]]
        return "fine" if roles == ["user", "assistant", "user"] else fault

    with OpenAIServer(script) as server:
        messages = (system("s"), user("a"), user("b"), Message("assistant", "c"), user("d"), user("e"))
        reply = await client_for(server).ask(Request(messages))
    assert reply.completions[0].text == "fine" and len(reply.notices) == 1
    assert server.payloads[1]["messages"][0]["content"] == "s\n\na\n\nb"


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (400, '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set'),
        (400, "registry.ollama.ai/library/old:2b does not support tools"),
        (404, "No endpoints found that support tool use"),
        (500, "tools param requires --jinja flag"),
    ],
)
async def test_ways_to_refuse_tools(status: int, message: str) -> None:
    with OpenAIServer(lambda payload, index: HttpError(status, message) if "tools" in payload else "a") as server:
        reply = await client_for(server).ask(Request((user("a"),), tools=(SEARCH,)))
    assert len(server.payloads) == 2 and message[:20] in reply.notices[0]


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (500, "Only one completion choice is allowed"),
        (400, "'n' : number must be at most 1"),
        (400, "n must be 1 when using greedy sampling, got 5."),
        (422, "Multiple choices are not supported"),
    ],
)
async def test_ways_to_refuse_samples(status: int, message: str) -> None:
    with OpenAIServer(lambda payload, index: HttpError(status, message) if "n" in payload else "a") as server:
        reply = await client_for(server).ask(Request((user("a"),)), n=2)
    assert [payload.get("n", 1) for payload in server.payloads] == [2, 1, 1] and len(reply.completions) == 2


@pytest.mark.parametrize("message", ["error parsing tool call: raw='{'", "the tool server crashed"])
async def test_a_failing_server_does_not_count_as_a_refusal(message: str) -> None:
    with OpenAIServer(lambda payload, index: "a" if index else HttpError(500, message)) as server:
        reply = await client_for(server).ask(Request((user("a"),), tools=(SEARCH,)))
    assert ["tools" in payload for payload in server.payloads] == [True, True] and reply.notices == ()


async def test_a_server_that_refuses_everything_ends() -> None:
    fault = HttpError(400, "temperature, tools, response_format, max_tokens and n are wrong")
    with OpenAIServer(lambda payload, index: fault) as server:
        request = Request((user("a"),), tools=(SEARCH,), schema=SCHEMA, temperature=1.0, max_tokens=5)
        with pytest.raises(ModelError, match="refused the request"):
            await client_for(server).ask(request, n=2)
    assert len(server.payloads) < 12


async def test_a_model_without_any_of_it() -> None:
    client = ModelClient(FakeListChatModel(responses=["one"]))
    assert not client.samples_at_once
    request = Request((user("a"),), tools=(SEARCH,), schema=SCHEMA, temperature=0.5, max_tokens=5)
    first, second = await client.ask(request, n=2), await client.ask(request)
    assert [completion.text for completion in first.completions] == ["one", "one"]
    assert len(first.notices) == 4, first.notices  # temperature, schema, tools, token numbers
    assert second.notices == () and second.usage.unpriced == 1


async def test_an_object_passed_in_stays_as_it_is() -> None:
    with OpenAIServer(lambda payload, index: HttpError(500)) as server:
        from langchain_openai import ChatOpenAI

        model = ChatOpenAI(model="m", base_url=server.url, api_key="x", max_retries=4, temperature=0.3)  # type: ignore[arg-type]
        client = ModelClient(model, attempts=2, policy=RetryPolicy(sleep=no_sleep))
        with pytest.raises(ModelError):
            await client.ask(Request((user("a"),)))
        assert len(server.payloads) == 2, "its own retries are off"
        assert model.max_retries == 4 and model.root_async_client.max_retries == 4
        await client.aclose()
        assert isinstance(model, BaseChatModel) and not model.root_async_client.is_closed()


async def test_tools_that_a_server_drops_without_a_word_are_described_in_the_prompt() -> None:
    with OpenAIServer("The mayor is Ella.") as server:
        client = client_for(server)
        request = Request((system("s"), user("Who is the mayor?")), tools=(SEARCH,))
        replies = [await client.ask(request) for _ in range(4)]
    assert ["tools" in payload for payload in server.payloads] == [True, True, False, False]
    assert [len(reply.notices) for reply in replies] == [0, 1, 0, 0] and "tool calling" in replies[1].notices[0]
    assert "search_web" in server.payloads[2]["messages"][0]["content"]
    assert client.notices == replies[1].notices


@pytest.mark.parametrize(
    "answers",
    [
        [Called(None, [("search_web", {})]), "no tool fits", "nor here", "nor here"],
        ["I would call search_web.", "nothing", "search_web then", "nothing"],
        ["nothing", '{"name": "search_web"}', "nothing", '{"name": "search_web"}'],
    ],
)
async def test_tools_that_are_seen_stay_tools(answers: list[Any]) -> None:
    with OpenAIServer(lambda payload, index: answers[index]) as server:
        client = client_for(server)
        for _ in answers:
            await client.ask(Request((user("a"),), tools=(SEARCH,)))
    assert all("tools" in payload for payload in server.payloads) and client.notices == ()
