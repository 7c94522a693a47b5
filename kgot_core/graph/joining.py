"""Takes a whole graph into another one: what both hold becomes one element."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace

from kgot_core.graph.elements import Edge, Element, GraphChange, GraphSnapshot, Node
from kgot_core.graph.facts.index import NAME_PROPERTIES
from kgot_core.graph.facts.names import same_name
from kgot_core.graph.fold import TaskGraph
from kgot_core.graph.values import encode_properties, plain_text, same_properties


def join(given: GraphSnapshot, graph: TaskGraph, new_id: Callable[[str], str]) -> GraphChange:
    """Finds the change that takes a given graph in. Neither graph is touched.

    A node is one that is there already where both have the same key, or the same name, and share a label (or neither
    has one); without key and name all properties must agree. It takes the given labels and properties in, and where
    values differ the given ones hold. An edge is there already where ends, type and properties agree. All else is
    added, with its own id where that is free.

    Args:
        given: The graph that is taken in.
        graph: The graph as it is.
        new_id: Makes a new id from ``"n"`` for a node or ``"e"`` for an edge.
    """
    return _Joining(graph, new_id).join(given)


class _Joining:
    def __init__(self, graph: TaskGraph, new_id: Callable[[str], str]) -> None:
        self._graph = graph
        self._new_id = new_id
        self._ids: dict[str, str] = {}
        self._taken: set[str] = set()
        self._between: dict[tuple[str, str, str], list[Edge]] = {}
        for edge in graph.edges:
            self._between.setdefault((edge.type, edge.source, edge.target), []).append(edge)

    def join(self, given: GraphSnapshot) -> GraphChange:
        added: list[Element] = []
        changed: list[Element] = []
        self._taken = {element.id for element in (*self._graph, *given.elements())}
        there = _pairs(given.nodes, self._graph.nodes)
        for node in given.nodes:
            old = there.get(node.id)
            if old is None:
                self._ids[node.id] = self._free(node.id, "n")
                added.append(replace(node, id=self._ids[node.id]))
                continue
            self._ids[node.id] = old.id
            labels = tuple(dict.fromkeys((*old.labels, *node.labels)))
            new = replace(old, labels=labels, properties={**old.properties, **node.properties})
            if not new.same_as(old):
                changed.append(new)
        for edge in given.edges:
            ends = self._ids.get(edge.source, edge.source), self._ids.get(edge.target, edge.target)
            if not self._has(edge, *ends):
                added.append(replace(edge, id=self._free(edge.id, "e"), source=ends[0], target=ends[1]))
        return GraphChange(tuple(added), tuple(changed))

    def _has(self, edge: Edge, source: str, target: str) -> bool:
        old = self._between.get((edge.type, source, target), [])
        same = next((one for one in old if same_properties(one.properties, edge.properties)), None)
        if same is not None:
            old.remove(same)
        return same is not None

    def _free(self, element_id: str, kind: str) -> str:
        """Gives an id of its own to an element whose id another one has."""
        if self._graph.get(element_id) is None:
            return element_id
        while (new := self._new_id(kind)) in self._taken:
            continue
        self._taken.add(new)
        return new


def _pairs(given: Sequence[Node], there: Sequence[Node]) -> dict[str, Node]:
    """Finds the node that each given one is, by its id. No two given ones become one; a key counts before a name."""
    found: dict[str, Node] = {}
    met: set[str] = set()
    for names in (_keys, _names):
        named: dict[str, list[Node]] = {}
        for old in there:
            for name in names(old):
                named.setdefault(name, []).append(old)
        for node in given:
            fitting = [old for name in names(node) for old in named.get(name, ()) if _fits(node, old)]
            free = next((old for old in fitting if old.id not in met), None)
            if free is not None and node.id not in found:
                found[node.id] = free
                met.add(free.id)
    return found


def _fits(node: Node, old: Node) -> bool:
    return bool(set(old.labels) & set(node.labels)) or not (old.labels or node.labels)


def _keys(node: Node) -> list[str]:
    return [node.key] * bool(node.key)


def _names(node: Node) -> list[str]:
    """Gives the names of a node; one that has none is known by all its properties."""
    names = [same_name(plain_text(node.properties[name])) for name in NAME_PROPERTIES if name in node.properties]
    if any(names) or node.key:
        return [name for name in names if name]
    return [json.dumps(encode_properties(node.properties), sort_keys=True)]
