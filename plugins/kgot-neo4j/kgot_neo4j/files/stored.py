"""Elements as what a Neo4j database would hold: labels, type and properties that it takes, the rest beside them.

As in a database that a run has written, a value without a type in Neo4j stands there as its text, with its full form
in ``_kgot_value.<name>``; ``_kgot_more`` has what cannot have its own place.
"""

from __future__ import annotations

import datetime
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kgot_core.graph.elements import Edge, Element, Node
from kgot_core.graph.losses import Losses, place
from kgot_core.graph.values import Iri, JsonValue, LangText, TypedText, Value, decode_properties, encode, plain_text
from kgot_neo4j.cypher.names import RESERVED
from kgot_neo4j.values import BESIDE, from_store, is_native

IMPORT_ID = "neo4jImportId"
MORE = "_kgot_more"
RELATED = "RELATED_TO"
_MOST, _LEAST = 2**63 - 1, -(2**63)


@dataclass(frozen=True)
class Stored:
    """One element as the database would hold it; ``name`` is an edge's type."""

    labels: tuple[str, ...]
    name: str
    properties: Mapping[str, Value]


def to_stored(element: Element, losses: Losses, *, apoc: bool) -> Stored:
    """Gives an element as a database would hold it.

    Args:
        element: The element.
        losses: Gets what is only text in Neo4j, or has no place of its own there.
        apoc: It is written for ``apoc.import.json``, which has no types for dates and times and writes labels and
            types into statements as they are.
    """
    properties: dict[str, Value] = {}
    more: dict[str, Any] = {}
    for name, value in element.properties.items():
        if not _good(name) or name == IMPORT_ID:
            more.setdefault("properties", {})[name] = encode(value)
            losses.add(f"a property that Neo4j has no name for is only in {MORE}", place(element, name))
        elif what := _strange(value, apoc):
            losses.add(f"{what} is text in Neo4j, in full in {BESIDE}*", place(element, name))
            texts = [plain_text(item) for item in value] if isinstance(value, tuple) else plain_text(value)
            properties[name] = tuple(texts) if isinstance(texts, list) else texts
            properties[BESIDE + name] = json.dumps(encode(value), ensure_ascii=False)
        else:
            properties[name] = value
    labels: tuple[str, ...] = ()
    type_ = ""
    if isinstance(element, Node):
        labels = tuple(label for label in dict.fromkeys(element.labels) if _fits(label, apoc))
        if set(labels) != set(element.labels):
            more["labels"] = list(element.labels)
            losses.add(f"a label that Neo4j or APOC cannot take is only in {MORE}", place(element))
        if element.key:
            more["key"] = element.key
    else:
        type_ = element.type if _fits(element.type, apoc) else RELATED
        if type_ != element.type:
            more["type"] = element.type
            losses.add(f"an edge whose type Neo4j or APOC cannot take is {RELATED} there", place(element))
    if element.inferred:
        more["inferred"] = True
    if more:
        properties[MORE] = json.dumps(more, ensure_ascii=False)
    return Stored(labels, type_, properties)


def node_of(node_id: str, labels: tuple[str, ...], raw: Mapping[str, Any]) -> Node:
    """Reads a node.

    Raises:
        ValueError: What stands beside the properties is damaged.
    """
    more = _more(raw)
    exact = more.get("labels")
    if isinstance(exact, list):
        labels = (*labels, *(str(label) for label in exact if not _fits(str(label), True)))
    return Node(node_id, labels, _properties(raw, more), str(more.get("key", "")), "inferred" in more)


def edge_of(edge_id: str, type_: str, source: str, target: str, raw: Mapping[str, Any]) -> Edge:
    """Reads an edge.

    Raises:
        ValueError: What stands beside the properties is damaged.
    """
    more = _more(raw)
    if type_ == RELATED and "type" in more:
        type_ = str(more["type"])
    return Edge(edge_id, type_, source, target, _properties(raw, more), "inferred" in more)


def _properties(raw: Mapping[str, Any], more: Mapping[str, Any]) -> dict[str, Value]:
    extra = more.get("properties", {})
    return {**from_store(raw, "the file"), **decode_properties(extra if isinstance(extra, dict) else {})}


def _more(raw: Mapping[str, Any]) -> dict[str, JsonValue]:
    data = json.loads(str(raw.get(MORE, "{}")))
    if not isinstance(data, dict):
        raise ValueError(f"its {MORE} is damaged")
    return data


def _good(name: str) -> bool:
    return bool(name) and not name.upper().startswith(RESERVED) and "\0" not in name


def _fits(name: str, apoc: bool) -> bool:
    """Tells whether a name can be that of a label or type."""
    return _good(name) and not (apoc and set(name) & set("`\\"))


def _strange(value: Value, apoc: bool) -> str:
    """Says what of a value Neo4j, or the way into it, has no type for; empty where it has one."""
    items = value if isinstance(value, tuple) else (value,)
    for item in items:
        if isinstance(item, Iri | LangText | TypedText):
            return "an address or a literal with language or datatype"
        if isinstance(item, float) and (math.isnan(item) or (apoc and math.isinf(item))):
            return "NaN or infinity"
        if isinstance(item, int) and not _LEAST <= item <= _MOST:
            return "a number beyond 64 bits"
        if apoc and isinstance(item, datetime.date | datetime.time):
            return "a date or time"
    if is_native(value):
        return ""
    return "a list of several types" if isinstance(value, tuple) else "a time with an unusual zone"
