"""Reads the patterns of MATCH, CREATE and MERGE: nodes, relationships and the parts of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from kgot_neo4j.cypher.clauses import Clause
from kgot_neo4j.cypher.tokens import Token, matching

_STOPS = frozenset({"WHERE", "ON", "USING", "SET", "RETURN", "ORDER"})


@dataclass
class Part:
    """A node or a relationship of a pattern; places are indexes of tokens.

    Attributes:
        first: Index of its first token, the bracket or the dash.
        last: Index after its last token.
        edge: It is a relationship.
        variable: Its variable, empty where it has none.
        names: First and last index of labels or types, after the colon; ``None`` where there are none.
        properties: Index of ``{`` and of the token after ``}``; ``None`` where there are none.
        plain: Nothing else stands in it: no WHERE, length or parameter.
    """

    first: int
    last: int = 0
    edge: bool = False
    variable: str = ""
    names: tuple[int, int] | None = None
    properties: tuple[int, int] | None = None
    plain: bool = True

    @property
    def bare(self) -> bool:
        """It has neither labels nor properties."""
        return self.names is None and self.properties is None and self.plain


@dataclass
class Path:
    """Nodes and relationships in turn.

    Attributes:
        first: Index of its first token.
        last: Index after its last token.
        variable: Variable of the path itself.
        parts: Node, relationship, node, ...
    """

    first: int
    last: int = 0
    variable: str = ""
    parts: list[Part] = field(default_factory=list)

    @property
    def nodes(self) -> list[Part]:
        """The nodes."""
        return self.parts[::2]


class Unreadable(ValueError):
    """A pattern of a form that is not read here; it is left as it is."""


def read_paths(tokens: Sequence[Token], clause: Clause) -> list[Path]:
    """Gives the paths of a clause.

    Raises:
        Unreadable: The pattern has a form that is not known here.
    """
    paths: list[Path] = []
    place = clause.body
    while True:
        path, place = _Reader(tokens, clause.last).path(place)
        paths.append(path)
        if place >= clause.last or tokens[place].upper in _STOPS:
            return paths
        if tokens[place].text != ",":
            raise Unreadable
        place += 1


def loose_nodes(tokens: Sequence[Token], clause: Clause) -> list[Part]:
    """Gives the nodes of a MATCH one by one, also where the whole pattern cannot be read."""
    nodes: list[Part] = []
    place = clause.body
    while place < clause.last and tokens[place].upper not in ("WHERE", "USING"):
        if tokens[place].text == "(":
            try:
                node = _Reader(tokens, clause.last).node(place)
            except Unreadable:
                place += 1
                continue
            nodes.append(node)
            place = node.last
        else:
            place += 1
    return nodes


class _Reader:
    def __init__(self, tokens: Sequence[Token], stop: int) -> None:
        self._tokens = tokens
        self._stop = stop

    def path(self, place: int) -> tuple[Path, int]:
        path = Path(place)
        if self._is_name(place) and self._text(place + 1) == "=":
            path.variable = self._tokens[place].value
            place += 2
        path.parts.append(self.node(place))
        place = path.parts[-1].last
        while self._text(place) in ("-", "<"):
            path.parts.append(self._edge(place))
            path.parts.append(self.node(path.parts[-1].last))
            place = path.parts[-1].last
        path.last = place
        return path, place

    def node(self, place: int) -> Part:
        if self._text(place) != "(":
            raise Unreadable
        part = Part(place)
        part.last = self._inside(part, place + 1, ")") + 1
        return part

    def _edge(self, place: int) -> Part:
        part = Part(place, edge=True)
        if self._text(place) == "<":
            place += 1
        if self._text(place) != "-":
            raise Unreadable
        place += 1
        if self._text(place) == "[":
            place = self._inside(part, place + 1, "]") + 1
        if self._text(place) != "-":
            raise Unreadable
        place += 1
        if self._text(place) == ">":
            place += 1
        part.last = place
        return part

    def _inside(self, part: Part, place: int, close: str) -> int:
        if self._is_name(place) and self._upper(place) != "WHERE":
            part.variable = self._tokens[place].value
            place += 1
        if self._text(place) == ":":
            first = place = place + 1
            while self._text(place) not in ("", close, "{", "*") and not self._odd(place):
                place = self._closed(place) if self._text(place) == "(" else place + 1
            part.names = (first, place)
        if self._text(place) == "{":
            end = self._closed(place)
            part.properties = (place, end)
            place = end
        if self._text(place) == close:
            return place
        if self._text(place) == "*" or self._odd(place):
            part.plain = False
            while self._text(place) not in ("", close):
                place = self._closed(place) if self._text(place) in ("(", "[", "{") else place + 1
            if self._text(place) == close:
                return place
        raise Unreadable

    def _odd(self, place: int) -> bool:
        return self._upper(place) == "WHERE" or self._tokens[place].kind == "parameter"

    def _closed(self, place: int) -> int:
        end = matching(self._tokens, place, self._stop)
        if end >= self._stop:
            raise Unreadable
        return end + 1

    def _is_name(self, place: int) -> bool:
        return place < self._stop and self._tokens[place].kind in ("word", "name")

    def _upper(self, place: int) -> str:
        return self._tokens[place].upper if place < self._stop else ""

    def _text(self, place: int) -> str:
        if place >= self._stop:
            return ""
        token = self._tokens[place]
        # A string that holds a bracket is not one.
        return token.text if token.kind != "string" else "''"
