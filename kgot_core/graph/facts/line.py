"""Reads one line of the fact language."""

from __future__ import annotations

import re
from collections.abc import Iterator

from kgot_core.graph.facts.assignments import KEY, read_map, read_pairs, starts_pair
from kgot_core.graph.facts.edges import Connection, check_relation, ends_statement, read_connection, read_target
from kgot_core.graph.facts.model import (
    EdgeFact,
    Fact,
    LineFault,
    Mention,
    NodeFact,
    PropertyFact,
    RemoveEdge,
    RemoveNode,
    RemoveProperty,
)
from kgot_core.graph.facts.names import key_name, same_label
from kgot_core.graph.facts.nodes import read_mention, read_node
from kgot_core.graph.facts.triples import read_triple, split_triple
from kgot_core.graph.facts.values import split_list
from kgot_core.graph.values import Value

LONGEST_LINE = 8_000
_DELETE = re.compile(r"(?:delete|remove|drop)\b\s*:?\s*(?:(?:node|edge|fact|property)\b\s*:?\s*)?", re.IGNORECASE)
_FRONT = re.compile(
    r"(?:fact\s*\d{0,4}\s*:|(?:new|add|set|update|correct|correction|corrected|change)\b\s*:?)\s*", re.IGNORECASE
)
_STATEMENT = re.compile(
    r"(?:CREATE|MERGE|MATCH|INSERT|UNWIND|OPTIONAL|RETURN|WITH|SELECT|PREFIX)\b\s*[(\w:*{]|G\.\w+\(|import\s|def\s|for\s.*:$"
)
_KEYS = re.compile(rf"\.?\s*({KEY}(?:\s*,\s*{KEY}){{0,5}})\s*\.?")
_BARE_PAIR = re.compile(r"(?P<thing>[^()|=\[\]]{1,120}?:\s[^()|=\[\]]{1,120}?),\s+(?=[^\W\d][\w ]{0,60}=)")
_BARE_EDGE = re.compile(r"\s*(?:[<←]\s*)?[-–—−=]{1,3}\s*\[")
_AND = re.compile(r"(?:[,;]\s*(?:and\b\s*)?|and\b\s*)(?=\()", re.IGNORECASE)
_NO_LABELS = frozenset({
    "note", "notes", "source", "sources", "result", "results", "example", "examples", "hint", "see", "from",
    "warning", "assumption", "context", "answer", "question", "task", "eg", "ie", "ps", "nb", "remark", "here",
    "facts", "fact", "output", "input", "reason", "step"
})  # fmt: skip


def deletes(text: str) -> bool:
    """Tells whether a line says by its first word that something goes."""
    return _DELETE.match(text) is not None


def read_line(text: str, number: int = 0) -> list[Fact]:
    """Reads the facts of one line, bullets and numbers in front taken off already.

    Raises:
        LineFault: The line is not a fact; the message says why.
    """
    if len(text) > LONGEST_LINE:
        raise LineFault("the line is too long")
    if _STATEMENT.match(text):
        raise LineFault("this is a statement, not a fact")
    removal = _DELETE.match(text)
    if removal:
        return list(_read_removal(text[removal.end() :].strip(), number))
    front = _FRONT.match(text)
    if front and text[front.end() : front.end() + 1] in {"(", '"'}:
        text = text[front.end() :]
    return list(_read_statement(text, number))


def _read_statement(text: str, number: int) -> Iterator[Fact]:
    if text[:1] in set('("“«'):
        try:
            yield from list(_read_from_node(text, number))
            return
        except LineFault:
            if "|" not in text:
                raise
    if parts := split_triple(text):
        yield read_triple(parts, number)
        return
    if pair := _BARE_PAIR.match(text):
        mention, _ = read_mention(pair["thing"])
        for key, value in read_pairs(text[pair.end() :]):
            yield PropertyFact(mention, key, value, number)
        return
    edge = _BARE_EDGE.search(text)
    if edge is None or not text[: edge.start()].strip():
        raise LineFault("the thing before the sign is missing" if starts_pair(text) else "prose, not a fact")
    mention, _ = read_mention(text[: edge.start()])
    yield from _read_connections(mention, text, edge.start(), number)


def _read_from_node(text: str, number: int) -> Iterator[Fact]:
    mention, properties, at = read_node(text, 0)
    rest = text[at:].lstrip()
    for key, value in properties.items():
        yield PropertyFact(mention, key, value, number)
    if ends_statement(rest):
        if mention.label or properties:
            yield _alone(mention, number)
            return
        parts = split_list(text[1 : at - 1], ",")
        if len(parts) != 3:
            raise LineFault("nothing is said about the thing, not even its kind")
        yield read_triple([part.strip() for part in parts], number)
        return
    if rest[0] in "{[" and rest.rstrip(" .;")[-1] in "}]" and starts_pair(rest, 1):
        for key, value in read_map(rest.rstrip(" .;")[1:-1]).items():
            yield PropertyFact(mention, key, value, number)
        return
    if rest[0] in ",;" and rest[1:].lstrip().startswith("("):
        yield _alone(mention, number)
        yield from _read_from_node(rest[1:].lstrip(), number)
        return
    pairs = rest if starts_pair(rest) else rest.lstrip(".,:;-–—> ")
    if starts_pair(pairs) and not (pairs is not rest and "[" in rest[: len(rest) - len(pairs)]):
        for key, value in read_pairs(pairs):
            yield _assigned(mention, key, value, number)
        return
    yield from _read_connections(mention, text, at, number)


def _assigned(mention: Mention, key: str, value: Value, number: int) -> Fact:
    """Makes a property, or an edge where the value is a thing in parentheses with its kind."""
    if isinstance(value, str) and value.startswith("(") and value.endswith(")"):
        target, _, end = read_node(value, 0)
        if end == len(value) and target.label:
            return EdgeFact(mention, check_relation(key), target, {}, number)
    return PropertyFact(mention, key, value, number)


def _read_connections(source: Mention, text: str, at: int, number: int) -> Iterator[Fact]:
    """Reads one or several edges in a row, and further statements behind a comma."""
    while True:
        connection, at = read_connection(text, at)
        target, properties, at = read_target(text, at)
        if not isinstance(target, Mention):
            yield PropertyFact(source, key_name(connection.type), target, number)
            return
        yield _edge(source, connection, target, number)
        for key, value in properties.items():
            yield PropertyFact(target, key, value, number)
        rest = text[at:].lstrip()
        while further := _further(rest):
            other, _, after = read_node(further, 0)
            rest = further[after:].lstrip()
            if not _further(rest) and not ends_statement(rest):
                yield from _read_from_node(further, number)
                return
            yield _edge(source, connection, other, number)
        if ends_statement(rest):
            return
        if rest[0] == "{" and rest.rstrip(" .;").endswith("}"):
            yield _edge(source, connection, target, number, read_map(rest.rstrip(" .;")[1:-1]))
            return
        if rest[0] not in "-–—−<←=→":
            raise LineFault("something stands behind the second thing; properties of an edge stand in its brackets")
        at = len(text) - len(rest)
        source = target


def _further(rest: str) -> str:
    """Gives the text from a further thing on, behind a comma or the word ``and``; empty where there is none."""
    match = _AND.match(rest)
    return rest[match.end() :] if match else ""


def _edge(
    source: Mention, by: Connection, target: Mention, number: int, more: dict[str, Value] | None = None
) -> EdgeFact:
    properties = {**by.properties, **(more or {})}
    first, second = (target, source) if by.reverse else (source, target)
    return EdgeFact(first, by.type, second, properties, number)


def _alone(mention: Mention, number: int) -> NodeFact:
    words = len(mention.name.split())
    if same_label(mention.label) in _NO_LABELS or words > 15 or (words > 6 and mention.name.endswith(".")):
        raise LineFault("prose, not a fact")
    return NodeFact(mention, number)


def _read_removal(text: str, number: int) -> Iterator[Fact]:
    if text[:1] in set('("“«'):
        mention, _, at = read_node(text, 0)
        rest = text[at:].lstrip()
        if ends_statement(rest):
            yield RemoveNode(mention, number)
            return
        if keys := _KEYS.fullmatch(rest):
            for key in keys[1].split(","):
                yield RemoveProperty(mention, key_name(key), None, number)
            return
        connection, after = Connection("?"), at
        if not starts_pair(rest.lstrip(".-–—: ")):
            connection, after = read_connection(text, at, without_type=True)
        if not connection.type:
            target, _, after = read_target(text, after)
            if not isinstance(target, Mention) or not ends_statement(text[after:].strip()):
                raise LineFault("expected the second thing of the edge")
            ends = (target, mention) if connection.reverse else (mention, target)
            yield RemoveEdge(ends[0], "", ends[1], number)
            return
    for fact in list(_read_statement(text, number)):
        if isinstance(fact, EdgeFact):
            yield RemoveEdge(fact.source, fact.type, fact.target, number)
        elif isinstance(fact, PropertyFact):
            yield RemoveProperty(fact.node, fact.key, fact.value, number)
        elif isinstance(fact, NodeFact):
            yield RemoveNode(fact.node, number)
