"""Reads a model's statement: what it is, what may not be in it, and what is sent to an engine in its place."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from kgot_core.errors import QueryError
from kgot_rdf.names import PREFIXES
from kgot_rdf.parts import Parts
from kgot_rdf.scoping import check_blank_nodes, check_variables
from kgot_rdf.suspicion import refuse_hidden
from kgot_rdf.text import Built, Piece, place
from kgot_rdf.tokens import Token, tokenize
from kgot_rdf.triple_terms import triple_term

Form: TypeAlias = Literal["SELECT", "ASK", "CONSTRUCT", "DESCRIBE"]

QUERIES = ("SELECT", "ASK", "CONSTRUCT", "DESCRIBE")
UPDATES = ("INSERT", "DELETE", "WITH", "LOAD", "CLEAR", "DROP", "CREATE", "COPY", "MOVE", "ADD")
_ONE_GRAPH = "there is one graph only and it is always meant: write the triples without it"
_REFUSED = {
    "SERVICE": "SERVICE is not allowed: only the task's graph may be asked",
    "LOAD": "LOAD is not allowed: write what the result says as triples",
    **{word: f"{word} is not allowed: {_ONE_GRAPH}" for word in ("GRAPH", "FROM", "USING", "WITH")},
}
_MANAGEMENT = ("CREATE", "COPY", "MOVE", "ADD")


@dataclass(frozen=True)
class Query:
    """A reading statement; ``ordered`` where the store's order of rows counts."""

    form: Form
    built: Built
    ordered: bool


@dataclass(frozen=True)
class Operation:
    """One operation of a write.

    ``data`` is Turtle; ``delete`` and ``insert`` are CONSTRUCT queries that give the triples of the templates.
    """

    kind: Literal["insert data", "delete data", "modify", "clear"]
    data: Built | None = None
    delete: Built | None = None
    insert: Built | None = None


@dataclass(frozen=True)
class Update:
    """A writing statement, with the prefixes that it declares."""

    operations: tuple[Operation, ...]
    declared: Mapping[str, str] = field(default_factory=dict)


class Reader:
    """Reads statements.

    Args:
        namespace: What ``:`` stands for, also where a statement declares it anew.
        limit: Longest statement, in characters.
    """

    def __init__(self, namespace: str, limit: int) -> None:
        self._namespace = namespace
        self._limit = limit
        self._known: dict[str, str] = {"": namespace, **PREFIXES}

    def learn(self, declared: Mapping[str, str]) -> None:
        """Supplies prefixes that the model has declared once also where it leaves them out later."""
        self._known = {**declared, **self._known}

    def query(self, source: str) -> Query:
        """Reads a reading statement.

        Raises:
            QueryError: It writes, reaches outside of the graph, or cannot be read; with the position.
        """
        parts = self._parts(source)
        parts.prologue()
        token = parts.here
        if token is None:
            parts.fail("the query is empty; write SELECT, ASK, CONSTRUCT or DESCRIBE")
        if token.word in UPDATES:
            parts.fail(f"{token.word} writes; a query may only read, and nothing was changed")
        if token.word not in QUERIES:
            parts.fail(f"a query begins with SELECT, ASK, CONSTRUCT or DESCRIBE, not with {token.text}")
        body = parts.tokens[parts.index :]
        self._screen(source, body)
        built = parts.build([*parts.slice(body)])
        return Query(token.word, built, any(item.word == "ORDER" for item in body))  # type: ignore[arg-type]

    def update(self, source: str) -> Update:
        """Reads a writing statement, one or several operations.

        Raises:
            QueryError: It does not write, reaches outside of the graph, or cannot be read; with the position.
        """
        parts = self._parts(source)
        parts.prologue()
        operations: list[Operation] = []
        tokens: list[Sequence[Token]] = []
        while (token := parts.here) is not None:
            if token.text == ";":
                parts.index += 1
                parts.prologue()
                continue
            begin = parts.index
            operations.append(self._operation(parts))
            tokens.append(parts.tokens[begin : parts.index])
            parts.prologue()
        if not operations:
            parts.fail("the statement is empty; write INSERT or DELETE")
        check_blank_nodes(source, tokens)
        return Update(tuple(operations), parts.own)

    def _parts(self, source: str) -> Parts:
        if len(source) > self._limit:
            raise QueryError(
                f"the statement has {len(source):,} characters, more than the {self._limit:,} that are run"
            )
        return Parts(source, tokenize(source), dict(self._known), self._namespace)

    def _screen(self, source: str, tokens: Sequence[Token]) -> None:
        for token in tokens:
            if token.kind == "word" and token.word in _REFUSED:
                raise QueryError(_REFUSED[token.word], *place(source, token.start))
        if (found := triple_term(tokens)) is not None:
            raise QueryError(found[1], *place(source, found[0].start))

    def _operation(self, parts: Parts) -> Operation:
        word = parts.tokens[parts.index].word
        if word in QUERIES:
            parts.fail(f"{word} only reads, and nothing was written; a write begins with INSERT or DELETE")
        if word in _REFUSED:
            parts.fail(_REFUSED[word])
        if word in ("CLEAR", "DROP"):
            return self._clear(parts, word)
        if word in _MANAGEMENT:
            parts.fail(f"{word} is not allowed: {_ONE_GRAPH}")
        if word not in ("INSERT", "DELETE"):
            parts.fail(f"a write begins with INSERT or DELETE, not with {parts.tokens[parts.index].text}")
        begin = parts.index
        operation = self._insert_or_delete(parts, word)
        self._screen(parts.source, parts.tokens[begin : parts.index])
        return operation

    def _clear(self, parts: Parts, word: str) -> Operation:
        parts.index += 1
        if parts.word == "SILENT":
            parts.index += 1
        if parts.word not in ("DEFAULT", "ALL"):
            parts.fail(f"{word} of another graph is not allowed: {_ONE_GRAPH}")
        if parts.word == "ALL":
            parts.fail(f"{word} ALL is not allowed; {word} DEFAULT empties the task's graph")
        parts.index += 1
        return Operation("clear")

    def _insert_or_delete(self, parts: Parts, word: str) -> Operation:
        parts.index += 1
        if parts.word == "DATA":
            parts.index += 1
            return _data(parts, word, parts.block())
        if word == "DELETE" and parts.word == "WHERE":
            parts.index += 1
            pattern = parts.block()
            return Operation("modify", delete=parts.construct(pattern, pattern))
        first = parts.block()
        second: Sequence[Token] = ()
        if word == "DELETE" and parts.word == "INSERT":
            parts.index += 1
            second = parts.block()
        if parts.word in _REFUSED:
            parts.fail(_REFUSED[parts.word])
        if parts.word != "WHERE" and (parts.here is None or parts.here.text != "{"):
            if not second and not any(token.kind == "var" for token in first):
                return _data(parts, word, first)
            parts.fail(f"WHERE {{ }} is missing: it binds the variables of {word} {{ }}")
        if parts.word == "WHERE":
            parts.index += 1
        where = parts.block()
        delete, insert = (first, second) if word == "DELETE" else ((), first)
        check_variables(parts.source, (*delete, *insert), where)
        for token in delete:
            if token.kind == "blank" or token.text == "[":
                raise QueryError("DELETE cannot name a blank node; use a variable", *place(parts.source, token.start))
        return Operation(
            "modify",
            delete=parts.construct(delete, where) if delete else None,
            insert=parts.construct(insert, where) if insert else None,
        )


def _data(parts: Parts, word: str, block: Sequence[Token]) -> Operation:
    inner = block[1:-1]
    pieces = [*parts.slice(inner)]
    if inner and inner[-1].text != ".":
        pieces.append(Piece(" ."))
    if word == "DELETE" and (blank := next((t for t in inner if t.kind == "blank" or t.text == "["), None)):
        raise QueryError("DELETE DATA cannot name a blank node; use its name", *place(parts.source, blank.start))
    return Operation("insert data" if word == "INSERT" else "delete data", data=parts.build(pieces))


def check_hidden(source: str, built: Built) -> None:
    """Asks a full parser where the words SERVICE or LOAD stand anywhere outside of what the tokens show."""
    if re.search("service|load", source, re.IGNORECASE):
        refuse_hidden(built.text)
