"""A worker and the host's record of it, and what a change does to both."""

from __future__ import annotations

from typing import Any

from kgot_core.graph.elements import GraphSnapshot
from kgot_networkx.jail.full import Workbench
from kgot_networkx.jail.values import kg_edge, kg_node
from kgot_networkx.reading import read_report
from kgot_networkx.record import GraphRecord

BASE = {
    "nodes": [
        ["a", ["L"], {"name": "a", "tags": ["x", "y"], "n": 1}],
        ["b", ["L"], {"name": "b"}],
        ["c", [], {"day": {"@date": "2020-01-02"}}],
        ["d", ["M"], {"name": "d"}],
    ],
    "pairs": [
        ["a", "b", [[0, "T", {"w": 1, "marks": [1, 2]}], [1, "T", {"w": 2}]]],
        ["b", "c", [[0, "U", {}]]],
        ["c", "c", [[0, "LOOP", {"w": 3}]]],
        ["d", "a", [[0, "T", {}]]],
    ],
}


BASE_KEYS = {"a", "b", "c", "d"}


class Double:
    """A worker and the host's record of it, both filled with the same graph."""

    def __init__(self) -> None:
        self.bench = Workbench()
        self.record = GraphRecord()
        self.fold(BASE)

    def fold(self, report: Any) -> None:
        self.record.fold(read_report(self.record, report))
        self.bench.commit(report, 1)


def content(snapshot: GraphSnapshot) -> tuple[Any, Any]:
    keys = {node.id: node.key for node in snapshot.nodes}
    nodes = {node.key: (node.labels, repr(sorted(node.properties.items()))) for node in snapshot.nodes}
    edges = [(keys[e.source], keys[e.target], e.type, repr(sorted(e.properties.items()))) for e in snapshot.edges]
    return nodes, sorted(edges)


def neutral(graph: Any) -> tuple[Any, Any]:
    """The same from a graph itself, without marks, report or record (for graphs with text keys)."""
    record = GraphRecord()
    whole = {
        "nodes": [kg_node(node, data, node not in BASE_KEYS) for node, data in graph.nodes(data=True)],
        "pairs": [
            [u, v, [[place, *kg_edge(u, v, key, data)] for place, (key, data) in enumerate(edges.items())]]
            for u, neighbours in graph.adjacency()
            for v, edges in neighbours.items()
        ],
    }
    record.fold(read_report(record, whole))
    return content(record.snapshot())


def checked(change: Any) -> Any:
    """Runs a change on a worker; its report must lead to the graph as it is, by marks and by comparison alike."""
    reports = []
    for everything in (False, True):
        double = Double()
        graph = change(double.bench.begin(1)) or double.bench.graph
        reports.append(double.bench.report(graph, everything))
        wanted = neutral(graph)
        # The script's process is gone; the worker and the record take the report in.
        after = Double()
        after.fold(reports[-1])
        assert content(after.record.snapshot()) == wanted
        assert neutral(after.bench.graph) == wanted
        assert not read_report(after.record, after.bench.report(after.bench.graph, True)).change
        assert not after.bench.marks
    return reports[0]
