"""Names in patterns: backticks where they lack them, and nodes of the bookkeeping kept out of sight."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kgot_neo4j.cypher.clauses import Clause, every, read_clauses
from kgot_neo4j.cypher.patterns import Part, Unreadable, loose_nodes, read_paths
from kgot_neo4j.cypher.tokens import Edits, Token, quoted, tokenize

RESERVED = "_KGOT"
_PATTERNS = frozenset({"MATCH", "OPTIONAL MATCH", "CREATE", "MERGE"})
_SEPARATORS = frozenset({":", "|", "&", "!", "(", ")", "%"})
_IN_NAMES = frozenset({"-", "/", ".", "+", "'", "#"})


def quote_names(text: str) -> str:
    """Puts labels and types that hold spaces, hyphens or slashes into backticks, spelled as they are written."""
    tokens = tokenize(text)
    edits = Edits(text)
    for clause in every(read_clauses(tokens)):
        if clause.word in _PATTERNS:
            for part in _parts(tokens, clause):
                if part.names is not None:
                    for first, last in _pieces(tokens, *part.names):
                        _quote(text, tokens[first:last], edits)
    return edits.done()


def _parts(tokens: Sequence[Token], clause: Clause) -> list[Part]:
    try:
        return [part for path in read_paths(tokens, clause) for part in path.parts]
    except Unreadable:
        return loose_nodes(tokens, clause)


def _pieces(tokens: Sequence[Token], first: int, last: int) -> Iterator[tuple[int, int]]:
    begin = first
    for place in range(first, last):
        if tokens[place].kind == "symbol" and tokens[place].text in _SEPARATORS:
            if place > begin:
                yield begin, place
            begin = place + 1
    if last > begin:
        yield begin, last


def _quote(text: str, tokens: Sequence[Token], edits: Edits) -> None:
    if len(tokens) == 1 and tokens[0].kind in ("word", "name"):
        return
    if all(token.kind in ("word", "number") or token.text in _IN_NAMES for token in tokens):
        written = " ".join(text[tokens[0].start : tokens[-1].end].split())
        edits.replace(tokens[0].start, tokens[-1].end, quoted(written))


def hide_bookkeeping(text: str) -> str:
    """Keeps nodes without a label in MATCH from meaning the bookkeeping, which stands in no relationship."""
    tokens = tokenize(text)
    edits = Edits(text)
    for clause in every(read_clauses(tokens)):
        if clause.word not in ("MATCH", "OPTIONAL MATCH"):
            continue
        for node in loose_nodes(tokens, clause):
            if node.names is None:
                after = node.first + (2 if node.variable else 1)
                place = tokens[after - 1].end
                edits.replace(place, place, f":!{RESERVED}")
            elif any(tokens[place].text == "!" for place in range(*node.names)):
                first, last = tokens[node.names[0]].start, tokens[node.names[1] - 1].end
                edits.replace(first, last, f"({text[first:last]})&!{RESERVED}")
    return edits.done()


def names_reserved(tokens: Sequence[Token]) -> bool:
    """Tells whether a statement names the bookkeeping."""
    return any(token.kind in ("word", "name") and token.value.upper().startswith(RESERVED) for token in tokens)
