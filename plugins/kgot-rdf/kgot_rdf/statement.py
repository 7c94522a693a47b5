"""Reads a model's statement: what it is, what may not be in it, and what is sent to an engine in its place."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NoReturn, TypeAlias

from kgot_rdf.names import PREFIXES
from kgot_rdf.suspicion import refuse_hidden
from kgot_rdf.text import Built, Piece, place
from kgot_rdf.tokens import Token, tokenize

from kgot_core.errors import QueryError

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
        while (token := parts.here) is not None:
            if token.text == ";":
                parts.index += 1
                parts.prologue()
                continue
            operations.append(self._operation(parts))
            parts.prologue()
        if not operations:
            parts.fail("the statement is empty; write INSERT or DELETE")
        return Update(tuple(operations), parts.own)

    def _parts(self, source: str) -> _Parts:
        if len(source) > self._limit:
            raise QueryError(f"the statement has {len(source):,} characters, more than the {self._limit:,} that are run")
        return _Parts(source, tokenize(source), dict(self._known), self._namespace)

    def _screen(self, source: str, tokens: Sequence[Token]) -> None:
        for token in tokens:
            if token.kind == "word" and token.word in _REFUSED:
                raise QueryError(_REFUSED[token.word], *place(source, token.start))
            if token.text == "<<":
                raise QueryError("<< is not allowed: use rdf:subject, rdf:predicate, rdf:object", *place(source, token.start))

    def _operation(self, parts: _Parts) -> Operation:
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

    def _clear(self, parts: _Parts, word: str) -> Operation:
        parts.index += 1
        if parts.word == "SILENT":
            parts.index += 1
        if parts.word not in ("DEFAULT", "ALL"):
            parts.fail(f"{word} of another graph is not allowed: {_ONE_GRAPH}")
        if parts.word == "ALL":
            parts.fail(f"{word} ALL is not allowed; {word} DEFAULT empties the task's graph")
        parts.index += 1
        return Operation("clear")

    def _insert_or_delete(self, parts: _Parts, word: str) -> Operation:
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
        for token in delete:
            if token.kind == "blank" or token.text == "[":
                raise QueryError("DELETE cannot name a blank node; use a variable", *place(parts.source, token.start))
        return Operation(
            "modify",
            delete=parts.construct(delete, where) if delete else None,
            insert=parts.construct(insert, where) if insert else None,
        )


def _data(parts: _Parts, word: str, block: Sequence[Token]) -> Operation:
    inner = block[1:-1]
    pieces = [*parts.slice(inner)]
    if inner and inner[-1].text != ".":
        pieces.append(Piece(" ."))
    if word == "DELETE" and (blank := next((t for t in inner if t.kind == "blank" or t.text == "["), None)):
        raise QueryError("DELETE DATA cannot name a blank node; use its name", *place(parts.source, blank.start))
    return Operation("insert data" if word == "INSERT" else "delete data", data=parts.build(pieces))


class _Parts:
    """A statement's tokens and where the reader stands."""

    def __init__(self, source: str, tokens: list[Token], known: dict[str, str], namespace: str) -> None:
        self.source = source
        self.tokens = tokens
        self.index = 0
        self.own: dict[str, str] = {}
        self._known = known
        self._base = namespace
        self._namespace = namespace

    @property
    def here(self) -> Token | None:
        return self.tokens[self.index] if self.index < len(self.tokens) else None

    @property
    def word(self) -> str:
        return self.here.word if self.here else ""

    def fail(self, message: str) -> NoReturn:
        at = self.here.start if self.here else len(self.source.rstrip())
        raise QueryError(message, *place(self.source, at))

    def prologue(self) -> None:
        """Takes declarations in, also in the style of Turtle."""
        while self.here is not None and (self.word in ("PREFIX", "BASE") or self.here.text.lower() in ("@prefix", "@base")):
            turtle = self.here.kind == "at"
            prefix = self.here.text.lower().endswith("prefix")
            self.index += 1
            name = self._take("name", "a prefix such as ex:").text if prefix else ""
            address = self._take("iri", "an address such as <http://example.org/>").text[1:-1]
            if prefix:
                self._declare(name[:-1] if name.endswith(":") else name, address)
            else:
                self._base = address
            if turtle and self.here is not None and self.here.text == ".":
                self.index += 1

    def _declare(self, prefix: str, address: str) -> None:
        # The state shows names with `:`, so that is what the model means, whatever it declares.
        if prefix:
            self.own[prefix] = self._known[prefix] = address

    def _take(self, kind: str, wanted: str) -> Token:
        if self.here is None or self.here.kind != kind:
            self.fail(f"{wanted} is expected here")
        self.index += 1
        return self.tokens[self.index - 1]

    def block(self) -> Sequence[Token]:
        """Takes a block in braces."""
        if self.here is None or self.here.text != "{":
            self.fail("{ is expected here")
        begin, depth = self.index, self.here.depth
        while not (self.tokens[self.index].text == "}" and self.tokens[self.index].depth == depth):
            self.index += 1
        self.index += 1
        return self.tokens[begin : self.index]

    def slice(self, tokens: Sequence[Token]) -> list[Piece]:
        """Gives tokens as pieces of the statement; mended ones in their new form."""
        pieces: list[Piece] = []
        if not tokens:
            return pieces
        begin = tokens[0].start
        for token in tokens:
            if len(token.text) == token.end - token.start and self.source.startswith(token.text, token.start):
                continue
            pieces += [Piece(self.source[begin : token.start], begin), Piece(token.text, token.start)]
            begin = token.end
        return [*pieces, Piece(self.source[begin : tokens[-1].end], begin)]

    def construct(self, template: Sequence[Token], where: Sequence[Token]) -> Built:
        """Makes the query that gives a template's triples."""
        middle = [Piece("CONSTRUCT "), *self.slice(template), Piece(" WHERE "), *self.slice(where)]
        return self.build(middle, [*template, *where])

    def build(self, pieces: Sequence[Piece], tokens: Sequence[Token] | None = None) -> Built:
        """Puts the declarations of the prefixes in front that the rest uses."""
        used: dict[str, str] = {}
        for token in self.tokens if tokens is None else tokens:
            if token.kind == "name":
                self._use(token, used)
        head = "".join(f"PREFIX {prefix}: <{address}>\n" for prefix, address in used.items())
        return Built(self.source, [Piece(f"BASE <{self._base}>\n{head}"), *pieces])

    def _use(self, token: Token, used: dict[str, str]) -> None:
        prefix = token.text.partition(":")[0]
        if prefix in used:
            return
        address = self._known.get(prefix)
        if address is None:
            declares = f"PREFIX {prefix}: <...>"
            raise QueryError(
                f"the prefix {prefix}: is not declared; write {declares} in front, or use :{token.text.partition(':')[2]}",
                *place(self.source, token.start),
            )
        used[prefix] = address


def check_hidden(source: str, built: Built) -> None:
    """Asks a full parser where the words SERVICE or LOAD stand anywhere outside of what the tokens show."""
    if re.search("service|load", source, re.IGNORECASE):
        refuse_hidden(built.text)
