"""Splits a block into statements and a statement into clauses, subqueries included."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from kgot_neo4j.cypher.tokens import Token, matching

READING = frozenset({"MATCH", "OPTIONAL MATCH", "UNWIND", "CALL", "LOAD"})
UPDATING = frozenset({"CREATE", "MERGE", "SET", "DELETE", "REMOVE", "FOREACH"})
_STARTS = frozenset(
    {"MATCH", "OPTIONAL", "UNWIND", "CALL", "LOAD", "CREATE", "INSERT", "MERGE", "SET", "DELETE", "DETACH", "NODETACH",
     "REMOVE", "FOREACH", "WITH", "RETURN", "UNION", "USE", "FINISH"}
)  # fmt: skip
_SUBQUERY = frozenset({"EXISTS", "COUNT", "COLLECT", "CALL"})


@dataclass
class Clause:
    """A clause of a statement.

    Attributes:
        word: Its keyword; ``OPTIONAL MATCH`` and ``DELETE`` (also detached) are one, ``INSERT`` is ``CREATE``.
        first: Index of its first token.
        last: Index after its last token.
        body: Index of the token after the keyword.
        blocks: Clauses of the subqueries and loops in it.
    """

    word: str
    first: int
    last: int
    body: int
    blocks: list[list[Clause]] = field(default_factory=list)


def split_statements(tokens: Sequence[Token]) -> list[list[Token]]:
    """Splits at ``;`` outside brackets; empty statements are left out."""
    statements: list[list[Token]] = [[]]
    for token in tokens:
        if token.kind == "symbol" and token.text == ";":
            statements.append([])
        else:
            statements[-1].append(token)
    return [statement for statement in statements if statement]


def read_clauses(tokens: Sequence[Token], first: int = 0, last: int | None = None) -> list[Clause]:
    """Gives the clauses of a statement, or of a part of it."""
    stop = len(tokens) if last is None else last
    clauses: list[Clause] = []
    place = first
    while place < stop:
        token = tokens[place]
        if _starts(tokens, place, first):
            if clauses:
                clauses[-1].last = place
            word, body = _keyword(tokens, place, stop)
            clauses.append(Clause(word, place, stop, body))
            place = body
            if word == "FOREACH" and place < stop and tokens[place].text == "(":
                place = _loop(tokens, place, stop, clauses[-1])
            continue
        if token.text in ("(", "[", "{") and token.kind == "symbol":
            close = matching(tokens, place, stop)
            if clauses:
                inner = _subqueries(tokens, place, close, clauses[-1].word)
                clauses[-1].blocks += [read_clauses(tokens, start, end) for start, end in inner]
            place = close + 1
            continue
        place += 1
    return clauses


def every(clauses: Sequence[Clause]) -> Iterator[Clause]:
    """Gives the clauses and those inside them."""
    for clause in clauses:
        yield clause
        for block in clause.blocks:
            yield from every(block)


def _starts(tokens: Sequence[Token], place: int, first: int) -> bool:
    word = tokens[place].upper
    if word not in _STARTS:
        return False
    before = tokens[place - 1] if place > first else None
    after = tokens[place + 1].text if place + 1 < len(tokens) else ""
    if before is not None and (before.text in (".", ":", "|", "&", "!") or before.upper in ("AS", "ON")):
        return False
    if word == "WITH" and before is not None and before.upper in ("STARTS", "ENDS"):
        return False
    if word == "MATCH" and before is not None and before.upper == "OPTIONAL":
        return False
    if word == "SET" and _after_on(tokens, place, first):
        return False
    if word == "DELETE" and before is not None and before.upper in ("DETACH", "NODETACH"):
        return False
    # As a name: a variable, a function or a property.
    return after not in (".", "=", ":", ")") and not (after == "," and word != "RETURN")


def _after_on(tokens: Sequence[Token], place: int, first: int) -> bool:
    return place - 2 >= first and tokens[place - 2].upper == "ON" and tokens[place - 1].upper in ("CREATE", "MATCH")


def _keyword(tokens: Sequence[Token], place: int, stop: int) -> tuple[str, int]:
    word = tokens[place].upper
    after = tokens[place + 1].upper if place + 1 < stop else ""
    if word == "OPTIONAL" and after in ("MATCH", "CALL"):
        return ("OPTIONAL MATCH" if after == "MATCH" else "CALL"), place + 2
    if word in ("DETACH", "NODETACH"):
        return "DELETE", place + 2
    return ("CREATE" if word == "INSERT" else word), place + 1


def _loop(tokens: Sequence[Token], place: int, stop: int, clause: Clause) -> int:
    """Reads ``FOREACH (x IN list | clauses)`` and gives the index after it."""
    close = matching(tokens, place, stop)
    for bar in range(place, close):
        if tokens[bar].text == "|" and _depth(tokens, place, bar) == 1:
            clause.blocks.append(read_clauses(tokens, bar + 1, close))
            break
    return close + 1


def _depth(tokens: Sequence[Token], first: int, place: int) -> int:
    opened = sum(token.text in ("(", "[", "{") for token in tokens[first:place])
    return opened - sum(token.text in (")", "]", "}") for token in tokens[first:place])


def _subqueries(tokens: Sequence[Token], first: int, last: int, word: str) -> Iterator[tuple[int, int]]:
    """Finds ``EXISTS {…}`` and the like, also deep inside an expression, and the body of a ``CALL``."""
    place = first
    while place < last:
        if tokens[place].text == "{" and tokens[place].kind == "symbol":
            before = tokens[place - 1] if place else None
            called = before is not None and before.text == ")" and word == "CALL"
            if before is not None and (before.upper in _SUBQUERY or called):
                close = matching(tokens, place, last + 1)
                yield place + 1, close
                place = close
        place += 1
