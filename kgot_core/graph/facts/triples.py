"""Reads three parts in a row: ``subject | relation | object``, also with arrows between them."""

from __future__ import annotations

import re

from kgot_core.graph.facts.assignments import read_map, without_stop
from kgot_core.graph.facts.edges import check_relation
from kgot_core.graph.facts.model import EdgeFact, LineFault, Mention, PropertyFact
from kgot_core.graph.facts.names import key_name
from kgot_core.graph.facts.nodes import read_mention, read_node
from kgot_core.graph.facts.values import read_value, split_list
from kgot_core.graph.values import Value

_ARROWS = re.compile(r"\s*(?:[-–—=]{1,3}>|→)\s*")
_MOST_SUBJECT = 15
_MOST_NAME = 12


def split_triple(text: str) -> list[str]:
    """Splits a line at its bars or arrows; gives nothing where it does not have three or four parts."""
    if "|" in text:
        parts = [part.strip() for part in split_list(text, "|")]
        while parts and not parts[0]:
            parts.pop(0)
        while parts and not parts[-1]:
            parts.pop()
    else:
        parts = [part.strip() for part in _ARROWS.split(text)]
        if "[" in text or len(parts) != 3:
            return []
    return parts if len(parts) in {3, 4} and all(parts) else []


def read_triple(parts: list[str], number: int) -> EdgeFact | PropertyFact:
    """Makes a fact of subject, relation, object and, where there is a fourth part, the edge's properties.

    A number, truth value or date, and a whole sentence, become a property of the subject, anything else a thing of
    its own.

    Raises:
        LineFault: A part is missing, a pattern, or a sentence.
    """
    if all(set(part) <= set("-:= ") for part in parts):
        raise LineFault("a table's rule, not a fact")
    relation = check_relation(parts[1].strip("-<>[]:\"'` "))
    source = _thing(parts[0])
    if len(parts[0].split()) > _MOST_SUBJECT:
        raise LineFault("prose, not a fact")
    properties: dict[str, Value] = read_map(parts[3]) if len(parts) > 3 else {}
    last = without_stop(parts[2])
    if not last.startswith("("):
        value = read_value(last)
        if not isinstance(value, str) or len(last.split()) > _MOST_NAME:
            return PropertyFact(source, key_name(relation), value, number)
    return EdgeFact(source, relation, _thing(last), properties, number)


def _thing(text: str) -> Mention:
    if text.startswith("("):
        mention, _, end = read_node(text, 0)
        if not text[end:].strip(" ."):
            return mention
    return read_mention(text)[0]
