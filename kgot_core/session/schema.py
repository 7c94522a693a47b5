"""The JSON schema of an answer's value, checked before a run begins."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from kgot_core.contracts.task import Answer, JsonSchema
from kgot_core.errors import UsageError
from kgot_core.run.faults import said


def json_schema(given: Any) -> JsonSchema | None:
    """Gives the JSON schema of a schema or of a Pydantic class.

    Raises:
        UsageError: It is neither, it is not a valid schema, or it refers to another document.
    """
    if given is None:
        return None
    schema = given.model_json_schema() if hasattr(given, "model_json_schema") else given
    if not isinstance(schema, Mapping):
        raise UsageError(f"a schema is a JSON schema or a Pydantic class, not {_name(given)}")

    from jsonschema import Draft202012Validator, SchemaError

    try:
        Draft202012Validator.check_schema(dict(schema))
    except SchemaError as error:
        place = "/".join(map(str, error.absolute_path))
        raise UsageError(f"the JSON schema is not valid{f' at {place}' if place else ''}: {error.message}") from None
    for reference in _references(schema):
        if not reference.startswith("#"):
            raise UsageError(
                f"the JSON schema refers to {reference}, which is not read", hint="put that part under $defs"
            )
    return schema


def _references(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        for name, item in value.items():
            if name == "$ref" and isinstance(item, str):
                yield item
            yield from _references(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _references(item)


def _name(given: Any) -> str:
    return given.__name__ if isinstance(given, type) else type(given).__name__


def validated(answer: Answer, kind: Any, redact: Callable[[str], str]) -> Answer:
    """Makes an answer's value an object of the caller's class.

    Args:
        answer: The answer.
        kind: A Pydantic class; ``None`` where a schema was given, or nothing.
        redact: Takes secrets out of a text.
    """
    if kind is None or answer.value is None:
        return answer
    try:
        return replace(answer, value=kind.model_validate(answer.value))
    except Exception as error:  # a validator of the caller's class may ask for more than a JSON schema can say
        reason = f"{kind.__name__} does not take the value: {said(error)}"
        return replace(answer, status="failed", value=None, reason=redact(reason))
