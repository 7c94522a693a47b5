"""Reads what joins two things on a line: ``-[TYPE key=value]->`` and its many other spellings."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from kgot_core.graph.facts.assignments import read_map, without_stop
from kgot_core.graph.facts.model import LineFault, Mention
from kgot_core.graph.facts.names import is_form_relation, is_placeholder, relation_name
from kgot_core.graph.facts.nodes import Map, read_mention, read_node
from kgot_core.graph.facts.values import CLOSERS, read_quoted, read_value
from kgot_core.graph.values import Value

_DASH = r"[-–—−=~]"
_OPENING = re.compile(rf"\s*(?P<left>[<←])?\s*{_DASH}{{0,4}}\s*\[")
_CLOSING = re.compile(rf"\]?\s*{_DASH}{{0,4}}\s*(?P<right>[>→]?)\s*")
_PLAIN = re.compile(
    rf"\s*(?P<left>[<←])?{_DASH}{{0,4}}(?P<first>[>→])?\s*:?(?P<body>[^\W_][^()\[\]<>→←|]{{0,80}}?)\s*"
    rf"(?:{_DASH}{{1,4}}[>→]|→|(?:(?<=\s){_DASH}{{1,4}}|{_DASH}{{2,4}}|(?<=[\s\w]))\s*(?=[(\"“«]))\s*"
)
_BARE = re.compile(rf"\s*(?P<left>[<←])?{_DASH}{{0,4}}[>→]?\s*(?=[(\"“«])")
_PROPERTY = re.compile(r"(?:^|[\s,;:|({])(?=(?P<key>[^\W\d]\w{0,60})\s{0,4}=)")
_VARIABLE = re.compile(r"^\s*\w{0,40}\s?:\s?(?=\S)")
_REST = re.compile(r"\s*(?:[.;,!]*\s*$|#|//|--\s|\((?:source|from|see|cf|according)\b[^()]*\)[.\s]*$)", re.IGNORECASE)
_MOST_WORDS = 8
_MOST_NAME_WORDS = 12


@dataclass(frozen=True, slots=True)
class Connection:
    """The type and properties of an edge; ``reverse`` where it points at the first thing."""

    type: str
    properties: Mapping[str, Value] = field(default_factory=dict)
    reverse: bool = False


def ends_statement(rest: str) -> bool:
    """Tells whether nothing more is said: the end, a full stop, a note."""
    return _REST.match(rest) is not None


def read_connection(text: str, at: int, *, without_type: bool = False) -> tuple[Connection, int]:
    """Reads the edge between two things.

    Args:
        text: The line.
        at: The place behind the first thing.
        without_type: An arrow alone will do; the type is then empty.

    Returns:
        The edge and the place of the second thing.

    Raises:
        LineFault: There is no edge, or its relation is missing, only a pattern, or a sentence.
    """
    opening = _OPENING.match(text, at)
    if opening:
        end = _bracket_end(text, opening.end())
        closing = _CLOSING.match(text, end)
        type_, properties = _read_body(text[opening.end() : end])
        right = closing["right"] if closing else ""
        return Connection(type_, properties, bool(opening["left"]) and not right), closing.end() if closing else end
    bare = _BARE.match(text, at)
    if bare and bare.end() > at:
        if without_type and text[at : bare.end()].strip():
            return Connection("", {}, bool(bare["left"])), bare.end()
        raise LineFault("the relation between the two things is missing")
    plain = _PLAIN.match(text, at)
    if plain is None:
        raise LineFault("prose, not a fact")
    type_, properties = _read_body(plain["body"])
    return Connection(type_, properties, bool(plain["left"])), plain.end()


def read_target(text: str, at: int) -> tuple[Mention | Value, Map, int]:
    """Reads what an edge leads to: a thing, or a bare number, truth value or date, which is a property's value.

    Raises:
        LineFault: Nothing stands there, or a sentence.
    """
    if text[at : at + 1] == "(" or (text[at : at + 1] in {*CLOSERS} and read_quoted(text, at)):
        mention, properties, end = read_node(text, at)
        return mention, properties, end
    raw = without_stop(text[at:].strip())
    if not raw:
        raise LineFault("the second thing is missing")
    value = read_value(raw)
    if not isinstance(value, str):
        return value, {}, len(text)
    if len(raw.split()) > _MOST_NAME_WORDS or re.search(r"[>→\[\]|]", raw):
        raise LineFault("expected a thing in parentheses behind the arrow")
    mention, properties = read_mention(raw)
    return mention, properties, len(text)


def check_relation(text: str) -> str:
    """Spells a relation type.

    Raises:
        LineFault: It is empty, the word of the pattern, or a sentence.
    """
    relation = relation_name(text)
    if not relation:
        raise LineFault("the relation between the two things is missing")
    if is_form_relation(relation) or is_placeholder(text):
        raise LineFault("this is the pattern of a fact, not a fact")
    if relation.count("_") >= _MOST_WORDS or len(relation) > 80:
        raise LineFault("prose, not a fact")
    return relation


def _read_body(body: str) -> tuple[str, dict[str, Value]]:
    brace = body.find("{")
    if brace >= 0 and body.rstrip().endswith("}"):
        return check_relation(_VARIABLE.sub("", body[:brace]).strip()), read_map(body.rstrip()[brace + 1 : -1])
    start = _PROPERTY.search(body)
    relation = body[: start.start()] if start else body
    relation = _VARIABLE.sub("", relation).strip(" ,;:|({\"'`")
    properties = read_map(body[start.start("key") :].rstrip(")} ")) if start else {}
    return check_relation(relation), properties


def _bracket_end(text: str, at: int) -> int:
    """Finds the bracket that closes an edge; values within may hold brackets and quotes."""
    depth = 0
    place = at
    while place < len(text):
        letter = text[place]
        if letter in '"“' and text[at:place].rstrip()[-1:] in {"=", ":", ",", "["}:
            quoted = read_quoted(text, place)
            place = quoted[1] if quoted else place + 1
            continue
        if letter == "]" and not depth:
            return place
        depth += (letter == "[") - (letter == "]")
        place += 1
    for arrow in ("->", "→"):
        if (found := text.find(arrow, at)) >= 0:
            return found
    raise LineFault("the edge's bracket is not closed")
