"""Messages for models that take less than others, and between our types and LangChain's."""

from __future__ import annotations

import json
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.outputs import ChatGeneration, LLMResult

from kgot_core.contracts.model import Message, ToolCallRequest, ToolSpec, system, user
from kgot_core.models.convert import Counted, from_langchain, to_langchain, tool_to_openai
from kgot_core.models.wording import in_turns, with_schema, with_tools, without_empty

CALLS = st.builds(
    ToolCallRequest,
    st.from_regex(r"[a-z_]{1,8}", fullmatch=True),
    st.dictionaries(st.text(max_size=5), st.integers() | st.text(max_size=9), max_size=3),
    st.text(max_size=4),
)
MESSAGES = st.lists(
    st.one_of(
        st.builds(system, st.text(max_size=20)),
        st.builds(user, st.text(max_size=20)),
        st.builds(lambda text: Message("assistant", text), st.text(max_size=20)),
        st.builds(lambda text, calls: Message("assistant", text, tuple(calls)), st.text(max_size=9), st.lists(CALLS)),
        st.builds(lambda text: Message("tool", text, tool_call_id="c1"), st.text(max_size=20)),
    ),
    max_size=8,
)
TOOL = ToolSpec("search_web", "Searches.", {"type": "object", "properties": {}})


@given(MESSAGES)
def test_plain_messages_in_turns(messages: list[Message]) -> None:
    turns = in_turns(without_empty(with_tools(messages, (TOOL,))))
    authors = [message.author for message in turns]
    assert all(first != second for first, second in pairwise(authors))
    assert set(authors) <= {"user", "assistant"} and authors[0] == "user"
    assert all(not message.tool_calls and not message.tool_call_id for message in turns)
    joined = "\n".join(message.text for message in turns)
    for message in messages:  # nothing that was said is lost
        assert message.author == "assistant" or message.text in joined
        for call in message.tool_calls:
            assert json.dumps(dict(call.arguments), ensure_ascii=False) in joined
    assert "search_web: Searches." in joined


@given(MESSAGES)
def test_schema_stands_in_a_user_message(messages: list[Message]) -> None:
    changed = with_schema(messages, {"type": "object", "title": "the wanted one"})
    holders = [message for message in changed if "the wanted one" in message.text]
    assert len(holders) == 1 and holders[0].author == "user"
    assert [message for message in changed if message.author == "user"][-1] == holders[0]


@given(MESSAGES)
def test_to_langchain_keeps_order_text_and_calls(messages: list[Message]) -> None:
    made = to_langchain(messages)
    assert [str(message.content) for message in made] == [message.text for message in messages]
    for ours, theirs in zip(messages, made, strict=True):
        if ours.author == "assistant":
            assert isinstance(theirs, AIMessage)
            assert [call["args"] for call in theirs.tool_calls] == [dict(call.arguments) for call in ours.tool_calls]
            assert all(call["id"] for call in theirs.tool_calls)


def test_without_tools_only_earlier_rounds_change() -> None:
    messages = [user("a"), Message("tool", "b", tool_call_id="c")]
    changed = with_tools(messages, ())
    assert changed[0] == messages[0] and changed[1].author == "user" and "b" in changed[1].text


def test_tool_in_openai_form() -> None:
    assert tool_to_openai(TOOL)["function"]["name"] == "search_web"


def result(*messages: AIMessage, **info: object) -> LLMResult:
    return LLMResult(
        generations=[[ChatGeneration(message=message, generation_info=dict(info)) for message in messages]]
    )


def test_blocks_of_text_are_joined_and_others_left_out() -> None:
    content = [{"type": "reasoning", "reasoning": "hm"}, {"type": "text", "text": "a"}, "b", {"type": "image"}]
    answered = from_langchain(result(AIMessage(content=content)))  # type: ignore[arg-type]
    assert answered.completions[0].text == "ab"


def test_a_refusal_is_a_reply() -> None:
    answered = from_langchain(result(AIMessage(content="", additional_kwargs={"refusal": "I cannot."})))
    assert answered.completions[0].text == "I cannot."


def test_endings_of_other_providers() -> None:
    for key, value in (("stop_reason", "max_tokens"), ("finish_reason", "MAX_TOKENS"), ("done_reason", "length")):
        assert from_langchain(result(AIMessage(content="x"), **{key: value})).completions[0].truncated
    cut = AIMessage(content="x", response_metadata={"incomplete_details": {"reason": "max_output_tokens"}})
    assert from_langchain(result(cut)).completions[0].truncated
    assert not from_langchain(result(AIMessage(content="x"), finish_reason="stop")).completions[0].truncated


def test_usage_that_each_sample_repeats_counts_once() -> None:
    usage = {"input_tokens": 9, "output_tokens": 4, "total_tokens": 13, "input_token_details": {"cache_read": 5}}
    answered = from_langchain(result(*(AIMessage(content="x", usage_metadata=usage) for _ in range(3))))  # type: ignore[arg-type]
    assert answered.counted == Counted(9, 4, 5)


def test_invalid_tool_calls_of_any_model_come_as_text() -> None:
    broken = {"name": "calc", "args": '{"x": ', "id": "c", "error": "bad", "type": "invalid_tool_call"}
    answered = from_langchain(result(AIMessage(content="", invalid_tool_calls=[broken])))  # type: ignore[list-item]
    assert '{"x": ' in answered.completions[0].text and "calc" in answered.completions[0].text
    assert isinstance(to_langchain([user("a")])[0], HumanMessage)


def test_no_answer_at_all() -> None:
    answered = from_langchain(LLMResult(generations=[]))
    assert answered.completions == () and answered.counted is None
