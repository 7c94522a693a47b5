"""The ``nx`` of a sandbox with a part of Python: paths, components and what else is short to write."""

from typing import Any

from kgot_networkx.jail.subset_adjacency import kg_len
from kgot_networkx.jail.subset_graph import KgGraph, kg_copy

KG_ERRORS = (KeyError, ValueError)


def kg_neighbours(graph: Any, node: Any, backwards: bool) -> list[Any]:
    """Gives the nodes one step away."""
    return list(graph.before[node]) if backwards else list(graph.after[node])


def kg_reach(graph: Any, start: Any, both: bool, backwards: bool) -> dict[Any, Any]:
    """Gives every node that can be reached, with the node before it on a shortest way."""
    graph.need(start)
    came: dict[Any, Any] = {start: None}
    wave = [start]
    while wave:
        following = []
        for node in wave:
            others = kg_neighbours(graph, node, backwards)
            if both:
                others = others + kg_neighbours(graph, node, not backwards)
            for other in others:
                if other not in came:
                    came[other] = node
                    following.append(other)
        wave = following
    return came


def kg_shortest_path(G: Any, source: Any, target: Any, weight: Any = None, method: Any = None) -> list[Any]:
    """Gives the nodes of a shortest path."""
    if weight is not None:
        raise ValueError("shortest_path takes no weight here")
    came = kg_reach(G, source, False, False)
    G.need(target)
    if target not in came:
        raise ValueError(f"No path between {source} and {target}.")
    path = [target]
    while path[-1] != source:
        path.append(came[path[-1]])
    return path[::-1]


def kg_shortest_path_length(G: Any, source: Any, target: Any, weight: Any = None) -> int:
    """Gives the number of edges of a shortest path."""
    return kg_len(kg_shortest_path(G, source, target, weight)) - 1


def kg_has_path(G: Any, source: Any, target: Any) -> bool:
    """Tells whether there is a path."""
    G.need(target)
    return target in kg_reach(G, source, False, False)


def kg_all_simple_paths(G: Any, source: Any, target: Any, cutoff: Any = None) -> list[Any]:
    """Gives the paths without a repeated node, at most ten thousand."""
    G.need(source)
    G.need(target)
    longest = kg_len(G.attributes) - 1 if cutoff is None else cutoff
    paths: list[Any] = []
    open_paths = [[source]]
    while open_paths and kg_len(paths) < 10_000:
        path = open_paths.pop()
        if path[-1] == target and kg_len(path) > 1:
            paths.append(path)
            continue
        if kg_len(path) <= longest:
            others = [other for other in kg_neighbours(G, path[-1], False) if other not in path]
            open_paths.extend([[*path, other] for other in others[::-1]])
    return paths


def kg_descendants(G: Any, source: Any) -> set[Any]:
    """Gives the nodes that can be reached from a node."""
    return set(kg_reach(G, source, False, False)) - {source}


def kg_ancestors(G: Any, source: Any) -> set[Any]:
    """Gives the nodes from which a node can be reached."""
    return set(kg_reach(G, source, False, True)) - {source}


def kg_components(G: Any) -> list[Any]:
    """Gives the sets of nodes that hang together, whatever the direction."""
    seen: dict[Any, bool] = {}
    found = []
    for node in G.attributes:
        if node not in seen:
            part = list(kg_reach(G, node, True, False))
            found.append(set(part))
            for member in part:
                seen[member] = True
    return found


def kg_component_count(G: Any) -> int:
    """Counts the components."""
    return kg_len(kg_components(G))


def kg_is_connected(G: Any) -> bool:
    """Tells whether there is one component only."""
    return kg_component_count(G) == 1


def kg_degree_centrality(G: Any) -> dict[Any, float]:
    """Gives each node's degree as a share of the other nodes."""
    others = kg_len(G.attributes) - 1
    share = 1 / others if others > 0 else 0
    return {node: (degree * share if share else 1) for node, degree in G.degree}


def kg_get_node_attributes(G: Any, name: Any, default: Any = None) -> dict[Any, Any]:
    """Gives one attribute of every node that has it."""
    found = {node: attributes.get(name, default) for node, attributes in G.attributes.items()}
    return {node: value for node, value in found.items() if value is not None}


def kg_new(graph: Any, undirected: bool) -> Any:
    """Gives a new graph, empty or a copy."""
    return KgGraph(undirected) if graph is None else kg_copy(graph, None, undirected)


def kg_new_directed(incoming_graph_data: Any = None) -> Any:
    """Gives a new directed graph."""
    return kg_new(incoming_graph_data, False)


def kg_new_undirected(incoming_graph_data: Any = None) -> Any:
    """Gives a new graph whose edges may be followed both ways."""
    return kg_new(incoming_graph_data, True)


class KgNetworkx:
    """``nx``."""

    def __init__(self) -> None:
        self.DiGraph = self.MultiDiGraph = kg_new_directed
        self.Graph = self.MultiGraph = kg_new_undirected
        self.NetworkXError = self.NetworkXNoPath = self.NodeNotFound = KG_ERRORS
        self.shortest_path = kg_shortest_path
        self.shortest_path_length = kg_shortest_path_length
        self.has_path = kg_has_path
        self.all_simple_paths = kg_all_simple_paths
        self.descendants = kg_descendants
        self.ancestors = kg_ancestors
        self.connected_components = self.weakly_connected_components = kg_components
        self.number_connected_components = self.number_weakly_connected_components = kg_component_count
        self.is_connected = self.is_weakly_connected = kg_is_connected
        self.degree_centrality = kg_degree_centrality
        self.get_node_attributes = kg_get_node_attributes
