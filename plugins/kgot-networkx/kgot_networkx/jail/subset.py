"""Fills the graph of a sandbox with a part of Python from the host's text, and tells a script's change."""

import json
from typing import Any

from kgot_networkx.jail.report import kg_report
from kgot_networkx.jail.rows import kg_rows
from kgot_networkx.jail.subset_adjacency import KgNeighbours, KgParallel, KgTable
from kgot_networkx.jail.subset_graph import KgGraph
from kgot_networkx.jail.subset_views import KgDegree, KgEdges, KgNodes
from kgot_networkx.jail.values import kg_decode

KG_SIZED = (KgGraph, KgNodes, KgEdges, KgDegree, KgTable, KgNeighbours, KgParallel)


def kg_typed(text: str, tagged: Any) -> str:
    """Gives an IRI or a typed literal as its text; the host knows what it was."""
    return text


def kg_graph(text: str) -> KgGraph:
    """Makes ``G`` from what ``kgot_networkx.subset_state`` wrote."""
    graph = KgGraph()
    state = json.loads(text)
    graph.attributes = state["nodes"]
    graph.after = {node: {} for node in graph.attributes}
    graph.before = {node: {} for node in graph.attributes}
    after = graph.after
    before = graph.before
    for source, target, key, attributes in state["edges"]:
        targets = after[source]
        if target in targets:
            targets[target][key] = attributes
        else:
            before[target][source] = targets[target] = {key: attributes}
    for attributes in [graph.attributes[key] for key in state["odd_nodes"]]:
        kg_restore(attributes)
    for index in state["odd_edges"]:
        kg_restore(state["edges"][index][3])
    graph.known = dict.fromkeys(graph.attributes, True)
    graph.settled = True
    return graph


def kg_restore(attributes: dict[str, Any]) -> None:
    """Turns the JSON forms of dates and their kind into values."""
    for name in list(attributes):
        attributes[name] = kg_decode(attributes[name], kg_typed)


def kg_change(first: KgGraph, graph: Any) -> dict[str, Any]:
    """Gives what a script did to the graph, which it may have put a new one in place of."""
    if not isinstance(graph, KgGraph) or graph.undirected:
        raise ValueError("G must stay the directed graph that it is")
    nodes = dict(first.touched_nodes)
    pairs = dict(first.touched_pairs)
    if graph is not first and first.attributes and not [node for node in first.attributes if node in graph.attributes]:
        raise ValueError("a new G would drop the whole graph; add to the G that is there (G.clear() empties it)")
    if graph is not first or first.all_nodes_touched:
        nodes.update(dict.fromkeys([*first.attributes, *graph.attributes], True))
    if graph is not first or first.all_pairs_touched:
        for side in (first, graph):
            for source, targets in side.after.items():
                pairs.update(dict.fromkeys([(source, target) for target in targets], True))
    return kg_report(graph.attributes, graph.after, nodes, pairs, first.known)


def kg_query(first: KgGraph, text: str, result: Any, last: Any, limit: int) -> dict[str, Any]:
    """Gives a query's rows, and what it may have done to the graph that it was given."""
    rows = kg_rows(result, last, limit)
    before = kg_graph(text)
    if before.attributes != first.attributes or before.after != first.after:
        rows["report"] = kg_change(first, first)
    return rows
