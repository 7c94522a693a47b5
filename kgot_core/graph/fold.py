"""The core's own copy of a task graph, folded from the changes of whatever store holds it."""

from __future__ import annotations

from collections.abc import Iterator

from kgot_core.graph.elements import Edge, Element, GraphChange, GraphSnapshot, Node


class TaskGraph:
    """Nodes and edges in the order in which they came; the source of state text, events and evidence."""

    def __init__(self, snapshot: GraphSnapshot | None = None) -> None:
        self._nodes: dict[str, Node] = {}
        self._edges: dict[str, Edge] = {}
        if snapshot is not None:
            self.apply(GraphChange(added=tuple(snapshot.elements())))

    def __len__(self) -> int:
        return len(self._nodes) + len(self._edges)

    def __iter__(self) -> Iterator[Element]:
        yield from self._nodes.values()
        yield from self._edges.values()

    @property
    def nodes(self) -> tuple[Node, ...]:
        """All nodes, oldest first."""
        return tuple(self._nodes.values())

    @property
    def edges(self) -> tuple[Edge, ...]:
        """All edges, oldest first."""
        return tuple(self._edges.values())

    def get(self, element_id: str) -> Element | None:
        """Gives the element with this id, or ``None``."""
        return self._nodes.get(element_id) or self._edges.get(element_id)

    def node(self, node_id: str) -> Node | None:
        """Gives the node with this id, or ``None``."""
        return self._nodes.get(node_id)

    def edges_of(self, node_id: str) -> tuple[Edge, ...]:
        """Gives the edges that leave or reach a node."""
        return tuple(edge for edge in self._edges.values() if node_id in (edge.source, edge.target))

    def apply(self, change: GraphChange) -> None:
        """Takes a change in. A removed node takes its edges with it."""
        removed = set(change.removed)
        gone = {node_id for node_id in removed if node_id in self._nodes}
        for element_id in removed:
            self._nodes.pop(element_id, None)
            self._edges.pop(element_id, None)
        if gone:
            self._edges = {
                edge_id: edge
                for edge_id, edge in self._edges.items()
                if edge.source not in gone and edge.target not in gone
            }
        for element in (*change.added, *change.changed):
            if isinstance(element, Node):
                self._nodes[element.id] = element
            else:
                self._edges[element.id] = element

    def snapshot(self) -> GraphSnapshot:
        """Gives the whole graph as it is now."""
        return GraphSnapshot(self.nodes, self.edges)


def compare(before: GraphSnapshot, after: GraphSnapshot) -> GraphChange:
    """Finds the change that leads from one snapshot to another of the same backend (ids must agree)."""
    old = {element.id: element for element in before.elements()}
    new = {element.id: element for element in after.elements()}
    return GraphChange(
        added=tuple(element for element in new.values() if element.id not in old),
        changed=tuple(
            element for element in new.values() if element.id in old and not element.same_as(old[element.id])
        ),
        removed=tuple(element_id for element_id in old if element_id not in new),
    )
