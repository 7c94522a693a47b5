"""The host's own copy of the graph: neutral elements with their ids, and where each stands in ``G``."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from kgot_core.graph.elements import Edge, GraphChange, GraphSnapshot, Node
from kgot_core.graph.values import JsonValue, encode_properties

_NUMBERED = re.compile(r"([ne])([0-9]{1,15})")


@dataclass(frozen=True)
class Step:
    """A change that is ready to be folded, with the networkx keys of the edges in it."""

    change: GraphChange
    edge_keys: Mapping[str, int] = field(default_factory=dict)


class GraphRecord:
    """Nodes and edges in the order in which they came. Node keys are unique, edge keys within a pair of nodes."""

    def __init__(self) -> None:
        self._nodes: dict[str, Node] = {}
        self._edges: dict[str, Edge] = {}
        self._by_key: dict[str, str] = {}
        self._edge_keys: dict[str, int] = {}
        self._pairs: dict[tuple[str, str], dict[int, str]] = {}
        self._touching: dict[str, dict[str, None]] = {}
        self._highest = {"n": 0, "e": 0}

    def node(self, node_id: str) -> Node | None:
        """Gives the node with this id."""
        return self._nodes.get(node_id)

    def edge(self, edge_id: str) -> Edge | None:
        """Gives the edge with this id."""
        return self._edges.get(edge_id)

    def id_of(self, key: str) -> str:
        """Gives the id of the node with this key, empty where there is none."""
        return self._by_key.get(key, "")

    def edges_at(self, node_id: str) -> tuple[str, ...]:
        """Gives the ids of the edges that leave or reach a node."""
        return tuple(self._touching.get(node_id, ()))

    def between(self, source: str, target: str) -> Mapping[int, str]:
        """Gives the edges from one node to another: their ids by networkx key."""
        return self._pairs.get((source, target), {})

    def snapshot(self) -> GraphSnapshot:
        """Gives the whole graph."""
        return GraphSnapshot(tuple(self._nodes.values()), tuple(self._edges.values()))

    def minter(self) -> Callable[[str], str]:
        """Gives a source of new ids, ``n1`` and on for nodes or ``e1`` and on for edges, that no element has had.

        Ids that are never folded are given again, so that failures leave no trace in them.
        """
        counters = dict(self._highest)

        def mint(letter: str) -> str:
            counters[letter] += 1
            return f"{letter}{counters[letter]}"

        return mint

    def fold(self, step: Step) -> None:
        """Takes a change in."""
        change = step.change
        for element_id in change.removed:
            self._drop(element_id)
        for element in (*change.added, *change.changed):
            if found := _NUMBERED.fullmatch(element.id):
                self._highest[found[1]] = max(self._highest[found[1]], int(found[2]))
            if isinstance(element, Node):
                self._put_node(element)
            else:
                self._put_edge(element, step.edge_keys.get(element.id))

    def _drop(self, element_id: str) -> None:
        node = self._nodes.pop(element_id, None)
        if node is not None:
            if self._by_key.get(node.key) == element_id:
                del self._by_key[node.key]
            for edge_id in self.edges_at(element_id):
                self._drop(edge_id)
            self._touching.pop(element_id, None)
        edge = self._edges.pop(element_id, None)
        if edge is not None:
            self._unhook(edge)

    def _put_node(self, node: Node) -> None:
        old = self._nodes.get(node.id)
        if old is not None and self._by_key.get(old.key) == node.id:
            del self._by_key[old.key]
        self._nodes[node.id] = node
        self._by_key[node.key] = node.id

    def _put_edge(self, edge: Edge, key: int | None) -> None:
        old = self._edges.get(edge.id)
        if old is not None and (old.source, old.target) == (edge.source, edge.target):
            self._edges[edge.id] = edge
            return
        if old is not None:
            self._unhook(old)
        pair = self._pairs.setdefault((edge.source, edge.target), {})
        if key is None or key in pair:
            key = next(free for free in range(len(pair) + 1) if free not in pair)
        pair[key] = edge.id
        self._edge_keys[edge.id] = key
        self._edges[edge.id] = edge
        self._touching.setdefault(edge.source, {})[edge.id] = None
        self._touching.setdefault(edge.target, {})[edge.id] = None

    def _unhook(self, edge: Edge) -> None:
        place = (edge.source, edge.target)
        pair = self._pairs[place]
        del pair[self._edge_keys.pop(edge.id)]
        if not pair:
            del self._pairs[place]
        for node_id in place:
            self._touching.get(node_id, {}).pop(edge.id, None)

    def state(self, node_ids: Iterable[str], pairs: Iterable[tuple[str, str]]) -> dict[str, JsonValue]:
        """Gives nodes and pairs of nodes in the form in which the sandbox takes them in; unknown ids are left out."""
        return {
            "nodes": [self._node_state(node_id) for node_id in node_ids if node_id in self._nodes],
            "pairs": [self._pair_state(*pair) for pair in pairs if all(end in self._nodes for end in pair)],
        }

    def state_of(self, change: GraphChange) -> dict[str, JsonValue]:
        """Gives the elements that a folded change added or changed in that form, edges with those beside them."""
        elements = (*change.added, *change.changed)
        nodes = [element.id for element in elements if isinstance(element, Node)]
        pairs = dict.fromkeys((element.source, element.target) for element in elements if isinstance(element, Edge))
        return self.state(nodes, pairs)

    def whole_state(self) -> dict[str, JsonValue]:
        """Gives the whole graph in that form."""
        return {"all": True, **self.state(self._nodes, self._pairs)}

    def _node_state(self, node_id: str) -> JsonValue:
        node = self._nodes[node_id]
        return [node.key, list(node.labels), encode_properties(node.properties)]

    def _pair_state(self, source: str, target: str) -> JsonValue:
        listed: list[JsonValue] = []
        for key, edge_id in self.between(source, target).items():
            edge = self._edges[edge_id]
            listed.append([key, edge.type, encode_properties(edge.properties)])
        return [self._nodes[source].key, self._nodes[target].key, listed]
