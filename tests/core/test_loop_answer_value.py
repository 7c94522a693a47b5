"""The answer as a value under a JSON schema: what servers are asked to enforce, and how the reply is read."""

from __future__ import annotations

import json
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from kgot_core.run.stages.answer_value import envelope, read_value
from kgot_core.testing.openai_server import OpenAIServer

DEPTH = {"type": "object", "properties": {"depth": {"type": "integer"}}, "required": ["depth"]}
VALUES: dict[str, st.SearchStrategy[Any]] = {
    "integer": st.integers(),
    "string": st.text(),
    "boolean": st.booleans(),
    "array": st.lists(st.integers()),
    "object": st.dictionaries(st.text(max_size=5), st.integers()),
}


@given(st.sampled_from(sorted(VALUES)).flatmap(lambda kind: st.tuples(st.just(kind), VALUES[kind])))
def test_a_value_in_its_envelope_is_read_as_it_is(typed: tuple[str, Any]) -> None:
    kind, value = typed
    schema = {"type": kind}
    reply = {"value": value}
    Draft202012Validator(dict(envelope(schema))).validate(reply)
    vote = read_value(json.dumps(reply), schema)
    # An object that has a single key named value obeys an open schema by itself, and is then taken as the value.
    assert vote.payload[1] == (reply if kind == "object" else value)


def test_null_says_that_there_is_no_answer_unless_the_schema_takes_it() -> None:
    assert read_value('{"value": null}', DEPTH).key == "none"
    open_schema = {"type": ["integer", "null"]}
    assert read_value('{"value": null}', open_schema).payload == ("null", None)


def test_definitions_stay_where_references_look_for_them() -> None:
    schema = {"$ref": "#/$defs/Lake", "$defs": {"Lake": DEPTH}}
    wrapped = Draft202012Validator(dict(envelope(schema)))
    assert wrapped.is_valid({"value": {"depth": 3}}) and not wrapped.is_valid({"value": {"depth": "deep"}})


@pytest.mark.parametrize("reply", ['{"depth": 3}', '```json\n{"value": {"depth": 3}}\n```', "{'value': {'depth': 3,}}"])
def test_a_bare_or_damaged_value_is_understood(reply: str) -> None:
    assert read_value(reply, DEPTH).payload[1] == {"depth": 3}


async def test_a_server_is_asked_to_enforce_the_envelope(kit: ModuleType) -> None:
    done = await kit.solve(schema=DEPTH, parse='{"value": {"depth": 61}}')
    assert done.answer.value == {"depth": 61}
    assert [asked.request.schema for asked in done.at("parse")] == [envelope(DEPTH)]


def test_the_schema_reaches_an_openai_server(tmp_path: Any) -> None:
    import kgot_core

    def script(payload: dict[str, Any], index: int) -> str:
        text = payload["messages"][-1]["content"]
        if "You give the final answer" in text:
            return '{"value": {"depth": 61}}'
        if "You check whether" in text:
            return "NO"
        if "Can the task be answered" in text:
            return "SOLVE\nIt is there.\n```python\nresult = [61]\n```"
        return "61"

    with OpenAIServer(script) as server:
        settings = {
            "backend": ("networkx",),
            "models.graph.model": "openai:scripted",
            "models.graph.base_url": server.url,
        }
        answer = kgot_core.solve("How deep is it?", settings=settings, schema=DEPTH, runs=None, env={}, folder=tmp_path)
        asked = [payload for payload in server.payloads if "response_format" in payload]
    assert answer.value == {"depth": 61}
    assert asked and asked[0]["response_format"]["json_schema"]["schema"] == envelope(DEPTH)
