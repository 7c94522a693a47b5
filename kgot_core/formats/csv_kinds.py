"""The types of columns that ``neo4j-admin database import`` knows, and values as the texts of their cells."""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable, Mapping
from types import MappingProxyType

from kgot_core.graph.values import Scalar, Value, plain_text

_MOST, _LEAST = 2**63 - 1, -(2**63)
_BETWEEN = ";"


def kind_of(value: Value) -> str:
    """Gives the type of a column that holds a value as it is; empty where none does."""
    if not isinstance(value, tuple):
        return _kind(value)
    kinds = {_kind(item) for item in value}
    # A list has no quotes: what would be read as its end or as nothing cannot stand in it.
    plain = all(not isinstance(item, str) or (not set(item) & set(';"\n\t') and item == item.strip()) for item in value)
    return f"{kinds.pop()}[]" if len(kinds) == 1 and "" not in kinds and plain else ""


def _kind(value: Scalar) -> str:
    if isinstance(value, str):
        return "string" if value and not set(value) & {"\r", "\0"} else ""
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int):
        return "long" if _LEAST <= value <= _MOST else ""
    if isinstance(value, float):
        return "double" if math.isfinite(value) else ""
    if isinstance(value, datetime.datetime):
        return _zoned(value, "localdatetime", "datetime")
    if isinstance(value, datetime.time):
        return _zoned(value, "localtime", "time")
    return "date" if isinstance(value, datetime.date) else ""


def _zoned(value: datetime.datetime | datetime.time, local: str, zoned: str) -> str:
    if value.tzinfo is None:
        return local
    offset = value.utcoffset()
    return "" if offset is None or offset.seconds % 60 or offset.microseconds else zoned


def cell(value: Value) -> str:
    """Gives the text of a cell."""
    if isinstance(value, tuple):
        return _BETWEEN.join(map(cell, value))
    return repr(value) if isinstance(value, float) else plain_text(value)


def read_cell(text: str, kind: str) -> Value:
    """Reads a cell of a column of a known type.

    Raises:
        ValueError: The text is none of the type.
    """
    read = READERS[kind.removesuffix("[]").lower()]
    return tuple(map(read, text.split(_BETWEEN))) if kind.endswith("[]") else read(text)


def _truth(text: str) -> bool:
    return text.strip().lower() == "true"


READERS: Mapping[str, Callable[[str], Scalar]] = MappingProxyType(
    {
        "string": str,
        "char": str,
        "boolean": _truth,
        **dict.fromkeys(("byte", "short", "int", "long"), int),
        **dict.fromkeys(("float", "double"), float),
        "date": datetime.date.fromisoformat,
        **dict.fromkeys(("localtime", "time"), datetime.time.fromisoformat),
        **dict.fromkeys(("localdatetime", "datetime"), datetime.datetime.fromisoformat),
        "duration": str,
        "point": str,
    }
)
"""Readers by the type's name in lower case."""
