"""Takes neutral elements of any origin in: facts, a given graph, a restored one, an undone change."""

from __future__ import annotations

from dataclasses import replace

from kgot_core.errors import QueryError
from kgot_core.graph.elements import Edge, Element, GraphChange, Node
from kgot_core.graph.values import JsonValue, plain_text
from kgot_networkx.record import GraphRecord, Step

_NAMING = ("name", "title", "label", "id", "text")


def take(record: GraphRecord, change: GraphChange) -> tuple[GraphChange, dict[str, JsonValue]]:
    """Folds elements with their own ids into the record.

    A node without a key, or with one that another node has, gets one of its own.

    Returns:
        The change as it was folded, and what the sandbox has to take in.

    Raises:
        QueryError: An edge's node is not there, or an id belongs to an element of the other kind. Nothing was
            changed.
    """
    taken = _Taking(record, change).checked()
    gone = [node for node in map(record.node, taken.removed) if node is not None]
    nodes = [element for element in (*taken.added, *taken.changed) if isinstance(element, Node)]
    edges = [element for element in (*taken.added, *taken.changed) if isinstance(element, Edge)]
    before = [node for node in (record.node(node.id) for node in nodes) if node is not None]
    keys = {node.id: node.key for node in nodes}
    renamed = [node for node in before if node.key != keys[node.id]]
    touched = [record.edge(edge_id) for edge_id in taken.removed]
    touched += [record.edge(edge.id) for edge in edges]
    touched += [record.edge(edge_id) for node in renamed for edge_id in record.edges_at(node.id)]
    record.fold(Step(taken))
    pairs = dict.fromkeys((edge.source, edge.target) for edge in (*touched, *edges) if edge is not None)
    state = record.state([node.id for node in nodes], pairs)
    dropped: list[JsonValue] = [[node.key] for node in (*gone, *renamed)]
    return taken, {**state, "nodes": dropped + _listed(state["nodes"])}


def _listed(data: JsonValue) -> list[JsonValue]:
    return data if isinstance(data, list) else []


class _Taking:
    def __init__(self, record: GraphRecord, change: GraphChange) -> None:
        self._record = record
        self._change = change
        self._gone = set(change.removed)
        self._nodes = {node.id: node for node in (*change.added, *change.changed) if isinstance(node, Node)}
        self._taken: dict[str, str] = {}
        self._numbers: dict[str, int] = {}

    def checked(self) -> GraphChange:
        for node in self._nodes.values():
            if self._record.edge(node.id) is not None and node.id not in self._gone:
                raise QueryError(f"{_about(node)} has the id of an edge")
        # Keys that are given are served before keys that are made.
        keys = {node.id: self._wanted(node) for node in self._nodes.values()}
        for node_id, key in keys.items():
            if key and self._free(key, node_id):
                self._taken[key] = node_id
        for node_id, key in keys.items():
            if self._taken.get(key) != node_id:
                self._taken[self._unique(self._nodes[node_id], key)] = node_id
        made = {node_id: key for key, node_id in self._taken.items()}
        added, changed = (
            tuple(self._with_key(element, made) for element in elements)
            for elements in (self._change.added, self._change.changed)
        )
        return GraphChange(_nodes_first(added), _nodes_first(changed), tuple(dict.fromkeys(self._change.removed)))

    def _with_key(self, element: Element, keys: dict[str, str]) -> Element:
        if isinstance(element, Node):
            return replace(element, key=keys[element.id])
        if self._record.node(element.id) is not None and element.id not in self._gone:
            raise QueryError(f"the edge {element.type} has the id of a node")
        for end in (element.source, element.target):
            if end not in self._nodes and (end in self._gone or self._record.node(end) is None):
                raise QueryError(f"the edge {element.type} leads from or to a node that is not there: {end}")
        return element

    def _wanted(self, node: Node) -> str:
        old = self._record.node(node.id)
        if node.key.strip():
            return node.key
        return old.key if old is not None else ""

    def _free(self, key: str, node_id: str) -> bool:
        owner = self._taken.get(key) or self._record.id_of(key)
        if not owner or owner == node_id or owner in self._gone:
            return True
        # The owner is renamed by this very change.
        return owner in self._nodes and key not in self._taken and self._wanted(self._nodes[owner]) != key

    def _unique(self, node: Node, wanted: str) -> str:
        base = wanted or _name(node)
        label = f" ({node.labels[0]})" if node.labels and not base.endswith(f" ({node.labels[0]})") else ""
        for candidate in (base, base + label):
            if self._free(candidate, node.id):
                return candidate
        number = self._numbers.get(base + label, 2)
        while not self._free(f"{base}{label} {number}", node.id):
            number += 1
        self._numbers[base + label] = number + 1
        return f"{base}{label} {number}"


def _name(node: Node) -> str:
    for wanted in (*_NAMING, *node.properties):
        if wanted in node.properties and (text := plain_text(node.properties[wanted]).strip()):
            return text[:200]
    return node.labels[0] if node.labels else "node"


def _about(node: Node) -> str:
    return f'the node "{node.key or _name(node)}"'


def _nodes_first(elements: tuple[Element, ...]) -> tuple[Element, ...]:
    nodes = [element for element in elements if isinstance(element, Node)]
    return (*nodes, *(element for element in elements if isinstance(element, Edge)))
