"""What ``G.nodes``, ``G.edges`` and ``G.degree`` give in a sandbox with a part of Python."""

from typing import Any

from kgot_networkx.jail.subset_adjacency import kg_len


class KgNodes:
    """``G.nodes``."""

    def __init__(self, graph: Any) -> None:
        self.graph = graph

    def __iter__(self) -> Any:
        return iter(list(self.graph.attributes))

    def __contains__(self, node: Any) -> bool:
        return node in self.graph.attributes

    def __getitem__(self, node: Any) -> Any:
        self.graph.need(node)
        self.graph.touched_nodes[node] = True
        return self.graph.attributes[node]

    def __call__(self, data: Any = False, default: Any = None) -> Any:
        return self if data is False else self.data(data, default)

    def data(self, data: Any = True, default: Any = None) -> list[Any]:
        """Gives pairs of node and attributes, or of node and one attribute."""
        if data is True:
            return self.items()
        if data is False:
            return list(self.graph.attributes)
        return [(node, attributes.get(data, default)) for node, attributes in self.graph.attributes.items()]

    def items(self) -> list[Any]:
        """Gives pairs of node and attributes."""
        self.graph.all_nodes_touched = True
        return list(self.graph.attributes.items())

    def keys(self) -> list[Any]:
        """Gives the nodes."""
        return list(self.graph.attributes)

    def values(self) -> list[Any]:
        """Gives the attributes of every node."""
        return [attributes for _, attributes in self.items()]

    def get(self, node: Any, default: Any = None) -> Any:
        """Gives a node's attributes."""
        return self[node] if node in self.graph.attributes else default

    def size(self) -> int:
        """Gives the number of nodes."""
        return kg_len(self.graph.attributes)


class KgEdges:
    """``G.edges`` and ``G.in_edges``."""

    def __init__(self, graph: Any, incoming: bool) -> None:
        self.graph = graph
        self.incoming = incoming

    def rows(self, nbunch: Any) -> list[Any]:
        """Gives source, target, key and attributes of the edges at some nodes, all by default."""
        graph = self.graph
        found = []
        seen: dict[Any, bool] = {}
        table = graph.before if self.incoming else graph.after
        for node in graph.nbunch_iter(nbunch):
            for other, edges in table[node].items():
                if graph.undirected and (other, node) in seen:
                    continue
                seen[(node, other)] = True
                for key, attributes in edges.items():
                    pair = (other, node) if self.incoming else (node, other)
                    found.append((pair[0], pair[1], key, attributes))
        return found

    def __iter__(self) -> Any:
        return iter([(source, target, key) for source, target, key, _ in self.rows(None)])

    def __contains__(self, edge: Any) -> bool:
        return bool(self.graph.has_edge(*edge))

    def __getitem__(self, edge: Any) -> Any:
        source, target, key = edge
        return self.graph.adj[source][target][key]

    def __call__(self, nbunch: Any = None, data: Any = False, keys: bool = False, default: Any = None) -> Any:
        listed = []
        if data is True:
            self.graph.all_pairs_touched = True
        for source, target, key, attributes in self.rows(nbunch):
            edge = [source, target]
            if keys:
                edge.append(key)
            if data is True:
                edge.append(attributes)
            elif data is not False:
                edge.append(attributes.get(data, default))
            listed.append(tuple(edge))
        return listed

    def data(self, data: Any = True, keys: bool = False, default: Any = None) -> list[Any]:
        """Gives the edges with their attributes."""
        listed: list[Any] = self(None, data, keys, default)
        return listed

    def items(self) -> list[Any]:
        """Gives pairs of edge and attributes."""
        self.graph.all_pairs_touched = True
        return [((source, target, key), attributes) for source, target, key, attributes in self.rows(None)]

    def size(self) -> int:
        """Gives the number of edges."""
        return kg_len(self.rows(None))


class KgDegree:
    """``G.degree``, ``G.in_degree`` and ``G.out_degree``."""

    def __init__(self, graph: Any, incoming: bool, outgoing: bool) -> None:
        self.graph = graph
        self.incoming = incoming
        self.outgoing = outgoing

    def __getitem__(self, node: Any) -> int:
        self.graph.need(node)
        loop = kg_len(self.graph.after[node].get(node, {})) if self.graph.undirected else 0
        count = 0
        if self.outgoing:
            count += sum([kg_len(edges) for edges in self.graph.after[node].values()])
        if self.incoming and not self.graph.undirected:
            count += sum([kg_len(edges) for edges in self.graph.before[node].values()])
        return count + loop

    def __iter__(self) -> Any:
        return iter([(node, self[node]) for node in self.graph.attributes])

    def __call__(self, nbunch: Any = None, weight: Any = None) -> Any:
        if nbunch is not None and not isinstance(nbunch, (list, tuple, set)) and nbunch in self.graph.attributes:
            return self[nbunch]
        return [(node, self[node]) for node in self.graph.nbunch_iter(nbunch)]

    def size(self) -> int:
        """Gives the number of nodes."""
        return kg_len(self.graph.attributes)
