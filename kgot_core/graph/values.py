"""Property values of the neutral graph: what they may be, and their one JSON form."""

from __future__ import annotations

import datetime
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

JsonValue: TypeAlias = bool | int | float | str | list["JsonValue"] | dict[str, "JsonValue"] | None


@dataclass(frozen=True, slots=True)
class Iri:
    """A reference to a resource by its IRI."""

    value: str


@dataclass(frozen=True, slots=True)
class LangText:
    """Text with a language tag, for example ``LangText("chat", "fr")``."""

    text: str
    language: str


@dataclass(frozen=True, slots=True)
class TypedText:
    """A literal of a datatype that has no Python type here, for example an ``xsd:gYear``."""

    text: str
    datatype: str


Scalar: TypeAlias = (
    str | bool | int | float | datetime.datetime | datetime.date | datetime.time | Iri | LangText | TypedText
)
Value: TypeAlias = Scalar | tuple[Scalar, ...]
Properties: TypeAlias = Mapping[str, Value]

_SCALARS = (
    str,
    bool,
    int,
    float,
    datetime.datetime,
    datetime.date,
    datetime.time,
    Iri,
    LangText,
    TypedText,
)
_NON_FINITE = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}
_TEMPORAL: dict[str, type[datetime.datetime] | type[datetime.date] | type[datetime.time]] = {
    "@datetime": datetime.datetime,
    "@date": datetime.date,
    "@time": datetime.time,
}


def to_value(raw: object) -> Value:
    """Takes a Python object as a property value.

    Tuples, lists and sets become tuples (sets in sorted order); a ``timedelta`` becomes ISO text of its
    seconds, for example ``PT90S``.

    Raises:
        ValueError: The object has no place in a property; the message says what may be used.
    """
    if isinstance(raw, _SCALARS):
        return raw
    if isinstance(raw, datetime.timedelta):
        return f"PT{raw.total_seconds():g}S"
    if isinstance(raw, set | frozenset):
        raw = sorted(raw, key=lambda item: (type(item).__name__, str(item)))
    if isinstance(raw, list | tuple):
        items = tuple(raw)
        for item in items:
            if not isinstance(item, _SCALARS):
                raise ValueError(f"a list may hold only plain values, not {type(item).__name__}")
        return items
    raise ValueError(
        f"a property cannot hold {'nothing (None)' if raw is None else 'a ' + type(raw).__name__};"
        " use text, a number, true or false, a date, or a list of these"
    )


def to_properties(raw: Mapping[str, object]) -> dict[str, Value]:
    """Takes a mapping as properties: nested maps are flattened with dots, ``None`` means absent.

    Raises:
        ValueError: A value has no place in a property; the message names the property.
    """
    properties: dict[str, Value] = {}
    for name, value in raw.items():
        if value is None:
            continue
        if isinstance(value, Mapping):
            nested = to_properties({str(inner): item for inner, item in value.items()})
            properties |= {f"{name}.{inner}": item for inner, item in nested.items()}
            continue
        try:
            properties[str(name)] = to_value(value)
        except ValueError as error:
            raise ValueError(f"property {name!r}: {error}") from None
    return properties


def encode(value: Value) -> JsonValue:
    """Gives a value's JSON form; plain for text, numbers and truth values, tagged for the others."""
    if isinstance(value, tuple):
        return [encode(item) for item in value]
    if isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else {"@number": str(value)}
    if isinstance(value, datetime.datetime):
        return {"@datetime": value.isoformat()}
    if isinstance(value, datetime.date):
        return {"@date": value.isoformat()}
    if isinstance(value, datetime.time):
        return {"@time": value.isoformat()}
    if isinstance(value, Iri):
        return {"@iri": value.value}
    if isinstance(value, LangText):
        return {"@text": value.text, "@language": value.language}
    return {"@text": value.text, "@datatype": value.datatype}


def decode(data: JsonValue) -> Value:
    """Reads a value from its JSON form.

    Raises:
        ValueError: The data is not the JSON form of a value.
    """
    if isinstance(data, list):
        items = [decode(item) for item in data]
        if any(isinstance(item, tuple) for item in items):
            raise ValueError("a list of lists is not a property value")
        return tuple(items)  # type: ignore[arg-type]
    if isinstance(data, bool | int | float | str):
        return data
    if isinstance(data, dict):
        return _decode_tagged(data)
    raise ValueError("null is not a property value")


def _decode_tagged(data: Mapping[str, Any]) -> Value:
    for tag, kind in _TEMPORAL.items():
        if tag in data:
            return kind.fromisoformat(str(data[tag]))
    if "@number" in data:
        return _NON_FINITE[str(data["@number"])]
    if "@iri" in data:
        return Iri(str(data["@iri"]))
    if "@language" in data:
        return LangText(str(data["@text"]), str(data["@language"]))
    if "@datatype" in data:
        return TypedText(str(data["@text"]), str(data["@datatype"]))
    raise ValueError(f"not a property value: {sorted(data)}")


def plain_text(value: Value) -> str:
    """Gives a value as a person would write it, for comparing with an answer or a name."""
    if isinstance(value, tuple):
        return ", ".join(plain_text(item) for item in value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime.datetime | datetime.date | datetime.time):
        return value.isoformat()
    if isinstance(value, Iri):
        return value.value
    if isinstance(value, LangText | TypedText):
        return value.text
    return str(value)


def encode_properties(properties: Properties) -> dict[str, JsonValue]:
    """Gives properties' JSON form."""
    return {name: encode(value) for name, value in properties.items()}


def decode_properties(data: Mapping[str, JsonValue]) -> dict[str, Value]:
    """Reads properties from their JSON form."""
    return {name: decode(value) for name, value in data.items()}


def equal_values(left: Value, right: Value) -> bool:
    """Tells whether two values are the same value; NaN equals itself, ``1`` and ``True`` differ."""
    return type(left) is type(right) and (encode(left) == encode(right))


def same_value(old: Value, new: Value) -> bool:
    """Tells whether a new value says nothing new; ``1952`` and ``"1952"`` say the same."""
    if equal_values(old, new):
        return True
    if isinstance(old, int | float) and isinstance(new, int | float):
        return not isinstance(old, bool) and not isinstance(new, bool) and old == new
    return plain_text(old) == plain_text(new)


def same_properties(left: Properties, right: Properties) -> bool:
    """Tells whether two property maps hold the same values under the same names."""
    return left.keys() == right.keys() and all(equal_values(left[name], right[name]) for name in left)


def sort_text(items: Iterable[str]) -> list[str]:
    """Sorts names the same way everywhere: without case first, then with it."""
    return sorted(items, key=lambda item: (item.casefold(), item))
