"""Adding and removing edges in a sandbox with a part of Python."""

from typing import Any

from kgot_networkx.jail.subset_adjacency import KgParallel, kg_len
from kgot_networkx.jail.values import kg_edge, kg_key


def kg_same_edge(source: Any, target: Any, key: Any, new: Any, known: Any, old: Any) -> bool:
    """Tells whether two edges have the same type and properties."""
    try:
        pair = (kg_key(source), kg_key(target))
        return kg_edge(pair[0], pair[1], key, new) == kg_edge(pair[0], pair[1], known, old)
    except ValueError:
        return False


def kg_put_edge(graph: Any, source: Any, target: Any, key: Any, attributes: Any) -> Any:
    """Adds or updates one edge; one that was there before the script is not added again with equal content."""
    for node in (source, target):
        if node not in graph.attributes:
            graph.put_node(node, {})
    edges = graph.after[source].setdefault(target, {})
    graph.before[target][source] = edges
    if graph.undirected:
        graph.after[target][source] = edges
        graph.before[source][target] = edges
    graph.touch_pair(source, target)
    key = KgParallel(graph, source, target).find(key)
    if key is None or (isinstance(key, str) and key not in edges):
        for known, old in edges.items():
            if graph.was_there(source, target, known) and kg_same_edge(source, target, key, attributes, known, old):
                graph.fresh[(source, target, known)] = True
                return known
    if key is None:
        key = kg_len(edges)
        while key in edges:
            key += 1
    if key not in edges:
        graph.fresh[(source, target, key)] = True
        edges[key] = {}
    edges[key].update(attributes)
    return key


def kg_edge_parts(rest: list[Any]) -> tuple[Any, Any]:
    """Gives key and attributes from what follows the two nodes in an edge's tuple."""
    if kg_len(rest) == 2:
        return rest[0], rest[1]
    if not rest:
        return None, {}
    return (None, rest[0]) if isinstance(rest[0], dict) else (rest[0], {})


def kg_drop_pair(graph: Any, source: Any, target: Any) -> None:
    """Takes all edges from one node to another out."""
    graph.touch_pair(source, target)
    graph.after[source].pop(target)
    graph.before[target].pop(source, None)
    if graph.undirected:
        graph.after[target].pop(source, None)
        graph.before[source].pop(target, None)


def kg_remove_edge(graph: Any, u: Any, v: Any, key: Any) -> None:
    """Takes one edge out: the one with this key or type, else the newest."""
    if u not in graph.after or v not in graph.after[u]:
        raise KeyError(f"The edge {u}-{v} is not in the graph.")
    edges = graph.after[u][v]
    found = list(edges)[-1] if key is None else KgParallel(graph, u, v).find(key)
    if found not in edges:
        raise KeyError(f"The edge {u}-{v} with key {key} is not in the graph.")
    graph.touch_pair(u, v)
    edges.pop(found)
    if not edges:
        kg_drop_pair(graph, u, v)
