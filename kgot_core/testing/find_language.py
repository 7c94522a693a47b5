"""The small query language of the backend in memory: ``FIND ?name ?name`` above lines that must all hold.

A line is a node ``(Label: name)``, a property ``(Label: name) key = value`` or an edge
``(Label: name) -[TYPE]-> (Label: name)``. The label may be left out; a name, a value or a type may be ``?variable``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from kgot_core.contracts.backend import Row
from kgot_core.errors import QueryError
from kgot_core.graph.elements import Edge, Node
from kgot_core.graph.facts.index import node_names
from kgot_core.graph.fold import TaskGraph
from kgot_core.graph.values import JsonValue, Value, plain_text

_HEAD = re.compile(r"FIND((?:\s+\?\w+)+)\s*", re.IGNORECASE)
_NODE = r"\(\s*(?:(?P<{0}label>[^:?()]+?)\s*:)?\s*(?P<{0}name>\?\w+|[^()]+?)\s*\)"
_LINE = re.compile(
    _NODE.format("a")
    + r"(?:\s*-\[\s*(?P<type>\?\w+|[^\]]+?)\s*\]->\s*"
    + _NODE.format("b")
    + r"|\s+(?P<key>\w[\w ]*?)\s*=\s*(?P<value>\?\w+|.+?))?\s*"
)

Bound: TypeAlias = Mapping[str, Node | Value]


@dataclass(frozen=True)
class Pattern:
    """One line of a query; its node or nodes are pairs of label and name."""

    source: tuple[str, str]
    target: tuple[str, str] | None = None
    type: str = ""
    key: str = ""
    value: str = ""

    def names(self) -> Iterator[str]:
        """Gives the names that may be variables."""
        yield from (self.source[1], self.type, self.value, *(self.target[1:] if self.target else ()))


@dataclass(frozen=True)
class Query:
    """A query: the variables that are wanted, and the lines."""

    wanted: tuple[str, ...]
    patterns: tuple[Pattern, ...]


def read_query(text: str) -> Query:
    """Reads a query.

    Raises:
        QueryError: It is none; the error tells the line.
    """
    lines = [(number, line.strip()) for number, line in enumerate(text.splitlines(), 1) if line.strip()]
    head = _HEAD.fullmatch(lines[0][1]) if lines else None
    if head is None:
        raise QueryError("a query begins with FIND and the variables that are wanted, as in: FIND ?city", 1)
    patterns = []
    for number, line in lines[1:]:
        found = _LINE.fullmatch(line)
        if found is None:
            raise QueryError(f"neither a node, a property nor an edge: {line[:80]}", number)
        target = (found["blabel"] or "", found["bname"]) if found["bname"] else None
        source = (found["alabel"] or "", found["aname"])
        patterns.append(Pattern(source, target, found["type"] or "", found["key"] or "", found["value"] or ""))
    known = {name for pattern in patterns for name in pattern.names() if name.startswith("?")}
    wanted = tuple(head[1].split())
    if missing := [name for name in wanted if name not in known]:
        raise QueryError(f"no line has the variable {missing[0]}", 1)
    return Query(wanted, tuple(patterns))


def run_query(query: Query, graph: TaskGraph, rows: int, step: Callable[[], None]) -> list[Row]:
    """Gives the rows of a query, each once, in the order of the graph.

    Args:
        query: The query.
        graph: The graph.
        rows: Most rows.
        step: Called again and again; ends the query by raising.
    """
    found: dict[str, Row] = {}
    for bound in _solutions(query.patterns, {}, graph, step):
        row = {name[1:]: _shown(bound[name]) for name in query.wanted}
        found.setdefault(json.dumps(row), row)
        if len(found) == rows:
            break
    return list(found.values())


def _solutions(
    patterns: tuple[Pattern, ...], bound: Bound, graph: TaskGraph, step: Callable[[], None]
) -> Iterator[Bound]:
    step()
    if not patterns:
        yield bound
        return
    for further in _matches(patterns[0], bound, graph):
        yield from _solutions(patterns[1:], further, graph, step)


def _matches(pattern: Pattern, bound: Bound, graph: TaskGraph) -> Iterator[Bound]:
    if pattern.target is not None:
        for edge in graph.edges:
            yield from _edge_matches(pattern, pattern.target, edge, bound, graph)
        return
    for node in graph.nodes:
        here = _bind_node(pattern.source, node, bound)
        if here is not None and pattern.key:
            here = _bind(pattern.value, node.properties[pattern.key], here) if pattern.key in node.properties else None
        if here is not None:
            yield here


def _edge_matches(
    pattern: Pattern, target: tuple[str, str], edge: Edge, bound: Bound, graph: TaskGraph
) -> Iterator[Bound]:
    here: Bound | None = _bind(pattern.type, edge.type, bound)
    for end, node_id in ((pattern.source, edge.source), (target, edge.target)):
        node = graph.node(node_id)
        here = _bind_node(end, node, here) if here is not None and node is not None else None
    if here is not None:
        yield here


def _bind_node(wanted: tuple[str, str], node: Node, bound: Bound) -> Bound | None:
    label, name = wanted
    if label and label not in node.labels:
        return None
    if not name.startswith("?"):
        return bound if name in node_names(node) else None
    if name in bound:
        known = bound[name]
        return bound if isinstance(known, Node) and known.id == node.id else None
    return {**bound, name: node}


def _bind(wanted: str, value: Value, bound: Bound) -> Bound | None:
    if not wanted.startswith("?"):
        return bound if wanted.strip('"') == plain_text(value) else None
    if wanted in bound:
        known = bound[wanted]
        return bound if not isinstance(known, Node) and plain_text(known) == plain_text(value) else None
    return {**bound, wanted: value}


def _shown(value: Node | Value) -> JsonValue:
    if isinstance(value, Node):
        return next(iter(node_names(value)), "")
    if isinstance(value, tuple):
        return [_shown(item) for item in value]
    if isinstance(value, bool | int | str):
        return value
    # NaN and infinity are no JSON numbers.
    return value if isinstance(value, float) and abs(value) < float("inf") else plain_text(value)
