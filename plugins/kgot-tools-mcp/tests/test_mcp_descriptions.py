"""Names, descriptions and schemas of servers become such as every model takes, whatever they are."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from kgot_core.errors import KgotError
from kgot_tools_mcp.naming import names_of
from kgot_tools_mcp.schemas import LONGEST_DESCRIPTION, description, parameters

TREE = {
    "$schema": "http://json-schema.org/draft-07/schema#",
    "type": "object",
    "properties": {
        "title": {"type": "string", "description": "Its title"},
        "node": {"$ref": "#/$defs/Node"},
        "far": {"$ref": "https://evil.example/schema.json"},
        "lost": {"$ref": "#/$defs/Lost"},
        "default": {"type": "integer", "default": 3},
        "code": {"type": "string", "pattern": "^(?<name>\\p{L}+)$"},
    },
    "required": ["title", "ghost"],
    "$defs": {
        "Node": {
            "type": "object",
            "properties": {"name": {"type": "string"}, "next": {"$ref": "#/$defs/Node"}},
            "required": ["name"],
        }
    },
}

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
words = st.sampled_from(
    [
        "type",
        "properties",
        "required",
        "items",
        "anyOf",
        "oneOf",
        "allOf",
        "$ref",
        "$defs",
        "pattern",
        "enum",
        "description",
    ]
)
odd_schemas = st.recursive(
    json_values | st.sampled_from(["object", "string", "#/$defs/a", "#", "[", "https://evil.example/"]),
    lambda inner: st.dictionaries(words, inner, max_size=4) | st.lists(inner, max_size=3),
    max_leaves=20,
)


def test_references_are_resolved_and_what_leads_out_or_around_allows_everything() -> None:
    found = parameters(TREE)
    node = {"type": "object", "properties": {"name": {"type": "string"}, "next": {}}, "required": ["name"]}
    assert found["properties"]["node"] == node
    assert found["properties"]["far"] == {} and found["properties"]["lost"] == {}
    assert found["properties"]["title"] == {"type": "string", "description": "Its title"}
    assert found["required"] == ["title"] and "$schema" not in found and "$defs" not in found
    check = Draft202012Validator(found)
    assert check.is_valid({"title": "x", "node": {"name": "a", "next": {"name": "b"}}, "code": "ä"})
    assert not check.is_valid({"node": {"name": "a"}}) and not check.is_valid({"title": "x", "node": {}})


def test_a_choice_at_the_top_becomes_one_object_with_all_properties() -> None:
    by_id = {"properties": {"id": {"type": "integer"}}, "required": ["id"]}
    by_name = {"properties": {"name": {"type": "string"}}, "required": ["name"]}
    found = parameters({"oneOf": [by_id, by_name], "properties": {"more": {"type": "boolean"}}})
    assert set(found) == {"type", "properties"} and set(found["properties"]) == {"id", "name", "more"}
    assert parameters({"allOf": [by_id, by_name]})["required"] == ["id", "name"]


@pytest.mark.parametrize("schema", [None, 5, [], "object", {"properties": {"a": {"type": "strng"}}}])
def test_what_is_no_schema_is_refused(schema: Any) -> None:
    with pytest.raises(KgotError, match="the schema of its arguments"):
        parameters(schema)


def test_a_schema_that_unfolds_without_end_is_refused() -> None:
    levels = {f"l{n}": {"properties": {k: {"$ref": f"#/$defs/l{n + 1}"} for k in "abcd"}} for n in range(12)}
    with pytest.raises(KgotError, match="more than 2,000 parts"):
        parameters({"properties": {"a": {"$ref": "#/$defs/l0"}}, "$defs": levels})


@settings(deadline=None)
@given(odd_schemas)
def test_whatever_a_server_says_becomes_a_schema_or_an_error(schema: Any) -> None:
    try:
        found = parameters(schema)
    except KgotError:
        return
    assert found["type"] == "object" and isinstance(found["properties"], dict)
    assert not {"anyOf", "oneOf", "allOf", "enum", "not", "$ref"} & set(found)
    assert set(found.get("required", ())) <= set(found["properties"])
    list(Draft202012Validator(found).iter_errors({"a": 1, "title": "x"}))


@given(st.lists(st.tuples(st.text(max_size=40), st.text(max_size=60)), max_size=12))
def test_names_are_plain_short_unique_and_the_same_in_any_order(tools: list[tuple[str, str]]) -> None:
    names = names_of(tools)
    assert set(names) == set(tools)
    assert len({name.lower() for name in names.values()}) == len(set(tools))
    assert all(re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", name) for name in names.values())
    assert names_of(reversed(tools)) == names


def test_a_usual_name_is_server_and_tool() -> None:
    assert names_of([("my harbour", "ships.of")]) == {("my harbour", "ships.of"): "my_harbour_ships_of"}


@given(st.text())
def test_a_description_is_short_and_on_one_line(text: str) -> None:
    told = description(text, "harbour", "ships_of")
    assert told.startswith("[harbour] ") and len(told) <= LONGEST_DESCRIPTION and "\n" not in told
    assert len(told) > len("[harbour] ")


def test_a_long_description_ends_after_a_sentence() -> None:
    told = description("A sentence of some length. " * 99, "harbour", "x")
    assert told.endswith("length. …") and LONGEST_DESCRIPTION - 40 < len(told) <= LONGEST_DESCRIPTION
