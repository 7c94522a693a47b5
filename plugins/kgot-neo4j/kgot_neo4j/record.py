"""Which element of the store is which neutral element, and what it held when it was last read."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterable, Sequence
from typing import Any

from kgot_core.errors import QueryError
from kgot_core.graph.elements import Edge, Element, GraphChange, GraphSnapshot, Node
from kgot_neo4j.values import from_store

_NUMBERED = re.compile(r"([ne])([0-9]{1,15})")
# Neo4j's places: 4 for a node, 5 for a relationship, the database, a number.
_PLACE = re.compile(r"([45]):.+:(\d+)")


class Record:
    """Neutral elements in the order in which they came, with their places in the store."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._nodes: dict[str, Node] = {}
        self._edges: dict[str, Edge] = {}
        self._id_of: dict[str, str] = {}
        self._place_of: dict[str, str] = {}
        self._counters = {"n": 0, "e": 0}
        self._last: dict[str, tuple[int, str]] = {}
        self.dotted: set[str] = set()

    def __len__(self) -> int:
        return len(self._nodes) + len(self._edges)

    def get(self, element_id: str) -> Element | None:
        """Gives the element with this id."""
        return self._nodes.get(element_id) or self._edges.get(element_id)

    def place(self, element_id: str) -> str:
        """Gives an element's place in the store, empty where it has none."""
        return self._place_of.get(element_id, "")

    def knows(self, place: str) -> bool:
        """Tells whether an element of the store has an id, also one that is being written just now."""
        return place in self._id_of

    def id_at(self, place: str) -> str:
        """Gives the id of the element at a place, empty where it has none."""
        return self._id_of.get(place, "")

    def claim(self, place: str, element_id: str = "", letter: str = "n") -> str:
        """Gives an element of the store a neutral id: the one given, else a new one."""
        with self._lock:
            if place in self._id_of:
                return self._id_of[place]
            while not element_id:
                self._counters[letter] += 1
                made = f"{letter}{self._counters[letter]}"
                if made not in self._place_of and self.get(made) is None:
                    element_id = made
            self._put(place, element_id)
            return element_id

    def bind(self, place: str, element_id: str) -> None:
        """Gives an element of the store this id, also where an element that was replaced had it."""
        with self._lock:
            self._id_of.pop(self._place_of.get(element_id, ""), None)
            self._put(place, element_id)

    def _put(self, place: str, element_id: str) -> None:
        self._id_of[place] = element_id
        self._place_of[element_id] = place
        if found := _PLACE.fullmatch(place):
            self._last[found[1]] = max(self._last.get(found[1], (-1, "")), (int(found[2]), place))

    def next_places(self, kind: str, count: int) -> list[str]:
        """Gives where the store is likely to put the next elements: it mostly numbers them upwards.

        Args:
            kind: ``4`` for nodes, ``5`` for relationships.
            count: How many.
        """
        with self._lock:
            number, place = self._last.get(kind, (-1, ""))
        start = place.removesuffix(str(number))
        return [f"{start}{number + step}" for step in range(1, count + 1)] if place else []

    def give_up(self, places: Iterable[str]) -> None:
        """Takes ids back from elements that were never committed."""
        with self._lock:
            for place in places:
                element_id = self._id_of.pop(place, "")
                self._place_of.pop(element_id, None)

    def node_of(self, row: Sequence[Any]) -> Node:
        """Reads a node from ``[place, labels, properties]``; it must be claimed."""
        place, labels, raw = row
        element_id = self._id_of[place]
        about = f"the node {raw.get('name', '') or ':'.join(labels)}"
        old = self._nodes.get(element_id)
        return Node(element_id, tuple(labels), from_store(raw, about), inferred=bool(old and old.inferred))

    def edge_of(self, row: Sequence[Any]) -> Edge:
        """Reads an edge from ``[place, type, source, target, properties]``; all three must be claimed."""
        place, kind, source, target, raw = row
        element_id = self._id_of[place]
        if source not in self._id_of or target not in self._id_of:
            raise QueryError(f"the relationship {kind} leads from or to a node that is not known; try again")
        old = self._edges.get(element_id)
        properties = from_store(raw, f"the relationship {kind}")
        ends = self._id_of[source], self._id_of[target]
        return Edge(element_id, kind, *ends, properties, inferred=bool(old and old.inferred))

    def fold(self, change: GraphChange) -> None:
        """Takes a committed change in. A removed node takes its edges with it."""
        with self._lock:
            gone = {element_id for element_id in change.removed if element_id in self._nodes}
            for element_id in (*change.removed, *(self._edges_at(gone) if gone else ())):
                self._drop(element_id)
            for element in (*change.added, *change.changed):
                if found := _NUMBERED.fullmatch(element.id):
                    # In a run that goes on no id is given again, also where its element was removed.
                    self._counters[found[1]] = max(self._counters[found[1]], int(found[2]))
                if isinstance(element, Node):
                    self._nodes[element.id] = element
                else:
                    self._edges[element.id] = element
                self.dotted.update(name for name in element.properties if "." in name)

    def _drop(self, element_id: str) -> None:
        place = self._place_of.pop(element_id, "")
        self._id_of.pop(place, None)
        self._nodes.pop(element_id, None)
        self._edges.pop(element_id, None)

    def _edges_at(self, node_ids: set[str]) -> list[str]:
        return [edge.id for edge in self._edges.values() if edge.source in node_ids or edge.target in node_ids]

    def snapshot(self) -> GraphSnapshot:
        """Gives the graph as it was last read."""
        with self._lock:
            return GraphSnapshot(tuple(self._nodes.values()), tuple(self._edges.values()))
