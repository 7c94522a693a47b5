"""Maps as property values, which Neo4j cannot hold: their entries become properties named with a dot."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from kgot_neo4j.cypher.clauses import Clause, every, read_clauses
from kgot_neo4j.cypher.patterns import Unreadable, read_paths
from kgot_neo4j.cypher.tokens import Edits, Token, matching, quoted, tokenize


@dataclass(frozen=True)
class Entry:
    """One entry of a map as written: its name, and its value as text."""

    name: str
    value: str

    def __str__(self) -> str:
        return f"{quoted(self.name)}: {self.value}"


def read_map(text: str, tokens: Sequence[Token], first: int, last: int, prefix: str = "") -> list[Entry]:
    """Reads a map in braces; nested ones are flattened with dots.

    Args:
        text: The statement.
        tokens: Its tokens.
        first: Index of ``{``.
        last: Index after ``}``.
        prefix: Beginning of each name.

    Raises:
        Unreadable: It is not a plain map.
    """
    entries: list[Entry] = []
    place = first + 1
    while place < last - 1:
        if tokens[place].kind not in ("word", "name", "string") or tokens[place + 1].text != ":":
            raise Unreadable
        token = tokens[place]
        name = prefix + (token.text[1:-1] if token.kind == "string" else token.value)
        end = _value_end(tokens, place + 2, last - 1)
        if end == place + 2:
            raise Unreadable
        if _is_map(tokens, place + 2, end) and end > place + 4:
            entries += read_map(text, tokens, place + 2, end, f"{name}.")
        else:
            entries.append(Entry(name, text[tokens[place + 2].start : tokens[end - 1].end]))
        place = end + 1
    return entries


def _value_end(tokens: Sequence[Token], place: int, stop: int) -> int:
    while place < stop and tokens[place].text != ",":
        place = matching(tokens, place, stop) + 1 if _opens(tokens[place]) else place + 1
    return min(place, stop)


def _opens(token: Token) -> bool:
    return token.kind == "symbol" and token.text in ("(", "[", "{")


def _is_map(tokens: Sequence[Token], first: int, end: int) -> bool:
    """A map literal, and not ``count {…}`` or ``n {.name}``."""
    return tokens[first].text == "{" and matching(tokens, first) == end - 1 and tokens[first + 1].text != "."


def flatten_maps(text: str) -> str:
    """Flattens maps among the properties of CREATE, MERGE and SET."""
    if text.count("{") < 1:
        return text
    tokens = tokenize(text)
    edits = Edits(text)
    for clause in every(read_clauses(tokens)):
        if clause.word in ("CREATE", "MERGE"):
            _in_patterns(text, tokens, clause, edits)
        for place in range(clause.body, clause.last):
            if tokens[place].text == "{" and tokens[place].kind == "symbol" and _in_set(tokens, clause, place):
                _in_assignment(text, tokens, place, edits)
    return edits.done()


def _in_patterns(text: str, tokens: Sequence[Token], clause: Clause, edits: Edits) -> None:
    try:
        parts = [part for path in read_paths(tokens, clause) for part in path.parts]
    except Unreadable:
        return
    for part in parts:
        if part.properties is not None:
            _rewrite(text, tokens, *part.properties, edits)


def _rewrite(text: str, tokens: Sequence[Token], first: int, last: int, edits: Edits) -> None:
    """Rewrites a map of properties that holds maps, or names in quotes as in JSON."""
    inner = [token for token in tokens[first + 1 : last - 1] if token.text == "{"]
    quoted_names = any(
        left.kind == "string" and right.text == ":"
        for left, right in zip(tokens[first:last], tokens[first + 1 : last], strict=False)
    )
    if not inner and not quoted_names:
        return
    try:
        entries = read_map(text, tokens, first, last)
    except Unreadable:
        return
    edits.replace(tokens[first].start, tokens[last - 1].end, "{" + ", ".join(map(str, entries)) + "}")


def _in_set(tokens: Sequence[Token], clause: Clause, place: int) -> bool:
    """It is the value of an assignment in SET, or in ON CREATE SET and ON MATCH SET."""
    if tokens[place - 1].text not in ("=", "+="):
        return False
    return clause.word == "SET" or any(
        tokens[before].upper == "SET" and tokens[before - 2].upper == "ON" for before in range(clause.body + 2, place)
    )


def _in_assignment(text: str, tokens: Sequence[Token], place: int, edits: Edits) -> None:
    close = matching(tokens, place)
    if close >= len(tokens) or tokens[place + 1].text in (".", "}"):
        return
    target = tokens[place - 2]
    if tokens[place - 3].text != ".":
        _rewrite(text, tokens, place, close + 1, edits)
        return
    variable = tokens[place - 4]
    try:
        entries = read_map(text, tokens, place, close + 1, f"{target.value}.")
    except Unreadable:
        return
    made = ", ".join(f"{variable.text}.{quoted(entry.name)} = {entry.value}" for entry in entries)
    edits.replace(variable.start, tokens[close].end, made)


def dotted_properties(text: str, names: Collection[str]) -> str:
    """Reads ``n.sales.y2021`` as the property of that name where there is one.

    Args:
        text: A statement.
        names: Names of properties that hold a dot.
    """
    if not names:
        return text
    tokens = tokenize(text)
    edits = Edits(text)
    for place in range(1, len(tokens) - 3):
        if (
            tokens[place].text != "."
            or tokens[place].kind != "symbol"
            or tokens[place - 1].kind not in ("word", "name")
        ):
            continue
        end = place + 1
        name = tokens[end].value
        while end + 2 < len(tokens) and tokens[end + 1].text == "." and name not in names:
            end += 2
            name += "." + tokens[end].value
        if end > place + 1 and name in names:
            edits.replace(tokens[place + 1].start, tokens[end].end, quoted(name))
    return edits.done()
