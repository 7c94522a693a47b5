"""Attributes of networkx as neutral data, and back."""

from __future__ import annotations

import datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

KG_STALE = "kgot: the worker holds another state"
KG_USE = "use text, a number, true or false, a date, or a list of these"
KG_NODE_RESERVED = ("label", "labels")
KG_EDGE_RESERVED = ("type",)
KG_TYPE_NAMES = ("type", "label", "relation", "relationship")


def kg_kind(raw: Any) -> str:
    """Names the kind of a value for a message."""
    name = type(raw).__name__
    if raw is None:
        return "nothing (None)"
    return ("an " if name[:1].lower() in "aeiou" else "a ") + name


def kg_key(raw: Any) -> str:
    """Gives the text by which a node is known: its own text, a number as written, parts joined by commas."""
    if isinstance(raw, str):
        text = str(raw)
    elif isinstance(raw, (datetime.date, datetime.time)):
        text = raw.isoformat()
    elif isinstance(raw, (bool, int, float)):
        text = str(raw)
    elif isinstance(raw, tuple):
        text = ", ".join([kg_key(item) for item in raw])
    elif isinstance(raw, frozenset):
        text = ", ".join(sorted([kg_key(item) for item in raw]))
    elif hasattr(raw, "item"):
        text = kg_key(raw.item())
    else:
        raise ValueError(f"a node cannot be {kg_kind(raw)}; use text")
    if not text.strip():
        raise ValueError("a node cannot be an empty text; use its name")
    return text


def kg_scalar(raw: Any) -> Any:
    """Gives the JSON form of one plain value; raises ValueError with the kind of any other."""
    tagged = getattr(raw, "kgot_tagged", None)
    if tagged is not None:
        return tagged
    if isinstance(raw, str):
        text = str(raw)
        try:
            text.encode("utf-8")
        except UnicodeEncodeError:
            raise ValueError("a text with half a character (a lone surrogate)") from None
        return text
    if isinstance(raw, bool):
        return raw
    if isinstance(raw, int):
        return int(raw)
    if isinstance(raw, float):
        return float(raw) if raw - raw == 0 else {"@number": str(float(raw))}
    if isinstance(raw, datetime.datetime):
        return {"@datetime": raw.isoformat()}
    if isinstance(raw, datetime.date):
        return {"@date": raw.isoformat()}
    if isinstance(raw, datetime.time):
        return {"@time": raw.isoformat()}
    if isinstance(raw, datetime.timedelta):
        seconds = raw.total_seconds()
        return f"PT{int(seconds) if seconds == int(seconds) else seconds}S"
    if hasattr(raw, "item"):
        return kg_scalar(raw.item())
    raise ValueError(kg_kind(raw))


def kg_value(raw: Any) -> Any:
    """Gives the JSON form of a property value: one plain value or a list of them; a set is sorted."""
    if hasattr(raw, "tolist"):
        raw = raw.tolist()
    if isinstance(raw, (set, frozenset)):
        raw = sorted(raw, key=lambda item: (type(item).__name__, str(item)))
    if not isinstance(raw, (list, tuple)):
        return kg_scalar(raw)
    items = []
    for item in raw:
        try:
            items.append(kg_scalar(item))
        except ValueError as error:
            raise ValueError(f"a list with {error}") from None
    return items


def kg_properties(where: str, attributes: Mapping[Any, Any], reserved: tuple[str, ...], prefix: str) -> dict[str, Any]:
    """Gives the JSON form of attributes; nested maps are flattened with dots, None means absent."""
    properties: dict[str, Any] = {}
    for raw_name, value in attributes.items():
        name = prefix + str(raw_name)
        base = name.rstrip("_")
        if name != base and base in reserved:
            name = name[:-1]
        if value is None:
            continue
        if isinstance(value, dict):
            for inner, item in kg_properties(where, value, (), name + ".").items():
                properties[inner] = item
            continue
        try:
            properties[name] = kg_value(value)
        except ValueError as error:
            raise ValueError(f'{where}, property "{name}" cannot hold {error}; {KG_USE}') from None
    return properties


def kg_words(where: str, raw: Any) -> list[str]:
    """Reads one label or several."""
    if raw is None:
        return []
    if isinstance(raw, (list, tuple, set, frozenset)):
        found = sorted(raw, key=str) if isinstance(raw, (set, frozenset)) else list(raw)
    else:
        found = [raw]
    words = []
    for item in found:
        if not isinstance(item, (str, int, float)):
            raise ValueError(f"{where}: a label must be text, not {kg_kind(item)}")
        word = str(item).strip()
        if word and word not in words:
            words.append(word)
    return words


def kg_node(raw_key: Any, attributes: Mapping[Any, Any], new: bool) -> list[Any]:
    """Gives a node as ``[key, labels, properties]``; a new one without a name gets its key as name."""
    key = kg_key(raw_key)
    where = f'node "{key}"'
    labels = kg_words(where, attributes.get("label"))
    for word in kg_words(where, attributes.get("labels")):
        if word not in labels:
            labels.append(word)
    rest = {name: value for name, value in attributes.items() if name not in KG_NODE_RESERVED}
    properties = kg_properties(where, rest, KG_NODE_RESERVED, "")
    if new and "name" not in properties:
        properties = {"name": key, **properties}
    return [key, labels, properties]


def kg_edge(source: str, target: str, raw_key: Any, attributes: Mapping[Any, Any]) -> list[Any]:
    """Gives an edge as ``[type, properties]``; the type comes from an attribute, else from a text key."""
    where = f'edge "{source}" to "{target}"'
    found = ""
    used = ""
    for name in KG_TYPE_NAMES:
        value = attributes.get(name)
        if name == "type" and value is not None and not isinstance(value, (str, int, float)):
            raise ValueError(f"{where}: the type must be text, not {kg_kind(value)}")
        if not found and (isinstance(value, str) or (name == "type" and value is not None)):
            found = str(value).strip()
            used = name
    if not found:
        used = ""
        found = raw_key.strip() if isinstance(raw_key, str) else ""
    rest = {name: value for name, value in attributes.items() if name not in ("type", used)}
    return [found or "RELATED_TO", kg_properties(where, rest, KG_EDGE_RESERVED, "")]


def kg_decode(data: Any, typed: Callable[[str, dict[str, str]], str]) -> Any:
    """Reads a property value from its JSON form; ``typed`` makes the text of an IRI or a typed literal."""
    if isinstance(data, list):
        return [kg_decode(item, typed) for item in data]
    if not isinstance(data, dict):
        return data
    if "@number" in data:
        return float(data["@number"])
    if "@datetime" in data:
        return datetime.datetime.fromisoformat(data["@datetime"])
    if "@date" in data:
        return datetime.date.fromisoformat(data["@date"])
    if "@time" in data:
        return datetime.time.fromisoformat(data["@time"])
    return typed(data["@iri"] if "@iri" in data else data["@text"], data)


def kg_attribute(name: str, reserved: tuple[str, ...]) -> str:
    """Gives the attribute for a property; one that would be taken for a label or type gets an underscore."""
    return name + "_" if name.rstrip("_") in reserved else name


def kg_node_attributes(labels: list[str], properties: dict[str, Any], typed: Any) -> dict[str, Any]:
    """Gives the attributes of a node from its neutral data."""
    attributes: dict[str, Any] = {}
    if labels:
        attributes["label"] = labels[0]
    if labels[1:]:
        attributes["labels"] = list(labels)
    for name, value in properties.items():
        attributes[kg_attribute(name, KG_NODE_RESERVED)] = kg_decode(value, typed)
    return attributes


def kg_edge_attributes(kind: str, properties: dict[str, Any], typed: Any) -> dict[str, Any]:
    """Gives the attributes of an edge from its neutral data."""
    attributes: dict[str, Any] = {"type": kind}
    for name, value in properties.items():
        attributes[kg_attribute(name, KG_EDGE_RESERVED)] = kg_decode(value, typed)
    return attributes
