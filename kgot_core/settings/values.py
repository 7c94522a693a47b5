"""Turns what a file or a text holds into the type of a setting, and says in words what a type is."""

from __future__ import annotations

import json
import math
import tomllib
import types
from collections.abc import Mapping
from datetime import date, datetime, time
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin

_WORDS = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}


def convert(value: Any, kind: Any) -> Any:
    """Checks a value of a file against a setting's type.

    Args:
        value: A value as TOML or JSON has it.
        kind: ``str``, ``bool``, ``int``, ``float``, ``tuple[str, ...]``, a ``Literal``, a mapping, or one of them
            or ``None``.

    Raises:
        ValueError: It is of another type.
    """
    inner, optional = _unwrap(kind)
    if value is None and optional:
        return None
    if get_origin(inner) is Literal:
        good = value in get_args(inner)
    elif inner is bool or inner is str:
        good = isinstance(value, inner)
    elif inner is int:
        good = isinstance(value, int) and not isinstance(value, bool)
    elif inner is float:
        good = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
        value = float(value) if good else value
    elif get_origin(inner) is tuple:
        value = (value,) if isinstance(value, str) else value
        good = isinstance(value, list | tuple) and all(isinstance(item, str) for item in value)
        value = tuple(value) if good else value
    else:
        good = isinstance(value, Mapping)
    if not good:
        raise ValueError(type_text(kind))
    return value


def parse_text(text: str, kind: Any) -> Any:
    """Reads the text of a variable or of ``--set`` as a setting's type.

    A list is a JSON array, or items between commas; an optional value may be ``none`` or empty.

    Raises:
        ValueError: It cannot be read so.
    """
    inner, optional = _unwrap(kind)
    word = text.strip()
    if optional and word.lower() in ("", "none"):
        return None
    if inner is str or get_origin(inner) is Literal:
        return convert(text, kind)
    if inner is bool and word.lower() in _WORDS:
        return _WORDS[word.lower()]
    if inner in (int, float):
        try:
            return convert(inner(word), kind)
        except (ValueError, OverflowError):
            raise ValueError(type_text(kind)) from None
    if get_origin(inner) is tuple:
        return convert(split_list(word), kind)
    return convert(toml_value(text), kind)


def split_list(text: str) -> list[Any]:
    """Reads a list: a JSON array, or items between commas."""
    if text.startswith("["):
        try:
            found = json.loads(text)
        except ValueError:
            found = toml_value(text)
        if isinstance(found, list):
            return found
    return [item.strip() for item in text.split(",") if item.strip()]


def toml_value(text: str) -> Any:
    """Reads text as a TOML value; text that is none stays text."""
    try:
        found = tomllib.loads(f"value = {text}")
    except (tomllib.TOMLDecodeError, RecursionError):
        return text
    return plain(found["value"]) if list(found) == ["value"] else text


def plain(value: Any) -> Any:
    """Gives a TOML value as JSON has it: dates as ISO 8601 text.

    Raises:
        ValueError: It holds a number that JSON has not.
    """
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError("a finite number")
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, Mapping):
        return {str(name): plain(item) for name, item in value.items()}
    if isinstance(value, Path):
        return str(value)
    return value


def type_text(kind: Any) -> str:
    """Says in words what a type is, for messages and for ``kgot plugins show``."""
    inner, optional = _unwrap(kind)
    origin, arguments = get_origin(inner), get_args(inner)
    if origin is Literal:
        text = "one of " + ", ".join(str(item) for item in arguments)
    elif origin in (Union, types.UnionType):
        text = " or ".join(type_text(item) for item in arguments if item is not types.NoneType)
    elif inner in _TYPES:
        text = _TYPES[inner]
    elif origin in (tuple, list, set, frozenset) or (origin is not None and "Sequence" in str(origin)):
        text = "a list" + (f", each {type_text(arguments[0])}" if arguments else "")
    elif (origin or inner) is Mapping or (isinstance(origin or inner, type) and issubclass(origin or inner, Mapping)):
        text = "a table"
    else:
        text = getattr(inner, "__name__", str(inner))
    return f"{text} or none" if optional else text


_TYPES: Mapping[Any, str] = types.MappingProxyType(
    {
        str: "text",
        bool: "true or false",
        int: "a whole number",
        float: "a number",
        Path: "a path",
        dict: "a table",
        Any: "anything",
    }
)


def _unwrap(kind: Any) -> tuple[Any, bool]:
    """Takes ``None`` out of a union: the rest, and whether it was there."""
    if get_origin(kind) in (Union, types.UnionType) and types.NoneType in get_args(kind):
        rest = [item for item in get_args(kind) if item is not types.NoneType]
        return (rest[0] if len(rest) == 1 else Union[tuple(rest)]), True  # noqa: UP007 - made from a list
    return kind, False
