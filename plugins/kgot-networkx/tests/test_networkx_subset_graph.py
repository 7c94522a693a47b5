"""The small graph class of the subset sandbox does what networkx does (run here by CPython, for speed)."""

from __future__ import annotations

import copy
import json
from typing import Any

import networkx as nx
from hypothesis import given, settings
from hypothesis import strategies as st

from kgot_networkx.jail.algorithms import KgNetworkx
from kgot_networkx.jail.full import Workbench
from kgot_networkx.jail.subset import kg_change, kg_graph
from kgot_networkx.reading import read_report
from kgot_networkx.record import GraphRecord
from kgot_networkx.subset_state import subset_state

BASE: dict[str, Any] = {
    "nodes": [
        ["a", ["L"], {"name": "a", "tags": ["x"]}],
        ["b", [], {"day": {"@date": "2020-01-02"}}],
        ["c", ["M"], {}],
    ],
    "pairs": [
        ["a", "b", [[0, "T", {"w": 1}], [1, "T", {"w": 2}]]],
        ["b", "c", [[0, "U", {}]]],
        ["c", "c", [[0, "T", {}]]],
    ],
}
NAMES = st.sampled_from(["a", "b", "c", "d", "e"])
DATA = st.dictionaries(
    st.sampled_from(["n", "type", "w"]), st.one_of(st.integers(0, 2), st.sampled_from(["T", "U"])), max_size=2
)
STEPS = st.lists(
    st.tuples(
        st.sampled_from(
            [
                "add_node",
                "add_nodes",
                "add_edge",
                "add_keyed",
                "add_edges",
                "set",
                "set_edge",
                "drop",
                "drop_edge",
                "drop_type",
                "all",
            ]
        ),
        NAMES,
        NAMES,
        DATA,
    ),
    max_size=10,
)


def do(graph: Any, what: str, node: str, other: str, data: dict[str, Any]) -> None:
    if what == "add_node":
        graph.add_node(node, **data)
    elif what == "add_nodes":
        graph.add_nodes_from([node, (other, data)], w=5)
    elif what == "add_edge":
        graph.add_edge(node, other, **data)
    elif what == "add_keyed":
        graph.add_edge(node, other, "T", **data)
    elif what == "add_edges":
        graph.add_edges_from([(node, other), (other, node, data), (node, node, "U", data)], n=1)
    elif what == "set" and node in graph:
        graph.nodes[node]["n"] = data
    elif what == "set_edge" and graph.has_edge(node, other):
        for key in list(graph[node][other]):
            graph.edges[node, other, key]["w"] = 7
    elif what == "drop":
        graph.remove_nodes_from([node])
    elif what == "drop_edge":
        graph.remove_edges_from([(node, other)])
    elif what == "drop_type" and graph.has_edge(node, other, "T"):
        graph.remove_edge(node, other, "T")
    elif what == "all":
        for _, attributes in graph.nodes(data=True):
            attributes.pop("w", None)
        for *_, attributes in graph.edges(data=True, keys=True):
            attributes["seen"] = True


def views(graph: Any, functions: Any) -> Any:
    nodes = list(graph)
    plain = functions.Graph(graph)
    return {
        "nodes": [list(graph.nodes(data=True)), list(graph.nodes(data="n", default=0)), graph.number_of_nodes()],
        "edges": [
            list(graph.edges(keys=True, data=True)),
            list(graph.edges),
            list(graph.edges("a" if "a" in graph else nodes)),
        ],
        "in": [list(graph.in_edges(node, keys=True)) for node in nodes],
        "near": [[list(graph.successors(node)), list(graph.predecessors(node)), list(graph[node])] for node in nodes],
        "degree": [dict(graph.degree()), dict(graph.in_degree()), [graph.out_degree[node] for node in nodes]],
        "has": [graph.has_edge(left, right, "T") for left in nodes for right in nodes],
        "count": [graph.number_of_edges(left, right) for left in nodes for right in nodes],
        "data": [graph.get_edge_data(left, right, 0) for left in nodes for right in nodes],
        "sub": sorted(graph.subgraph(nodes[:2]).edges()),
        "reach": [
            [sorted(functions.descendants(graph, node)), sorted(functions.ancestors(graph, node))] for node in nodes
        ],
        "parts": sorted(sorted(part) for part in functions.weakly_connected_components(graph)),
        "lengths": [
            functions.shortest_path_length(plain, nodes[0], node) if functions.has_path(plain, nodes[0], node) else None
            for node in nodes
        ],
        # networkx tells a path once more for each parallel edge.
        "paths": [sorted(set(map(tuple, functions.all_simple_paths(graph, node, nodes[0])))) for node in nodes[1:]],
        "central": functions.degree_centrality(graph),
    }


@settings(max_examples=150, deadline=None)
@given(STEPS)
def test_it_shows_and_reports_what_networkx_does(steps):
    bench = Workbench()
    bench.commit({**BASE, "all": True}, 1)
    small = kg_graph(subset_state(BASE))
    for step in steps:
        for graph in (bench.graph, small):
            do(graph, *copy.deepcopy(step))
    assert views(small, KgNetworkx()) == views(bench.graph, nx)
    states = []
    for report in (bench.report(bench.graph, False), kg_change(small, small)):
        record = GraphRecord()
        record.fold(read_report(record, BASE))
        record.fold(read_report(record, json.loads(json.dumps(report))))
        state = record.whole_state()
        states.append([sorted(state["nodes"], key=repr), sorted(state["pairs"], key=repr)])
    assert states[0] == states[1]
