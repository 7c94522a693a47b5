"""Structured replies as models write them."""

import pytest

from kgot_core.errors import Unreadable
from kgot_core.reading.json_reader import read_all_json, read_json


def test_fence_inside_a_fenced_value() -> None:  # D01
    reply = 'Here you go:\n```json\n{"query": "// run\\n```cypher\\nMATCH (n) RETURN n\\n```", "note": "ok"}\n```'
    assert read_json(reply) == {"query": "// run\n```cypher\nMATCH (n) RETURN n\n```", "note": "ok"}


def test_raw_fence_inside_a_fenced_value() -> None:
    reply = '```json\n{"query": "// run\n```cypher\nMATCH (n)\n```", "note": "ok"}\n```'
    assert read_json(reply) == {"query": "// run\n```cypher\nMATCH (n)\n```", "note": "ok"}


def test_decoy_in_reasoning() -> None:  # D02
    first = (
        '<think>Perhaps {"decision": "SOLVE"} is enough?</think>\n{"decision": "ENHANCE", "reason": "capital missing"}'
    )
    assert read_json(first) == {"decision": "ENHANCE", "reason": "capital missing"}
    second = '{"reason": "the page text was <think>x</think> literally", "decision": "SOLVE"}'
    assert read_json(second) == {"reason": "the page text was <think>x</think> literally", "decision": "SOLVE"}
    assert read_json(second.replace("}", ",}")) == read_json(second)


def test_python_literals() -> None:  # D03
    first = """{'decision': 'ENHANCE', 'done': False, 'value': None, 'tags': ('a', "b's")}"""
    assert read_json(first) == {"decision": "ENHANCE", "done": False, "value": None, "tags": ["a", "b's"]}
    assert read_json('{"done": False, "value": null}') == {"done": False, "value": None}
    assert read_json('{"value": "None", "word": "True"}') == {"value": "None", "word": "True"}


@pytest.mark.parametrize("reply", ["{\"a\": __import__('os').getcwd()}", '{"a": 1 + 1}', '{"a": f"x"}', '{"a": [x]}'])
def test_nothing_is_evaluated(reply: str) -> None:
    with pytest.raises(Unreadable):
        read_json(reply)


def test_commas_and_comments() -> None:  # D04
    reply = """{
    "queries": ["MERGE (p:Page {url: 'https://a.example/x//y', note: 'a,]'})",],  // first
    "n": 1, # second /* not open
    /* third */ "m": [1, 2,],
}"""
    assert read_json(reply) == {
        "queries": ["MERGE (p:Page {url: 'https://a.example/x//y', note: 'a,]'})"],
        "n": 1,
        "m": [1, 2],
    }


def test_backslash_before_an_apostrophe() -> None:  # D05
    reply = r"""{"query": "MERGE (p:Person {name: 'Conan O\'Brien', bio: \"red\n hair\"})", "new\_key": 1}"""
    assert read_json(reply) == {
        "query": "MERGE (p:Person {name: 'Conan O\\'Brien', bio: \"red\n hair\"})",
        "new_key": 1,
    }


@pytest.mark.parametrize(
    "reply",
    [
        """{"queries": ["MERGE (a:City {name: 'Lyon'})", "MERGE (b:City {name: 'Par""",  # D07
        '```json\n{"queries": ["a"',
        '{"a": 12',
        '{"a": {"b": 1}',
        '{"a": 1, ',
        '{"a',
        "{",
        '[1, 2, {"a": "b"}',
        '<think>it may be {"a": 1}',
        '{"a": 1}\n{"a": 2, "b',
        '{"a": "x" /* why',
    ],
)
def test_cut_off_replies_are_told_and_never_completed(reply: str) -> None:
    with pytest.raises(Unreadable) as caught:
        read_json(reply)
    assert caught.value.truncated
    assert "truncated" in caught.value.message


def test_a_closed_fence_is_not_cut_off() -> None:
    with pytest.raises(Unreadable) as caught:
        read_json('```json\n{"a": 1\n```')
    assert not caught.value.truncated


def test_several_objects() -> None:  # D08
    with pytest.raises(Unreadable, match="different"):
        read_json('{"decision": "ENHANCE"}\n{"decision": "SOLVE"}')
    assert read_json('{"decision": "ENHANCE"}\n{"decision": "ENHANCE"}') == {"decision": "ENHANCE"}
    assert read_json('Use {curly braces} with care.\n{"decision": "SOLVE"}') == {"decision": "SOLVE"}
    with pytest.raises(Unreadable, match="different"):
        read_json('```json\n{"decision": "ENHANCE"}\n```\nor {"decision": "SOLVE"}')
    with pytest.raises(Unreadable, match="twice"):
        read_json('{"decision": "ENHANCE", "decision": "SOLVE"}')


def test_prose_and_a_fence_of_another_language() -> None:  # D57
    reply = (
        'I fill the form {"queries": ["<cypher 1>", "<cypher 2>"]} now.\n\n1. one\n2. two\n\n'
        '```cypher\n{"queries": ["MERGE (a:A {n: \'x\'})", "MERGE (b:B)"]}\n```\nThat is all.'
    )
    assert read_json(reply) == {"queries": ["MERGE (a:A {n: 'x'})", "MERGE (b:B)"]}


def test_a_decoy_with_dots_is_passed_over() -> None:
    assert read_json('The form is {"queries": ["...", ...]}.\n```json\n{"queries": ["a"]}\n```') == {"queries": ["a"]}
    with pytest.raises(Unreadable):
        read_json('{"queries": ["a", ...]}')


def test_keys_choose_among_objects() -> None:
    reply = 'The page says {"price": 3}.\n{"decision": "SOLVE"}'
    assert read_json(reply, keys=("decision", "verdict")) == {"decision": "SOLVE"}
    with pytest.raises(Unreadable, match="'decision'"):
        read_json('{"price": 3}', keys=("decision",))


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        (r"{\"a\": \"x\\ny \\\"q\\\"\"}", {"a": 'x\ny "q"'}),
        (r'"{\"a\": \"x\"}"', {"a": "x"}),
        (r"```json" + "\n" + r"{\n  \"a\": \"é\"\n}" + "\n```\nDone", {"a": "é"}),
        (r"[\"a\", \"b\"]", ["a", "b"]),
    ],
)
def test_a_document_that_was_escaped_twice(reply: str, expected: object) -> None:
    assert read_json(reply) == expected


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ('{"path": "C:\\xampp", "pattern": "\\d+\\_x"}', {"path": "C:\\xampp", "pattern": "\\d+\\_x"}),
        ('{"a": "one\ntwo\tthree"}', {"a": "one\ntwo\tthree"}),
        ("{'a': 'it\\'s', 'b': 'it's'}", {"a": "it's", "b": "it's"}),
        ("{“a”: “x”, ‘b’: ‘it’s’}", {"a": "x", "b": "it’s"}),
        ('{"a": "he said "hi" to me", "b": 1}', {"a": 'he said "hi" to me', "b": 1}),
        ("{'code': '''a\n'b'\n''', \"more\": \"\"\"x\"y\"\"\"}", {"code": "a\n'b'\n", "more": 'x"y'}),
        ('{"a": "\\ud83d\\ude00 \\ud83d"}', {"a": "😀 \ufffd"}),
        ('{"a": "x"\n "b": 2}', {"a": "x", "b": 2}),
        ('{"a": 1_000, "b": .5, "c": -2e3}', {"a": 1000, "b": 0.5, "c": -2000.0}),
        ("{decision: SOLVE}", {"decision": "SOLVE"}),
        ('{{"a": 1}}', {"a": 1}),
        ('As [1] says, ({"a": 1}) [2].', {"a": 1}),
        ('\ufeff{"a":\u00a01,}', {"a": 1}),
        ("```json\n42\n```", 42),
        ('result = {"a": 1,}', {"a": 1}),
        ('```python\nresult = {"a": None}\n```', {"a": None}),
        ('[{"a": 1}\n{"a": 2}]', [{"a": 1}, {"a": 2}]),
    ],
)
def test_damage_that_can_only_be_meant_one_way(reply: str, expected: object) -> None:
    assert read_json(reply) == expected


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "no data here",
        '{"query": "MATCH (n {name: "Ada"}) RETURN n"}',
        '{"a": "x, "b": 1}',
        '{"a: "x", "b": {"c": 1}}',
        '{"a": "x"}, "b": 2}',
        '"a": {"b": 1}',
        '["x" "y"]',
        '["x""y"]',
        '{"a": undefined}',
        '{"a": NaN}',
        '{"a": 007}',
        '{"a": 1e999}',
        '{"a", "b"}',
        "```cypher\nMERGE (p:Page {url: 'x'})\n```",
        "MERGE (p:Page\n  {url: 'x'})",
        '{"a": 1' + "0" * 5000 + "}",
        "[" * 5000 + "]" * 5000,
    ],
)
def test_what_may_be_meant_in_several_ways_is_refused(reply: str) -> None:
    with pytest.raises(Unreadable):
        read_json(reply)


def test_the_message_says_where_and_what() -> None:
    with pytest.raises(Unreadable) as caught:
        read_json('```json\n{"a": 1,\n "b" 2}\n```')
    assert "line 3" in caught.value.message
    assert "colon" in caught.value.message


def test_all_values_of_a_reply() -> None:
    assert read_all_json('a {"x": 1}\n```json\n[{"x": 2}]\n```\n{"x": "<y>"}') == ({"x": 1}, [{"x": 2}])
    assert read_all_json("none") == ()
