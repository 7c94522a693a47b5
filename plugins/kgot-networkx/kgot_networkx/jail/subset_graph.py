"""The graph in a sandbox with a part of Python: the everyday methods of a networkx MultiDiGraph.

Written without inheritance, properties, generators, ``del`` and ``__len__``, which that sandbox lacks.
"""

from typing import Any

from kgot_networkx.jail.report import kg_again
from kgot_networkx.jail.subset_adjacency import KgParallel, KgTable, kg_len
from kgot_networkx.jail.subset_edges import kg_drop_pair, kg_edge_parts, kg_put_edge, kg_remove_edge
from kgot_networkx.jail.subset_views import KgDegree, KgEdges, KgNodes


def kg_copy(graph: Any, keep: Any, undirected: bool) -> Any:
    """Gives a copy of a graph, of some nodes only where ``keep`` names them."""
    made = KgGraph(undirected)
    for node, attributes in graph.attributes.items():
        if keep is None or node in keep:
            made.put_node(node, attributes)
    for source, target, key, attributes in graph.edges.rows(None):
        if source in made.attributes and target in made.attributes:
            free = key
            while made.has_edge(source, target) and free in made.after[source][target]:
                free = free + 1 if isinstance(free, int) else 0
            made.put_edge(source, target, free, attributes)
    return made


class KgGraph:
    """A directed graph with parallel edges; ``undirected`` graphs show each edge from both ends."""

    def __init__(self, undirected: bool = False) -> None:
        self.undirected = undirected
        self.graph: dict[Any, Any] = {}
        self.attributes: dict[Any, dict[Any, Any]] = {}
        self.after: dict[Any, dict[Any, dict[Any, dict[Any, Any]]]] = {}
        self.before: dict[Any, dict[Any, dict[Any, dict[Any, Any]]]] = {}
        self.touched_nodes: dict[Any, bool] = {}
        self.touched_pairs: dict[Any, bool] = {}
        self.all_nodes_touched = False
        self.all_pairs_touched = False
        self.settled = False
        self.known: dict[Any, bool] = {}
        self.fresh: dict[Any, bool] = {}
        self.nodes = KgNodes(self)
        self.edges = KgEdges(self, False)
        self.out_edges = self.edges
        self.in_edges = KgEdges(self, True)
        self.adj = KgTable(self, False)
        self.succ = self.adj
        self.pred = KgTable(self, True)
        self.degree = KgDegree(self, True, True)
        self.out_degree = KgDegree(self, False, True)
        self.in_degree = KgDegree(self, True, False)

    def __contains__(self, node: Any) -> bool:
        return node in self.attributes

    def __iter__(self) -> Any:
        return iter(list(self.attributes))

    def __getitem__(self, node: Any) -> Any:
        return self.adj[node]

    def size(self) -> int:
        """Gives the number of nodes, for ``len``."""
        return kg_len(self.attributes)

    def is_directed(self) -> bool:
        """Tells whether edges have a direction."""
        return not self.undirected

    def is_multigraph(self) -> bool:
        """Tells whether there may be parallel edges."""
        return True

    def touch_pair(self, source: Any, target: Any) -> None:
        """Notes that edges may be changed."""
        self.touched_pairs[(source, target)] = True

    def need(self, node: Any) -> None:
        """Refuses a node that is not there."""
        if node not in self.attributes:
            raise KeyError(str(node))

    def add_node(self, node_for_adding: Any, **attr: Any) -> None:
        """Adds a node or updates it."""
        self.put_node(node_for_adding, attr)

    def put_node(self, node: Any, attributes: Any) -> None:
        """Adds a node or updates it; the attributes' names need not be identifiers."""
        if node is None:
            raise ValueError("None cannot be a node")
        self.touched_nodes[node] = True
        if node not in self.attributes:
            self.attributes[node] = {}
            self.after[node] = {}
            self.before[node] = {}
        old = self.attributes[node]
        old.update(kg_again(str(node), old, dict(attributes)))

    def add_nodes_from(self, nodes_for_adding: Any, **attr: Any) -> None:
        """Adds nodes, each a key or a pair of key and attributes."""
        for entry in nodes_for_adding:
            if isinstance(entry, tuple) and kg_len(entry) == 2 and isinstance(entry[1], dict):
                self.put_node(entry[0], {**attr, **entry[1]})
            else:
                self.put_node(entry, attr)

    def add_edge(self, u_for_edge: Any, v_for_edge: Any, key: Any = None, **attr: Any) -> Any:
        """Adds an edge, or gives the key of the one that says the same already."""
        return self.put_edge(u_for_edge, v_for_edge, key, attr)

    def put_edge(self, source: Any, target: Any, key: Any, attributes: Any) -> Any:
        """Adds or updates one edge; the attributes' names need not be identifiers."""
        return kg_put_edge(self, source, target, key, attributes)

    def was_there(self, source: Any, target: Any, key: Any) -> bool:
        """Tells whether an edge is from before the script and was not stated again yet."""
        return self.settled and (source, target, key) not in self.fresh

    def add_edges_from(self, ebunch_to_add: Any, **attr: Any) -> list[Any]:
        """Adds edges, each a tuple of two to four."""
        keys = []
        for edge in ebunch_to_add:
            key, data = kg_edge_parts(list(edge)[2:])
            keys.append(self.put_edge(edge[0], edge[1], key, {**attr, **data}))
        return keys

    def remove_node(self, n: Any) -> None:
        """Takes a node out with its edges."""
        self.need(n)
        for target in list(self.after[n]):
            self.drop_pair(n, target)
        for source in list(self.before[n]):
            self.drop_pair(source, n)
        self.touched_nodes[n] = True
        self.attributes.pop(n)
        self.after.pop(n)
        self.before.pop(n)

    def drop_pair(self, source: Any, target: Any) -> None:
        """Takes all edges from one node to another out."""
        kg_drop_pair(self, source, target)

    def remove_nodes_from(self, nodes: Any) -> None:
        """Takes those of some nodes out that are there."""
        for node in list(nodes):
            if node in self.attributes:
                self.remove_node(node)

    def remove_edge(self, u: Any, v: Any, key: Any = None) -> None:
        """Takes one edge out: the one with this key or type, else the newest."""
        kg_remove_edge(self, u, v, key)

    def remove_edges_from(self, ebunch: Any) -> None:
        """Takes those of some edges out that are there."""
        for edge in list(ebunch):
            if self.has_edge(*list(edge)[:3]):
                self.remove_edge(*list(edge)[:3])

    def clear(self) -> None:
        """Takes everything out."""
        self.remove_nodes_from(list(self.attributes))

    def clear_edges(self) -> None:
        """Takes every edge out."""
        for source, targets in self.after.items():
            for target in list(targets):
                self.drop_pair(source, target)

    def has_node(self, n: Any) -> bool:
        """Tells whether a node is there."""
        return n in self.attributes

    def has_edge(self, u: Any, v: Any, key: Any = None) -> bool:
        """Tells whether an edge is there, by key or type where one is given."""
        if u not in self.after or v not in self.after[u]:
            return False
        return key is None or KgParallel(self, u, v).find(key) in self.after[u][v]

    def get_edge_data(self, u: Any, v: Any, key: Any = None, default: Any = None) -> Any:
        """Gives the attributes of one edge, or of all between two nodes by key."""
        if not self.has_edge(u, v, key):
            return default
        edges = KgParallel(self, u, v)
        return edges if key is None else edges[key]

    def successors(self, n: Any) -> Any:
        """Gives the nodes that edges lead to."""
        self.need(n)
        return iter(list(self.after[n]))

    def predecessors(self, n: Any) -> Any:
        """Gives the nodes that edges come from."""
        self.need(n)
        return iter(list(self.before[n]))

    def neighbors(self, n: Any) -> Any:
        """Gives the nodes that edges lead to."""
        return self.successors(n)

    def nbunch_iter(self, nbunch: Any = None) -> Any:
        """Gives those of some nodes that are there; all by default."""
        if nbunch is None:
            return iter(list(self.attributes))
        try:
            found = [nbunch] if isinstance(nbunch, str) or nbunch in self.attributes else list(nbunch)
        except TypeError:
            found = list(nbunch)
        return iter([node for node in found if node in self.attributes])

    def number_of_nodes(self) -> int:
        """Counts the nodes."""
        return kg_len(self.attributes)

    def order(self) -> int:
        """Counts the nodes."""
        return kg_len(self.attributes)

    def number_of_edges(self, u: Any = None, v: Any = None) -> int:
        """Counts the edges, all or those between two nodes."""
        if u is None:
            return self.edges.size()
        return kg_len(self.after[u].get(v, {})) if u in self.after else 0

    def copy(self) -> Any:
        """Gives an independent copy."""
        return kg_copy(self, None, self.undirected)

    def subgraph(self, nodes: Any) -> Any:
        """Gives a copy with some of the nodes only."""
        return kg_copy(self, dict.fromkeys(self.nbunch_iter(list(nodes)), True), self.undirected)

    def to_undirected(self) -> Any:
        """Gives a copy whose edges may be followed both ways."""
        return kg_copy(self, None, True)
