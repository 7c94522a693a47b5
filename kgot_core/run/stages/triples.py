"""Facts that a model wrote as a JSON list of triples, as lines that the fact language reads."""

from __future__ import annotations

from collections.abc import Mapping

from kgot_core.errors import Unreadable
from kgot_core.graph.values import JsonValue
from kgot_core.reading.json_reader import read_json

_PARTS = (
    ("subject", "source", "head", "from", "node1", "entity1"),
    ("relation", "predicate", "relationship", "type", "edge", "label"),
    ("object", "target", "tail", "to", "node2", "entity2"),
)


def triples_as_lines(text: str) -> str:
    """Gives triples as ``subject | relation | object``, one a line; any other text as it is."""
    if text.lstrip()[:1] not in {"[", "{"}:
        return text
    try:
        value = read_json(text)
    except Unreadable:
        return text
    if isinstance(value, dict):
        value = next((item for item in value.values() if isinstance(item, list)), None)
    lines = [line for item in value if (line := _line(item))] if isinstance(value, list) else []
    return "\n".join(lines) or text


def _line(item: JsonValue) -> str:
    parts: list[JsonValue] = []
    if isinstance(item, list):
        parts = item
    elif isinstance(item, Mapping):
        plain = {str(name).casefold(): value for name, value in item.items()}
        parts = [next((plain[name] for name in names if name in plain), None) for names in _PARTS]
    texts = [" ".join(str(part).split()) for part in parts if isinstance(part, str | int | float)]
    if len(parts) != 3 or len(texts) != 3 or any(not text or "|" in text for text in texts):
        return ""
    return " | ".join(texts)
