"""The answer as a value under the user's JSON schema."""

from __future__ import annotations

import json
from typing import Any

from kgot_core.contracts.task import JsonSchema
from kgot_core.contracts.voter import Vote
from kgot_core.errors import Unreadable
from kgot_core.reading.json_reader import read_json

NONE = "none"
ROOT_KEYS = ("$defs", "definitions")


def envelope(schema: JsonSchema) -> JsonSchema:
    """Wraps a schema, so that a reply may also say that there is no answer.

    Servers that enforce a schema want an object at its root, and leave no room for a word such as NONE. Definitions
    stay at the root, where references look for them.
    """
    inner = {name: part for name, part in schema.items() if name not in ROOT_KEYS}
    wrapped: dict[str, Any] = {
        "type": "object",
        "properties": {"value": {"anyOf": [inner, {"type": "null"}]}},
        "required": ["value"],
        "additionalProperties": False,
    }
    return wrapped | {name: schema[name] for name in ROOT_KEYS if name in schema}


def read_value(text: str, schema: JsonSchema) -> Vote:
    """Reads a reply as a vote for a value; the value may also stand without its envelope."""
    from jsonschema import Draft202012Validator

    try:
        value: Any = read_json(text)
    except Unreadable as error:
        return Vote(None, error.message)
    validator = Draft202012Validator(dict(schema))
    if isinstance(value, dict) and value.keys() == {"value"} and not validator.is_valid(value):
        value = value["value"]
    if value is None and not validator.is_valid(None):
        return Vote(NONE)
    problems = sorted(error.message for error in validator.iter_errors(value))
    if problems:
        return Vote(None, problems[0])
    shown = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return Vote(json.dumps(value, sort_keys=True), payload=(shown, value), text=shown)
