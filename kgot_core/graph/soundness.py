"""What no graph may have, wherever it comes from."""

from __future__ import annotations

from kgot_core.graph.elements import Edge, GraphSnapshot
from kgot_core.graph.values import LangText, TypedText, Value, plain_text, to_properties


def faults(graph: GraphSnapshot) -> list[str]:
    """Lists what is wrong: an id twice, an edge without its node, a value that is none, half a character."""
    lines, ids = [], set()
    nodes = {node.id for node in graph.nodes}
    for element in graph.elements():
        if element.id in ids or not element.id:
            lines.append(f"the id {element.id!r} is empty or stands for two elements")
        ids.add(element.id)
        if isinstance(element, Edge) and not {element.source, element.target} <= nodes:
            lines.append(f"the edge {element.id} leads from or to a node that is not there")
        try:
            to_properties(element.properties)
        except ValueError as error:
            lines.append(f"{element.id}: {error}")
            continue
        words = (element.type,) if isinstance(element, Edge) else (element.key, *element.labels)
        texts = [element.id, *words, *element.properties, *map(_text, element.properties.values())]
        if not all(map(_whole, texts)):
            lines.append(f"{element.id!a} holds half a character (a lone surrogate)")
    return lines


def _text(value: Value) -> str:
    items = value if isinstance(value, tuple) else (value,)
    extra = [
        item.language if isinstance(item, LangText) else item.datatype
        for item in items
        if isinstance(item, LangText | TypedText)
    ]
    return plain_text(tuple(item for item in items if not isinstance(item, int | float))) + "".join(extra)


def _whole(text: str) -> bool:
    return text.isascii() or not any("\ud800" <= mark <= "\udfff" for mark in text)
