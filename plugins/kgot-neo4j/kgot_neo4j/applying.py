"""Takes neutral elements of any origin in: facts, a given graph, a restored one, an undone change."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from kgot_core.errors import QueryError
from kgot_core.graph.elements import Edge, Element, GraphChange, Node
from kgot_neo4j.cypher.names import RESERVED
from kgot_neo4j.cypher.tokens import ticked
from kgot_neo4j.reading import Counts, Row
from kgot_neo4j.record import Record
from kgot_neo4j.values import to_store

if TYPE_CHECKING:
    from neo4j import Transaction

_NAMING = ("name", "title", "id", "label", "text")
_BATCH = 2_000


class Applying:
    """One change on its way into the store.

    Args:
        record: What the graph holds.
        change: The change.

    Raises:
        QueryError: An element cannot be held; the message names it.
    """

    def __init__(self, record: Record, change: GraphChange) -> None:
        self._record = record
        self._removed = list(dict.fromkeys(change.removed))
        gone = set(self._removed)
        given = [*change.added, *change.changed]
        self._nodes = {element.id: element for element in given if isinstance(element, Node)}
        self._edges = {element.id: element for element in given if isinstance(element, Edge)}
        self._properties: dict[str, dict[str, Any]] = {}
        # Places of the new elements, by id, once they are made.
        self.places: dict[str, str] = {}
        for node in self._nodes.values():
            self._check_node(node, gone)
        for edge in self._edges.values():
            self._check_edge(edge, gone)

    def _check_node(self, node: Node, gone: set[str]) -> None:
        about = f"the node {node.key or node.properties.get('name', node.id)}"
        for label in node.labels:
            _check_name(label, "label", about)
        if node.id not in gone and isinstance(self._record.get(node.id), Edge):
            raise QueryError(f"{about} has the id of a relationship")
        properties = dict(node.properties)
        if node.key and not any(name in properties for name in _NAMING):
            properties = {"name": node.key, **properties}
        self._properties[node.id] = to_store(properties, about)

    def _check_edge(self, edge: Edge, gone: set[str]) -> None:
        about = f"the relationship {edge.type}"
        _check_name(edge.type, "type", about)
        if edge.id in self._nodes or (edge.id not in gone and isinstance(self._record.get(edge.id), Node)):
            raise QueryError(f"{about} has the id of a node")
        for end in (edge.source, edge.target):
            known = isinstance(self._record.get(end), Node) and end not in gone
            if end not in self._nodes and not known:
                raise QueryError(f"{about} leads from or to a node that is not there: {end}")
        self._properties[edge.id] = to_store(edge.properties, about)

    def run(self, transaction: Transaction) -> Counts:
        """Writes it, in few statements for many elements."""
        self._run = transaction.run
        self._counts = Counts()
        self.places = {}
        self._remove()
        fresh: dict[tuple[str, ...], list[Node]] = {}
        for node in self._nodes.values():
            if self._place(node.id):
                self._change_node(node)
            else:
                fresh.setdefault(node.labels, []).append(node)
        for labels, nodes in fresh.items():
            text = "".join(f":{ticked(label)}" for label in labels)
            self._make(f"CREATE (x{text}) SET x = row.p", nodes)
        made: dict[str, list[Edge]] = {}
        for edge in self._edges.values():
            if not self._change_edge(edge):
                made.setdefault(edge.type, []).append(edge)
        for kind, edges in made.items():
            ends = "MATCH (a) WHERE elementId(a) = row.a MATCH (b) WHERE elementId(b) = row.b"
            self._make(f"{ends} CREATE (a)-[x:{ticked(kind)}]->(b) SET x = row.p", edges)
        return self._counts

    def places_now(self) -> tuple[list[str], list[str]]:
        """Gives the places of its nodes and edges, once it has been written."""
        return [self._place(node_id) for node_id in self._nodes], [self._place(edge_id) for edge_id in self._edges]

    def folded(self, nodes: Sequence[Row], edges: Sequence[Row]) -> GraphChange:
        """Takes the committed elements into the record, with the ids that they came with."""
        known = {element_id for element_id in (*self._nodes, *self._edges) if self._record.get(element_id)}
        known -= set(self._removed)
        self._record.fold(GraphChange(removed=tuple(self._removed)))
        for element_id, place in self.places.items():
            self._record.bind(place, element_id)
        given: dict[str, Element] = {**self._nodes, **self._edges}
        read: list[Element] = [*map(self._record.node_of, nodes), *map(self._record.edge_of, edges)]
        by_id = {element.id: element for element in read}
        elements: list[Element] = [replace(by_id[key], inferred=element.inferred) for key, element in given.items()]
        change = GraphChange(
            tuple(element for element in elements if element.id not in known),
            tuple(element for element in elements if element.id in known),
        )
        self._record.fold(change)
        return replace(change, removed=tuple(self._removed))

    def _place(self, element_id: str) -> str:
        if element_id in self.places:
            return self.places[element_id]
        return "" if element_id in self._removed else self._record.place(element_id)

    def _remove(self) -> None:
        places = [place for place in map(self._record.place, self._removed) if place]
        for statement in (
            f"MATCH (x) WHERE elementId(x) IN $places AND NOT x:{RESERVED} DETACH DELETE x",
            "MATCH ()-[x]->() WHERE elementId(x) IN $places DELETE x",
        ):
            if places:
                self._count(self._run(statement, places=places))

    def _change_node(self, node: Node) -> None:
        old = self._record.get(node.id)
        before = old.labels if isinstance(old, Node) else ()
        added = "".join(f" SET x:{ticked(label)}" for label in node.labels if label not in before)
        dropped = "".join(f" REMOVE x:{ticked(label)}" for label in before if label not in node.labels)
        statement = f"MATCH (x) WHERE elementId(x) = $place SET x = $p{added}{dropped}"
        self._count(self._run(statement, place=self._place(node.id), p=self._properties[node.id]))

    def _change_edge(self, edge: Edge) -> bool:
        """Changes an edge in place, or takes the old one away where it has to be made anew."""
        old = self._record.get(edge.id)
        place = self._place(edge.id)
        if not place or not isinstance(old, Edge):
            return False
        same = (old.type, old.source, old.target) == (edge.type, edge.source, edge.target)
        rest = "SET x = $p" if same else "DELETE x"
        told = {"place": place, "p": self._properties[edge.id]}
        self._count(self._run(f"MATCH ()-[x]->() WHERE elementId(x) = $place {rest}", told))
        return same

    def _make(self, statement: str, elements: Sequence[Element]) -> None:
        for first in range(0, len(elements), _BATCH):
            part = elements[first : first + _BATCH]
            result = self._run(
                f"UNWIND $rows AS row {statement} RETURN row.id, elementId(x)",
                rows=[self._row(element) for element in part],
            )
            self.places.update({row[0]: row[1] for row in result.values()})
            self._count(result)

    def _row(self, element: Element) -> dict[str, Any]:
        row: dict[str, Any] = {"id": element.id, "p": self._properties[element.id]}
        if isinstance(element, Edge):
            row |= {"a": self._place(element.source), "b": self._place(element.target)}
        return row

    def _count(self, result: Any) -> None:
        self._counts.add(result.consume().counters)


def _check_name(name: str, what: str, about: str) -> None:
    if not name or "\0" in name or name.upper().startswith(RESERVED):
        raise QueryError(f"{about}: {name!r} cannot be a {what} in Neo4j")
