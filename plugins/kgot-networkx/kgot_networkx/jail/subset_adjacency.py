"""What ``G[node]``, ``G.adj`` and ``G.pred`` give in a sandbox with a part of Python.

Whatever a script is given that it could change, a dictionary of attributes, counts as touched.
"""

from typing import Any

kg_len = len


class KgParallel:
    """The edges from one node to another by key; an edge is also found by its type."""

    def __init__(self, graph: Any, source: Any, target: Any) -> None:
        self.graph = graph
        self.source = source
        self.target = target
        self.edges = graph.after[source][target]

    def find(self, key: Any) -> Any:
        """Gives the key of the edge that is meant."""
        if isinstance(key, str) and key not in self.edges:
            for known, attributes in self.edges.items():
                if attributes.get("type") == key:
                    return known
        return key

    def __getitem__(self, key: Any) -> Any:
        self.graph.touch_pair(self.source, self.target)
        return self.edges[self.find(key)]

    def __setitem__(self, key: Any, attributes: Any) -> None:
        self.graph.touch_pair(self.source, self.target)
        self.edges[self.find(key)] = attributes

    def __iter__(self) -> Any:
        return iter(list(self.edges))

    def __contains__(self, key: Any) -> bool:
        return self.find(key) in self.edges

    def get(self, key: Any, default: Any = None) -> Any:
        """Gives an edge's attributes."""
        known = self.find(key)
        return self[known] if known in self.edges else default

    def pop(self, key: Any) -> Any:
        """Takes an edge out."""
        attributes = self[key]
        self.graph.remove_edge(self.source, self.target, key)
        return attributes

    def keys(self) -> list[Any]:
        """Gives the keys."""
        return list(self.edges)

    def items(self) -> list[Any]:
        """Gives pairs of key and attributes."""
        self.graph.touch_pair(self.source, self.target)
        return list(self.edges.items())

    def values(self) -> list[Any]:
        """Gives the attributes of every edge."""
        return [attributes for _, attributes in self.items()]

    def size(self) -> int:
        """Gives the number of edges."""
        return kg_len(self.edges)


class KgNeighbours:
    """``G[node]``, or ``G.pred[node]``: the edges to each neighbour."""

    def __init__(self, graph: Any, node: Any, incoming: bool) -> None:
        graph.need(node)
        self.graph = graph
        self.node = node
        self.incoming = incoming
        self.table = graph.before[node] if incoming else graph.after[node]

    def __getitem__(self, other: Any) -> KgParallel:
        if other not in self.table:
            raise KeyError(str(other))
        return KgParallel(self.graph, other, self.node) if self.incoming else KgParallel(self.graph, self.node, other)

    def __iter__(self) -> Any:
        return iter(list(self.table))

    def __contains__(self, other: Any) -> bool:
        return other in self.table

    def get(self, other: Any, default: Any = None) -> Any:
        """Gives the edges to a neighbour."""
        return self[other] if other in self.table else default

    def keys(self) -> list[Any]:
        """Gives the neighbours."""
        return list(self.table)

    def items(self) -> list[Any]:
        """Gives pairs of neighbour and edges."""
        return [(other, self[other]) for other in self.table]

    def values(self) -> list[Any]:
        """Gives the edges to every neighbour."""
        return [self[other] for other in self.table]

    def size(self) -> int:
        """Gives the number of neighbours."""
        return kg_len(self.table)


class KgTable:
    """``G.adj``, ``G.succ`` and ``G.pred``."""

    def __init__(self, graph: Any, incoming: bool) -> None:
        self.graph = graph
        self.incoming = incoming

    def __getitem__(self, node: Any) -> KgNeighbours:
        return KgNeighbours(self.graph, node, self.incoming)

    def __iter__(self) -> Any:
        return iter(list(self.graph.attributes))

    def __contains__(self, node: Any) -> bool:
        return node in self.graph.attributes

    def keys(self) -> list[Any]:
        """Gives the nodes."""
        return list(self.graph.attributes)

    def items(self) -> list[Any]:
        """Gives pairs of node and neighbours."""
        return [(node, self[node]) for node in self.graph.attributes]

    def size(self) -> int:
        """Gives the number of nodes."""
        return kg_len(self.graph.attributes)
