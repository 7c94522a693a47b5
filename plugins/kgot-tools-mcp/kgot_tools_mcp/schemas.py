"""What a server says of its tools, made fit for models and for checking arguments."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from kgot_core.errors import KgotError
from kgot_core.graph.visible import visible

LONGEST_DESCRIPTION = 1_024
MOST_PARTS = 2_000
_LONGEST_ARGUMENT = 600
# Providers refuse a choice at the top; the server itself still checks what it wants.
_CHOICES = ("anyOf", "oneOf", "allOf")
_TOP_REFUSED = (*_CHOICES, "not", "enum", "const", "if", "then", "else", "dependentSchemas")
_NAMES_OF_OTHERS = (
    "$schema",
    "$id",
    "$anchor",
    "$comment",
    "$vocabulary",
    "$dynamicRef",
    "$dynamicAnchor",
    "$recursiveRef",
)
# What holds schemas under names of the server's, so that no name there is one of JSON Schema's words.
_TABLES = ("properties", "patternProperties", "dependentSchemas")
# What holds values, which are no schemas.
_VALUES = ("const", "default", "enum", "examples", "required", "type", "dependentRequired")


def description(text: str, server: str, tool: str) -> str:
    """Gives a tool's description with its server's name, cut at the end of a sentence where it is too long."""
    told = " ".join(visible(text).split()) or f"The tool {tool}."
    return shortened(f"[{server}] {told}", LONGEST_DESCRIPTION)


def shortened(text: str, most: int) -> str:
    """Cuts a text to a length: after a sentence where there is one in its second half, else after a word."""
    if len(text) <= most:
        return text
    head = text[: most - 2]
    ends = [found.end() for found in re.finditer(r"[.!?](?=\s)", head)]
    cut = ends[-1] if ends and ends[-1] > most // 2 else head.rfind(" ")
    return f"{head[: cut if cut > most // 2 else len(head)].rstrip()} …"


def parameters(schema: Any) -> dict[str, Any]:
    """Gives the schema of a tool's arguments as models take it: an object, whole in itself, without references.

    A reference is replaced by what it names; where it leads out of the schema or into itself, everything is allowed in
    its place. The server checks its arguments itself.

    Raises:
        KgotError: It is no JSON schema, or too large.
    """
    from jsonschema import Draft202012Validator, SchemaError

    if not isinstance(schema, Mapping):
        raise KgotError("the schema of its arguments is no table")
    try:
        found = _object(_Inliner(schema).part(schema, ()))
        Draft202012Validator.check_schema(found)
    except SchemaError as error:
        raise KgotError(f"the schema of its arguments is not valid: {error.message[:200]}") from None
    except RecursionError:
        raise KgotError("the schema of its arguments is too deep") from None
    return found


def _object(whole: Mapping[str, Any]) -> dict[str, Any]:
    """Makes one object of what may be a choice of several, with the properties of all of them."""
    properties, required = dict(_table(whole, "properties")), _list(whole, "required")
    for choice in _CHOICES:
        for variant in _list(whole, choice):
            properties = {**_table(variant, "properties"), **properties}
            required += _list(variant, "required") if choice == "allOf" else []
    found = {name: value for name, value in whole.items() if name not in (*_TOP_REFUSED, "required")}
    needed = list(dict.fromkeys(name for name in required if isinstance(name, str) and name in properties))
    return found | {"type": "object", "properties": properties} | ({"required": needed} if needed else {})


def _table(schema: Any, name: str) -> Mapping[str, Any]:
    found = schema.get(name) if isinstance(schema, Mapping) else None
    return found if isinstance(found, Mapping) else {}


def _list(schema: Any, name: str) -> list[Any]:
    found = schema.get(name) if isinstance(schema, Mapping) else None
    return list(found) if isinstance(found, list) else []


class _Inliner:
    def __init__(self, root: Mapping[str, Any]) -> None:
        self._root = root
        self._parts = 0

    def part(self, schema: Any, within: tuple[str, ...]) -> Any:
        """Gives a part of the schema without references; a part may also be ``True`` or ``False``."""
        self._parts += 1
        if self._parts > MOST_PARTS:
            raise KgotError(f"the schema of its arguments has more than {MOST_PARTS:,} parts")
        if isinstance(schema, list):
            return [self.part(item, within) for item in schema]
        if not isinstance(schema, Mapping):
            return schema
        reference = schema.get("$ref")
        found = self._named(reference, within) if isinstance(reference, str) else {}
        for name, value in schema.items():
            if name in ("$ref", "$defs", "definitions", *_NAMES_OF_OTHERS):
                continue
            found[name] = self._value(name, value, within)
        return found

    def _value(self, name: str, value: Any, within: tuple[str, ...]) -> Any:
        if name in _TABLES and isinstance(value, Mapping):
            # Patterns are of the dialect of JavaScript: what is none here is let pass, and checked by the server.
            kept = value if name != "patternProperties" else {key: value[key] for key in value if _compiles(key)}
            return {key: self.part(inner, within) for key, inner in kept.items()}
        if name in _VALUES:
            return value
        if name == "pattern" and not _compiles(value):
            return ""
        if name == "description" and isinstance(value, str):
            return shortened(" ".join(visible(value).split()), _LONGEST_ARGUMENT)
        return self.part(value, within)

    def _named(self, reference: str, within: tuple[str, ...]) -> dict[str, Any]:
        if reference in within or not reference.startswith("#/"):
            return {}
        place: Any = self._root
        for step in reference[2:].split("/"):
            step = step.replace("~1", "/").replace("~0", "~")
            place = place.get(step) if isinstance(place, Mapping) else None
        inner = self.part(place, (*within, reference))
        return dict(inner) if isinstance(inner, Mapping) else {}


def _compiles(pattern: Any) -> bool:
    try:
        re.compile(pattern)
    except (re.error, TypeError, RecursionError, OverflowError):
        return False
    return True
