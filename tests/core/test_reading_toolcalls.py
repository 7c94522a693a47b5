"""Tool calls that stand in a reply's text."""

import json

import pytest

from kgot_core.contracts.model import ToolCallRequest
from kgot_core.errors import Unreadable
from kgot_core.reading.toolcalls import UnknownTool, nearest, read_tool_calls

NAMES = ("search_web", "run_python_code", "ask_llm")
PARAMETERS = {"search_web": ["query", "count"], "ask_llm": ["question"]}
CALL = ToolCallRequest("search_web", {"query": "birth year of mayor of Portello"})
OBJECT = {"name": CALL.name, "arguments": dict(CALL.arguments)}
TEXT = json.dumps(OBJECT, indent=2)
QUERY = json.dumps(OBJECT["arguments"])


@pytest.mark.parametrize(
    "reply",
    [
        f"```json\n{TEXT}\n```",
        f"I will search.\n```json\n{TEXT}\n```\nThen I answer.",
        f"<tool_call>{TEXT}</tool_call>",
        f"<tool_call>\n{TEXT}\n</tool_call>",
        TEXT,
        TEXT.replace("arguments", "parameters"),
        TEXT.replace("arguments", "args"),
        TEXT.replace("arguments", "input"),
        TEXT.replace('"name"', '"tool"'),
        TEXT.replace('"name"', '"function"'),
        TEXT.replace('"name": "search_web"', '"action": "Search Web"'),
        f"{TEXT}\n{TEXT}",
        f"[{TEXT}]",
        f'{{"tool_calls": [{TEXT}]}}',
        f'{{"type": "function", "function": {TEXT}}}',
        json.dumps({"function": {"name": "search_web", "arguments": QUERY}}),
        f'{{"search_web": {QUERY}}}',
        json.dumps({"tool": "search_web", **CALL.arguments}),
        f"[TOOL_CALLS] [{TEXT}]",
        f"<function=search_web>{QUERY}</function>",
        "<function=search_web><parameter=query>birth year of mayor of Portello</parameter></function>",
        "search_web(query='birth year of mayor of Portello')",
        "search_web('birth year of mayor of Portello')",
        'I call:\n\nsearch_web(\n  query="birth year of mayor of Portello",\n)\n',
        '```tool_code\nprint(search_web(query="birth year of mayor of Portello"))\n```',
        '`functions.search_web(query="birth year of mayor of Portello")`',
        f'<think>{{"name": "ask_llm", "arguments": {{}}}}</think>{TEXT}',
        TEXT.replace('"', "'"),
        json.dumps({"tool": "search_web", "input": CALL.arguments["query"]}),
    ],
)
def test_one_call_is_read(reply: str) -> None:  # D52
    reading = read_tool_calls(reply, NAMES, PARAMETERS)
    assert reading.calls == (CALL,)
    assert reading.unknown == ()


def test_several_calls() -> None:
    other = '{"name": "ask_llm", "arguments": {"question": "why?"}}'
    expected = (CALL, ToolCallRequest("ask_llm", {"question": "why?"}))
    for reply in (
        f"{TEXT}\n{other}",
        f"[{TEXT}, {other}]",
        f"<tool_call>{TEXT}</tool_call>\n<tool_call>{other}</tool_call>",
        f"```json\n{TEXT}\n```\n```json\n{other}\n```",
        f"search_web({json.dumps(CALL.arguments['query'])})\nask_llm(question='why?')",
    ):
        assert read_tool_calls(reply, NAMES, PARAMETERS).calls == expected


def test_an_id_is_kept_and_code_stays_as_it_is() -> None:
    assert read_tool_calls(json.dumps({"id": "c1", **OBJECT}), NAMES).calls[0].id == "c1"
    code = 'print(1)\nprint("a")'
    assert read_tool_calls(f'run_python_code(code="""{code}""")', NAMES).calls[0].arguments == {"code": code}


@pytest.mark.parametrize(
    "reply",
    [
        '{"name": "web_search", "arguments": {"query": "x"}}',
        '```json\n{"name": "web_search", "arguments": {"query": "x"}}\n```',
        '<tool_call>{"name": "web_search", "arguments": {}}</tool_call>',
        "web_search(query='x')",
        '{"tool_calls": [{"function": {"name": "web_search", "arguments": "{}"}}]}',
    ],
)
def test_an_unknown_tool_comes_with_the_nearest(reply: str) -> None:
    reading = read_tool_calls(reply, NAMES)
    assert reading.calls == ()
    assert reading.unknown == (UnknownTool("web_search", "search_web"),)


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "No tool fits.",
        "The tool search_web (query) would do.",
        '```json\n{"name": "Ada", "age": 36}\n```',
        'The page says {"name": "Ada", "arguments": {"x": 1}} about her.',
        "def f(x):\n    return x",
        '{"name": "Ada"',
        "```python\nlen(x='a')\nprint(2)\n```",
    ],
)
def test_other_replies_are_no_calls(reply: str) -> None:
    reading = read_tool_calls(reply, NAMES)
    assert (reading.calls, reading.unknown) == ((), ())


def test_a_cut_call_is_unreadable() -> None:
    with pytest.raises(Unreadable) as caught:
        read_tool_calls('{"name": "search_web", "arguments": {"query": "birth ye', NAMES)
    assert caught.value.truncated


def test_calls_with_the_same_arguments_in_another_order_are_one() -> None:  # D46
    reply = (
        '{"name": "search_web", "arguments": {"a": 1, "b": 2}}\n{"name": "search_web", "arguments": {"b": 2, "a": 1}}'
    )
    assert len(read_tool_calls(reply, NAMES).calls) == 1


@pytest.mark.parametrize(
    ("name", "expected"),
    [("web_search", "search_web"), ("python", "run_python_code"), ("AskLLM", "ask_llm"), ("zzz", "")],
)
def test_nearest(name: str, expected: str) -> None:
    assert nearest(name, NAMES) == expected
