"""A statement cut into parts: declarations, blocks, and the texts that are made of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

from kgot_core.errors import QueryError
from kgot_rdf.text import Built, Piece, place
from kgot_rdf.tokens import Token


class Parts:
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
        """The next token."""
        return self.tokens[self.index] if self.index < len(self.tokens) else None

    @property
    def word(self) -> str:
        """The next token as a keyword in capitals."""
        return self.here.word if self.here else ""

    def fail(self, message: str) -> NoReturn:
        """Raises a QueryError with the place of the next token."""
        at = self.here.start if self.here else len(self.source.rstrip())
        raise QueryError(message, *place(self.source, at))

    def prologue(self) -> None:
        """Takes declarations in, also in the style of Turtle."""
        while self.here is not None and (
            self.word in ("PREFIX", "BASE") or self.here.text.lower() in ("@prefix", "@base")
        ):
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
            declares, local = f"PREFIX {prefix}: <...>", token.text.partition(":")[2]
            raise QueryError(
                f"the prefix {prefix}: is not declared; write {declares} in front, or use :{local}",
                *place(self.source, token.start),
            )
        used[prefix] = address
