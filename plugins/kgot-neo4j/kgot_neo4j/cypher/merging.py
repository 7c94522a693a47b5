"""Writes CREATE and MERGE so that what is there already is found again: one node for each label and name."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

from kgot_neo4j.cypher.binding import bind
from kgot_neo4j.cypher.clauses import READING, UPDATING, Clause, every, read_clauses
from kgot_neo4j.cypher.maps import Entry, read_map
from kgot_neo4j.cypher.patterns import Part, Path, Unreadable, read_paths
from kgot_neo4j.cypher.tokens import Edits, Token, quoted, tokenize

KEY = "name"


def merge_known(text: str) -> str:
    """Turns CREATE into MERGE where that is safe, and long MERGE patterns into one for each node and relationship.

    A node with a label and a ``name`` is known by these two; its further properties are set. A node with a label and
    other properties is known by all of them, a relationship by its ends, its type and its properties. What has no
    label, or a label without properties, is left as it is written.
    """
    tokens = tokenize(text)
    edits = Edits(text)
    numbers = itertools.count(1)
    for clause in every(read_clauses(tokens)):
        if clause.word in ("CREATE", "MERGE"):
            try:
                made = _Rewriting(text, tokens, clause, numbers).text()
            except Unreadable:
                continue
            if made:
                last = _pattern_end(tokens, clause)
                edits.replace(tokens[clause.first].start, tokens[last - 1].end, made)
    return edits.done()


def _pattern_end(tokens: Sequence[Token], clause: Clause) -> int:
    return read_paths(tokens, clause)[-1].last


class _Rewriting:
    def __init__(self, text: str, tokens: Sequence[Token], clause: Clause, numbers: Iterator[int]) -> None:
        self._text = text
        self._tokens = tokens
        self._clause = clause
        self._numbers = numbers
        self._paths = read_paths(tokens, clause)
        # What ON CREATE and ON MATCH say stays with the pattern that they followed.
        self._followed = self._paths[-1].last < clause.last

    def text(self) -> str:
        """Gives the new clauses, empty where the old one is right."""
        if any(path.variable for path in self._paths) or any(
            not part.plain for path in self._paths for part in path.parts
        ):
            return ""
        pieces = [piece for path in self._paths for piece in self._path(path)]
        if self._followed and len(pieces) > 1 and pieces[-1].startswith("SET "):
            # ON CREATE must follow its MERGE: what is set comes after it.
            return ""
        made = "\n".join(pieces)
        return "" if made == self._written(self._clause.first, self._paths[-1].last) else made

    def _path(self, path: Path) -> Iterator[str]:
        single = len(path.parts) == 1
        names: list[str] = []
        for node in path.nodes:
            if node.bare:
                names.append(self._written(node.first, node.last))
                if single:
                    yield f"{self._clause.word} {names[-1]}"
                continue
            entries = self._entries(node)
            if node.names is None or not entries:
                names.append(self._written(node.first, node.last))
                if single:
                    yield f"{self._clause.word} {names[-1]}"
                continue
            variable = quoted(node.variable) if node.variable else f"kgot_{next(self._numbers)}"
            names.append(f"({variable})")
            yield from self._node(node, variable if node.variable or not single else "", entries)
        for number, edge in enumerate(path.parts[1::2]):
            left, right = names[number], names[number + 1]
            if number and not left.startswith("()") and ":" in left:
                # A node without properties between two relationships stays in one pattern.
                raise Unreadable
            verb = self._verb(left, right)
            yield f"{verb} {left}{self._written(edge.first, edge.last)}{right}"

    def _verb(self, left: str, right: str) -> str:
        """A relationship between known nodes is merged; one that makes a node as well is left as it is."""
        described = any(mark in end for end in (left, right) for mark in (":", "{")) or "()" in (left, right)
        return self._clause.word if described else "MERGE"

    def _node(self, node: Part, variable: str, entries: list[Entry]) -> Iterator[str]:
        assert node.names is not None
        labels = self._written(*node.names)
        key = [entry for entry in entries if entry.name == KEY and entry.value.lower() != "null"]
        rest = [entry for entry in entries if entry.name != KEY] if key else []
        if rest and not variable:
            variable = f"kgot_{next(self._numbers)}"
        shown = ", ".join(map(str, key or entries))
        yield f"MERGE ({variable}:{labels} {{{shown}}})"
        if rest:
            yield f"SET {variable} += {{{', '.join(map(str, rest))}}}"

    def _entries(self, node: Part) -> list[Entry]:
        return read_map(self._text, self._tokens, *node.properties) if node.properties else []

    def _written(self, first: int, last: int) -> str:
        return self._text[self._tokens[first].start : self._tokens[last - 1].end]


def return_places(text: str) -> tuple[str, bool]:
    """Makes a statement tell where the nodes and relationships are that it makes.

    What it returned before is left out: a write is not asked for rows.

    Returns:
        The statement, and whether it tells: one row holds a list of places of nodes and one of relationships.
    """
    tokens = tokenize(text)
    clauses = read_clauses(tokens)
    if any(clause.word in ("UNION", "FINISH") for clause in clauses) or not clauses:
        return text, False
    last = clauses[-1]
    edits = Edits(text)
    if last.word == "RETURN":
        edits.replace(tokens[last.first].start, len(text), "")
        clauses = clauses[:-1]
    if not clauses or clauses[-1].word not in UPDATING:
        return text, False
    numbers = itertools.count(1)
    nodes: dict[str, None] = {}
    edges: dict[str, None] = {}
    for clause in clauses:
        if clause.word in ("CREATE", "MERGE"):
            try:
                parts = [part for path in read_paths(tokens, clause) for part in path.parts]
            except Unreadable:
                continue
            for part in parts:
                (edges if part.edge else nodes)[_variable(tokens, part, numbers, edits)] = None
    scope = bind(tokens, clauses).scope
    shown = [
        ", ".join(f"elementId({quoted(name)})" for name in names if name.startswith("kgot_made_") or name in scope)
        for names in (nodes, edges)
    ]
    if any(name.startswith("kgot_made_") for name in (*nodes, *edges)) and any(
        clause.word in ("WITH", "CALL") for clause in clauses
    ):
        return text, False
    if not any(shown):
        return text, False
    return f"{edits.done().rstrip()}\nRETURN DISTINCT [{shown[0]}], [{shown[1]}]", True


def _variable(tokens: Sequence[Token], part: Part, numbers: Iterator[int], edits: Edits) -> str:
    """Gives a part's variable; one without gets one."""
    if part.variable:
        return part.variable
    bracket = next((place for place in range(part.first, part.last) if tokens[place].text in ("(", "[")), None)
    if bracket is None:
        raise Unreadable
    name = f"kgot_made_{next(numbers)}"
    edits.replace(tokens[bracket].end, tokens[bracket].end, name)
    return name


def add_with(text: str) -> str:
    """Puts ``WITH *`` between a clause that writes and one that reads, which Cypher asks for."""
    tokens = tokenize(text)
    clauses = read_clauses(tokens)
    needed = [
        clause for before, clause in itertools.pairwise(clauses) if before.word in UPDATING and clause.word in READING
    ]
    if not needed:
        return text
    edits = Edits(text)
    before = bind(tokens, clauses).before
    for clause in needed:
        start = tokens[clause.first].start
        edits.replace(start, start, "WITH * " if before[clause.first] else "WITH DISTINCT 1 AS kgot_row ")
    return edits.done()
