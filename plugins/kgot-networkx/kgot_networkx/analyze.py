"""Graph analytics on a snapshot: sizes, centrality, components, clustering, paths."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from kgot_core.errors import UsageError
from kgot_core.graph.elements import GraphChange, GraphSnapshot
from kgot_core.graph.values import JsonValue
from kgot_networkx.jail.values import kg_edge_attributes, kg_node_attributes
from kgot_networkx.record import GraphRecord
from kgot_networkx.taking import take

if TYPE_CHECKING:
    import networkx as nx

_TOP = 10
_NUMPY = "needs numpy: pip install 'kgot-networkx[analytics]'"
# Betweenness is exact up to this many nodes, above it is estimated from so many of them.
_SAMPLE = 500


def to_networkx(snapshot: GraphSnapshot) -> nx.MultiDiGraph:
    """Gives a snapshot of any backend as a graph, with the nodes and attributes that a script would see.

    Nodes without a key are called by their name, made unique where several have it.
    """
    import networkx as nx

    record = GraphRecord()
    take(record, GraphChange(added=tuple(snapshot.elements())))
    state: Mapping[str, Any] = record.whole_state()
    graph = nx.MultiDiGraph()
    for key, labels, properties in state["nodes"]:
        graph.add_node(key, **kg_node_attributes(labels, properties, _value))
    for source, target, edges in state["pairs"]:
        for key, kind, properties in edges:
            graph.add_edge(source, target, key)
            graph.edges[source, target, key].update(kg_edge_attributes(kind, properties, _value))
    return graph


def analyze(snapshot: GraphSnapshot, source: str | None = None, target: str | None = None) -> dict[str, JsonValue]:
    """Measures a graph.

    Args:
        snapshot: The graph, of any backend.
        source: Key or name of the node where a shortest path begins.
        target: Key or name of the node where it ends.

    Returns:
        JSON values, ready to be printed: ``nodes``, ``edges``, ``labels``, ``types``, ``degree_centrality`` and
        ``betweenness_centrality`` (the ten highest), ``components``, ``clustering``, ``pagerank``, and
        ``shortest_path`` where two nodes are named. What cannot be measured here is a sentence that says why.

    Raises:
        UsageError: Only one node is named, or one that is not in the graph.
    """
    import networkx as nx

    if (source is None) != (target is None):
        raise UsageError("a path needs two nodes, a source and a target")
    graph = to_networkx(snapshot)
    simple = nx.Graph(graph)
    parts = sorted(map(len, nx.weakly_connected_components(graph)), reverse=True)
    sample = min(_SAMPLE, len(graph)) if len(graph) > _SAMPLE else None
    result: dict[str, JsonValue] = {
        "nodes": graph.number_of_nodes(),
        "edges": graph.number_of_edges(),
        "labels": _counted(label for node in snapshot.nodes for label in node.labels),
        "types": _counted(edge.type for edge in snapshot.edges),
        "degree_centrality": _highest(nx.degree_centrality(graph)),
        "betweenness_centrality": _highest(nx.betweenness_centrality(nx.DiGraph(graph), k=sample, seed=0)),
        "components": {"count": len(parts), "sizes": list(parts[:_TOP])},
        "clustering": {
            "average": round(nx.average_clustering(simple), 6) if len(simple) else 0,
            "transitivity": round(nx.transitivity(simple), 6),
        },
        "pagerank": _pagerank(graph),
    }
    if source is not None and target is not None:
        result["shortest_path"] = _path(graph, simple, source, target)
    return result


def _value(text: str, tagged: Mapping[str, str]) -> str:
    return text


def _counted(names: Iterable[str]) -> dict[str, JsonValue]:
    ranked = sorted(Counter(names).items(), key=lambda item: (-item[1], item[0]))
    return {name: count for name, count in ranked}  # noqa: C416 - typed anew


def _highest(values: Mapping[str, float]) -> JsonValue:
    ranked = sorted(values.items(), key=lambda item: (-item[1], item[0]))[:_TOP]
    return [{"node": node, "value": round(value, 6)} for node, value in ranked]


def _pagerank(graph: nx.MultiDiGraph) -> JsonValue:
    import networkx as nx

    try:
        return _highest(nx.pagerank(graph))
    except ImportError:
        return _NUMPY


def _path(graph: nx.MultiDiGraph, simple: nx.Graph, source: str, target: str) -> JsonValue:
    import networkx as nx

    begin, end = _named(graph, source), _named(graph, target)
    for place, directed in ((graph, True), (simple, False)):
        try:
            nodes: list[str] = nx.shortest_path(place, begin, end)
        except nx.NetworkXNoPath:
            continue
        steps: list[JsonValue] = [_step(graph, *pair) for pair in pairwise(nodes)]
        return {"nodes": list(nodes), "length": len(steps), "directed": directed, "steps": steps}
    return f'no path joins "{begin}" and "{end}"'


def _step(graph: nx.MultiDiGraph, left: str, right: str) -> JsonValue:
    source, target = (left, right) if graph.has_edge(left, right) else (right, left)
    types = sorted({str(data["type"]) for data in graph[source][target].values()})
    return {"source": source, "target": target, "types": list(types)}


def _named(graph: nx.MultiDiGraph, wanted: str) -> str:
    if wanted in graph:
        return wanted
    folded = wanted.strip().casefold()
    found = [
        str(node)
        for node, data in graph.nodes(data=True)
        if folded in (str(node).casefold(), str(data.get("name", "")).casefold())
    ]
    if len(found) == 1:
        return found[0]
    if found:
        raise UsageError(f"several nodes are called {wanted!r}: {', '.join(found[:5])}", hint="give the key of one")
    raise UsageError(f"there is no node {wanted!r} in the graph")
