"""Property values between the neutral graph, the driver and rows."""

from __future__ import annotations

import datetime
import json
import math
from collections.abc import Mapping
from typing import Any

from kgot_core.errors import QueryError
from kgot_core.graph.values import (
    Iri,
    JsonValue,
    LangText,
    Properties,
    TypedText,
    Value,
    decode,
    encode,
    plain_text,
)

# A value that Neo4j has no type for is stored as its text, with its full form in a property beside it.
BESIDE = "_kgot_value."
_XSD = "http://www.w3.org/2001/XMLSchema#"
_WKT = "http://www.opengis.net/ont/geosparql#wktLiteral"
_MOST, _LEAST = 2**63 - 1, -(2**63)


def to_store(properties: Properties, about: str) -> dict[str, Any]:
    """Gives properties as parameters for the driver.

    Args:
        properties: Neutral values.
        about: The element, for messages.

    Raises:
        QueryError: A value cannot be held; the message names the property.
    """
    made: dict[str, Any] = {}
    for name, value in properties.items():
        if not name or name.startswith("_kgot") or "\0" in name:
            raise QueryError(f"{about}: a property cannot be named {name!r}")
        for item in value if isinstance(value, tuple) else (value,):
            _check(item, name, about)
        if is_native(value):
            made[name] = [_sent(item) for item in value] if isinstance(value, tuple) else _sent(value)
        else:
            made[name] = [plain_text(item) for item in value] if isinstance(value, tuple) else plain_text(value)
            made[BESIDE + name] = json.dumps(encode(value), ensure_ascii=False)
    return made


def _check(value: Value, name: str, about: str) -> None:
    if isinstance(value, float) and math.isnan(value):
        raise QueryError(f"{about}: the property {name} is not a number (NaN); leave it out")
    if isinstance(value, int) and not isinstance(value, bool) and not _LEAST <= value <= _MOST:
        raise QueryError(f"{about}: the property {name} is a number beyond 64 bits; write it as text")
    if isinstance(value, str) and any("\ud800" <= character <= "\udfff" for character in value):
        raise QueryError(f"{about}: the property {name} holds half a character; leave it out")


def is_native(value: Value) -> bool:
    """Tells whether Neo4j has a type for a value; numbers beyond 64 bits and NaN are checked elsewhere."""
    if not isinstance(value, tuple):
        return not isinstance(value, Iri | LangText | TypedText) and not _odd_time(value)
    kinds = {type(item) for item in value}
    zones = {item.tzinfo is None for item in value if isinstance(item, datetime.datetime | datetime.time)}
    return len(kinds) <= 1 and len(zones) <= 1 and all(is_native(item) for item in value)


class _Fixed(datetime.tzinfo):
    """An offset that answers for a time of day as well: the driver asks in a way that the standard one refuses."""

    def __init__(self, offset: datetime.timedelta | None) -> None:
        self._offset = offset

    def utcoffset(self, moment: object) -> datetime.timedelta | None:
        return self._offset

    def dst(self, moment: object) -> datetime.timedelta | None:
        return None

    def tzname(self, moment: object) -> str | None:
        return None


def _sent(value: Value) -> Value:
    if isinstance(value, datetime.time) and value.tzinfo is not None:
        return value.replace(tzinfo=_Fixed(value.utcoffset()))
    return value


def _odd_time(value: Value) -> bool:
    """A time of day with a named zone has no offset, and one with seconds in its offset no place in the store."""
    if not isinstance(value, datetime.datetime | datetime.time) or value.tzinfo is None:
        return False
    offset = value.utcoffset()
    return offset is None or bool(offset.seconds % 60 or offset.microseconds) or value.fold != 0


def from_store(raw: Mapping[str, Any], about: str) -> dict[str, Value]:
    """Gives stored properties as neutral values, sorted by name since the store keeps no order.

    Raises:
        QueryError: A number is none.
    """
    made: dict[str, Value] = {}
    for name in sorted(raw):
        if name.startswith("_kgot"):
            continue
        value = _neutral(raw[name])
        for item in value if isinstance(value, tuple) else (value,):
            if isinstance(item, float) and math.isnan(item):
                raise QueryError(f"{about}: the property {name} is not a number (NaN); leave it out")
        made[name] = _full(raw.get(BESIDE + name), value)
    return made


def _full(beside: Any, value: Value) -> Value:
    """Gives the full form, unless the text has been changed since."""
    if not isinstance(beside, str):
        return value
    full = decode(json.loads(beside))
    shown = tuple(map(plain_text, full)) if isinstance(full, tuple) else plain_text(full)
    return full if shown == value else value


def _neutral(raw: Any) -> Value:
    if isinstance(raw, str | bool | int | float):
        return raw
    if isinstance(raw, list):
        items = [_neutral(item) for item in raw]
        return tuple(item for item in items if not isinstance(item, tuple))
    if isinstance(raw, bytes | bytearray):
        import base64

        return TypedText(base64.b64encode(raw).decode("ascii"), f"{_XSD}base64Binary")
    return _temporal(raw)


def _temporal(raw: Any) -> Value:
    from neo4j.spatial import Point
    from neo4j.time import Date, DateTime, Duration, Time

    if isinstance(raw, Date):
        return raw.to_native()
    if isinstance(raw, DateTime | Time):
        if raw.nanosecond % 1_000:
            return TypedText(raw.iso_format(), _XSD + ("dateTime" if isinstance(raw, DateTime) else "time"))
        native = raw.to_native()
        offset = native.utcoffset()
        if native.tzinfo is not None and offset is not None:
            return native.replace(tzinfo=datetime.timezone(offset) if offset else datetime.UTC)
        return native
    if isinstance(raw, Duration):
        return TypedText(raw.iso_format(), f"{_XSD}duration")
    if isinstance(raw, Point):
        return TypedText(f"POINT({' '.join(f'{number:g}' for number in raw)})", _WKT)
    return str(raw)


def to_row(raw: Any) -> JsonValue:
    """Gives a value of a result as JSON; nodes and relationships become maps of what can be read in them."""
    from neo4j.graph import Node, Path, Relationship

    if raw is None or isinstance(raw, str | bool | int):
        return raw
    if isinstance(raw, float):
        return encode(raw)
    if isinstance(raw, Node):
        return {"@labels": [*sorted(raw.labels)], **_shown(dict(raw))}
    if isinstance(raw, Relationship):
        return {"@type": raw.type, **_shown(dict(raw))}
    if isinstance(raw, Path):
        nodes, edges = list(raw.nodes), list(raw.relationships)
        parts = [part for pair in zip(nodes, [*edges, None], strict=True) for part in pair if part is not None]
        return [to_row(part) for part in parts]
    if isinstance(raw, list | tuple) and type(raw) in (list, tuple):
        return [to_row(item) for item in raw]
    if isinstance(raw, dict):
        return _shown(raw)
    return encode(_neutral(raw))


def _shown(raw: Mapping[str, Any]) -> dict[str, JsonValue]:
    return {name: to_row(raw[name]) for name in sorted(raw) if not name.startswith("_kgot")}
