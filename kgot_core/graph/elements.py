"""The neutral graph: nodes, typed edges, a change, a snapshot. Every store's graph is shown in these."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from kgot_core.graph.values import (
    JsonValue,
    Properties,
    decode_properties,
    encode_properties,
    same_properties,
)

SNAPSHOT_VERSION = 1


@dataclass(frozen=True, slots=True)
class Node:
    """A node of the task graph.

    Attributes:
        id: Neutral id, stable while the backend is open; never the store's own.
        labels: Labels in the store's order; empty where there is none.
        properties: Property values by name.
        key: How the store's language refers to the node (a node object of networkx, an IRI); empty where
            the language finds nodes by label and properties only.
        inferred: The node was derived by the store, not written.
    """

    id: str
    labels: tuple[str, ...] = ()
    properties: Properties = field(default_factory=dict)
    key: str = ""
    inferred: bool = False

    def same_as(self, other: Element) -> bool:
        """Tells whether two states of the element carry the same content."""
        return (
            isinstance(other, Node)
            and self.id == other.id
            and self.labels == other.labels
            and self.key == other.key
            and same_properties(self.properties, other.properties)
        )


@dataclass(frozen=True, slots=True)
class Edge:
    """A typed, directed edge of the task graph; several may join the same two nodes."""

    id: str
    type: str
    source: str
    target: str
    properties: Properties = field(default_factory=dict)
    inferred: bool = False

    def same_as(self, other: Element) -> bool:
        """Tells whether two states of the element carry the same content."""
        return (
            isinstance(other, Edge)
            and (self.id, self.type, self.source, self.target) == (other.id, other.type, other.source, other.target)
            and same_properties(self.properties, other.properties)
        )


Element: TypeAlias = Node | Edge


@dataclass(frozen=True, slots=True)
class GraphChange:
    """What a write did: elements added, elements in their new state, ids of elements removed.

    In ``added`` every node stands before the edges that use it.
    """

    added: tuple[Element, ...] = ()
    changed: tuple[Element, ...] = ()
    removed: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.added or self.changed or self.removed)

    @property
    def size(self) -> int:
        """Number of elements the change touches."""
        return len(self.added) + len(self.changed) + len(self.removed)


@dataclass(frozen=True, slots=True)
class GraphSnapshot:
    """A whole graph at one moment."""

    nodes: tuple[Node, ...] = ()
    edges: tuple[Edge, ...] = ()

    def elements(self) -> Iterable[Element]:
        """Gives the nodes, then the edges."""
        yield from self.nodes
        yield from self.edges


def node_to_json(node: Node) -> dict[str, JsonValue]:
    """Gives a node's JSON form; empty fields are left out."""
    data: dict[str, JsonValue] = {"id": node.id, "labels": list(node.labels)}
    if node.properties:
        data["properties"] = encode_properties(node.properties)
    if node.key:
        data["key"] = node.key
    if node.inferred:
        data["inferred"] = True
    return data


def edge_to_json(edge: Edge) -> dict[str, JsonValue]:
    """Gives an edge's JSON form; empty fields are left out."""
    data: dict[str, JsonValue] = {
        "id": edge.id,
        "type": edge.type,
        "source": edge.source,
        "target": edge.target,
    }
    if edge.properties:
        data["properties"] = encode_properties(edge.properties)
    if edge.inferred:
        data["inferred"] = True
    return data


def element_to_json(element: Element) -> dict[str, JsonValue]:
    """Gives an element's JSON form; an edge is known by its ``type``."""
    return node_to_json(element) if isinstance(element, Node) else edge_to_json(element)


def element_from_json(data: Mapping[str, Any]) -> Element:
    """Reads an element from its JSON form.

    Raises:
        KeyError, ValueError: The data is not an element's JSON form.
    """
    properties = decode_properties(data.get("properties", {}))
    inferred = bool(data.get("inferred", False))
    if "type" in data:
        return Edge(data["id"], data["type"], data["source"], data["target"], properties, inferred)
    return Node(data["id"], tuple(data.get("labels", ())), properties, data.get("key", ""), inferred)


def change_to_json(change: GraphChange) -> dict[str, JsonValue]:
    """Gives a change's JSON form."""
    return {
        "added": [element_to_json(element) for element in change.added],
        "changed": [element_to_json(element) for element in change.changed],
        "removed": list(change.removed),
    }


def change_from_json(data: Mapping[str, Any]) -> GraphChange:
    """Reads a change from its JSON form."""
    return GraphChange(
        tuple(element_from_json(item) for item in data.get("added", ())),
        tuple(element_from_json(item) for item in data.get("changed", ())),
        tuple(data.get("removed", ())),
    )


def snapshot_to_json(snapshot: GraphSnapshot) -> dict[str, JsonValue]:
    """Gives a snapshot's JSON form, with the version of the format."""
    return {
        "version": SNAPSHOT_VERSION,
        "nodes": [node_to_json(node) for node in snapshot.nodes],
        "edges": [edge_to_json(edge) for edge in snapshot.edges],
    }


def snapshot_from_json(data: Mapping[str, Any]) -> GraphSnapshot:
    """Reads a snapshot from its JSON form.

    Raises:
        ValueError: The version is newer than this reader.
    """
    if int(data.get("version", 0)) > SNAPSHOT_VERSION:
        raise ValueError(f"snapshot version {data['version']} is newer than {SNAPSHOT_VERSION}")
    elements = [element_from_json(item) for item in [*data.get("nodes", ()), *data.get("edges", ())]]
    return GraphSnapshot(
        tuple(item for item in elements if isinstance(item, Node)),
        tuple(item for item in elements if isinstance(item, Edge)),
    )
