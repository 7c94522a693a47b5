"""Elements as rows of plain values, for formats that are tables of texts, numbers and truth values.

What a row cannot say exactly stands in it as a person would write it, and exactly, as JSON, in one more column. Where
another program has changed what is written, that counts.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from kgot_core.graph.elements import Edge, Element, Node
from kgot_core.graph.values import Value, decode, encode, equal_values, plain_text, to_properties

Row: TypeAlias = dict[str, Value]
MORE = "kgot"
"""The column of what the others cannot say."""
TEXT = "string"
"""The type of columns whose values have several types."""
RELATED = "RELATED_TO"
_BETWEEN = ";"


@dataclass(frozen=True)
class FlatForm:
    """How a format holds nodes, or edges.

    Attributes:
        words: Column of a node's labels, with ``;`` between them, or of an edge's type.
        holds: Tells whether the format gives a value of a column back as it was.
        named: Tells whether there can be a column of a name.
    """

    words: str
    holds: Callable[[str, Value], bool]
    named: Callable[[str], bool]

    def row(self, element: Element) -> Row:
        """Gives the row of an element, without its ids."""
        made: Row = {}
        more: dict[str, Any] = {}
        self._put_words(element, made, more)
        exact = {}
        for name, value in element.properties.items():
            shown = self._shown(name, value)
            if shown is not None:
                made[name] = shown
            if shown is None or not equal_values(shown, value):
                exact[name] = encode(value)
        if exact:
            more["properties"] = exact
        if isinstance(element, Node) and element.key:
            more["key"] = element.key
        if element.inferred:
            more["inferred"] = True
        if more:
            made[MORE] = json.dumps(more)
        return made

    def node(self, node_id: str, row: Mapping[str, Any]) -> Node:
        """Reads a node.

        Raises:
            ValueError: The column of what the others cannot say is damaged, or a value has no place in a property.
        """
        more = _more(row)
        found = str(row.get(self.words, ""))
        exact = more.get("labels")
        labels = tuple(map(str, exact)) if isinstance(exact, list) and self._joined(exact) == found else _split(found)
        return Node(node_id, labels, self._properties(row, more), str(more.get("key", "")), "inferred" in more)

    def edge(self, edge_id: str, source: str, target: str, row: Mapping[str, Any]) -> Edge:
        """Reads an edge; without a type it is ``RELATED_TO``.

        Raises:
            ValueError: As for a node.
        """
        more = _more(row)
        type_ = str(row.get(self.words, more.get("type", RELATED)))
        return Edge(edge_id, type_, source, target, self._properties(row, more), "inferred" in more)

    def _put_words(self, element: Element, made: Row, more: dict[str, Any]) -> None:
        if isinstance(element, Edge):
            if element.type and self.holds(self.words, element.type):
                made[self.words] = element.type
            else:
                more["type"] = element.type
            return
        text = self._joined(element.labels)
        if text:
            made[self.words] = text
        if _split(text) != element.labels:
            more["labels"] = list(element.labels)

    def _joined(self, labels: Any) -> str:
        text = _BETWEEN.join(map(str, labels))
        return text if not text or self.holds(self.words, text) else _escaped(text)

    def _shown(self, name: str, value: Value) -> Value | None:
        """Gives what stands in the column of a property, ``None`` where nothing can."""
        if name in (MORE, self.words) or not self.named(name):
            return None
        text = plain_text(value)
        return next((form for form in (value, text, _escaped(text)) if self.holds(name, form)), None)

    def _properties(self, row: Mapping[str, Any], more: Mapping[str, Any]) -> dict[str, Value]:
        found = to_properties({name: value for name, value in row.items() if name not in (MORE, self.words)})
        given = more.get("properties", {})
        if not isinstance(given, Mapping):
            raise ValueError(f"its column {MORE!r} is damaged")
        for name, data in given.items():
            value = decode(data)
            shown = self._shown(name, value)
            if shown is None or (name in found and equal_values(found[name], shown)):
                found[name] = value
        return found


def column_kinds(rows: Iterable[Mapping[str, Any]], kind_of: Callable[[Any], str]) -> dict[str, str]:
    """Finds the one type of each column, for formats that want it: that of all its values, else ``string``.

    Args:
        rows: Values by column; the one for :data:`MORE` is left out, it always holds texts.
        kind_of: Gives the type that a value has; empty where no column holds it.
    """
    found: dict[str, set[str]] = {}
    for row in rows:
        for name, value in row.items():
            found.setdefault(name, set()).update({kind_of(value)} - {""})
    return {name: known.pop() if len(known) == 1 else TEXT for name, known in found.items() if name != MORE}


def _more(row: Mapping[str, Any]) -> Mapping[str, Any]:
    try:
        data = json.loads(row.get(MORE) or "{}")
    except (ValueError, TypeError, RecursionError):
        data = None
    if not isinstance(data, dict):
        raise ValueError(f"its column {MORE!r} is damaged")
    return data


def _split(text: str) -> tuple[str, ...]:
    # Neo4j's own exports write :City:Capital.
    parts = text[1:].split(":") if text.startswith(":") else text.split(_BETWEEN)
    return tuple(dict.fromkeys(part for part in parts if part))


def _escaped(text: str) -> str:
    return json.dumps(text)[1:-1]
