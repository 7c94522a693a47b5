"""Graph analytics on a snapshot of any backend."""

from __future__ import annotations

import datetime
import json
import sys

import pytest

from kgot_core.errors import UsageError
from kgot_core.graph.elements import Edge, GraphSnapshot, Node
from kgot_networkx.analyze import analyze, to_networkx

SNAPSHOT = GraphSnapshot(
    nodes=(
        Node("1", ("Person",), {"name": "Ada", "born": datetime.date(1815, 12, 10)}),
        Node("2", ("Person", "Writer"), {"name": "Ben"}),
        Node("3", ("Place",), {"name": "Orm"}, key="orm"),
        Node("4", (), {"name": "Alone"}),
        Node("5", ("Person",), {"name": "Ada"}),
    ),
    edges=(
        Edge("6", "KNOWS", "1", "2", {"since": 1830}),
        Edge("7", "KNOWS", "1", "2", {"since": 1840}),
        Edge("8", "LIVES_IN", "2", "3"),
        Edge("9", "LIVES_IN", "1", "3"),
        Edge("10", "KNOWS", "5", "1"),
    ),
)


def test_a_snapshot_as_networkx_graph():
    graph = to_networkx(SNAPSHOT)
    assert list(graph) == ["Ada", "Ben", "orm", "Alone", "Ada (Person)"]
    assert graph.nodes["Ada"] == {"label": "Person", "name": "Ada", "born": datetime.date(1815, 12, 10)}
    assert graph.nodes["Ben"]["labels"] == ["Person", "Writer"]
    assert [data["since"] for data in graph["Ada"]["Ben"].values()] == [1830, 1840]
    assert graph.number_of_edges() == 5 and graph.is_multigraph() and graph.is_directed()


def test_measures():
    found = analyze(SNAPSHOT)
    json.dumps(found, allow_nan=False)
    assert (found["nodes"], found["edges"]) == (5, 5)
    assert found["labels"] == {"Person": 3, "Place": 1, "Writer": 1}
    assert found["types"] == {"KNOWS": 3, "LIVES_IN": 2}
    assert found["degree_centrality"][0] == {"node": "Ada", "value": 1.0}
    assert found["betweenness_centrality"][0]["node"] == "Ada"
    assert found["components"] == {"count": 2, "sizes": [4, 1]}
    assert found["clustering"] == {"average": pytest.approx(0.466667), "transitivity": 0.6}
    assert "shortest_path" not in found


def test_paths_follow_the_direction_where_they_can():
    path = analyze(SNAPSHOT, "ada (person)", "Orm")["shortest_path"]
    assert path["nodes"] == ["Ada (Person)", "Ada", "orm"] and path["directed"] is True
    assert path["steps"][1] == {"source": "Ada", "target": "orm", "types": ["LIVES_IN"]}
    back = analyze(SNAPSHOT, "orm", "Ben")["shortest_path"]
    assert back["directed"] is False and back["steps"] == [{"source": "Ben", "target": "orm", "types": ["LIVES_IN"]}]
    assert "no path" in analyze(SNAPSHOT, "Alone", "Ben")["shortest_path"]


@pytest.mark.parametrize(
    ("source", "target", "said"), [("Ada", None, "two nodes"), ("Nobody", "Ben", "no node"), ("adA", "Ben", "several")]
)
def test_wrong_names_are_said(source, target, said):
    with pytest.raises(UsageError, match=said):
        analyze(SNAPSHOT, source, target)


def test_an_empty_graph_and_a_large_one():
    assert analyze(GraphSnapshot())["components"] == {"count": 0, "sizes": []}
    nodes = tuple(Node(f"n{number}", (), {"name": f"x{number}"}) for number in range(700))
    edges = tuple(Edge(f"e{number}", "T", "n0", f"n{number}") for number in range(1, 700))
    found = analyze(GraphSnapshot(nodes, edges))
    assert len(found["degree_centrality"]) == 10 and found["degree_centrality"][0]["node"] == "x0"
    assert found == analyze(GraphSnapshot(nodes, edges))


def test_a_missing_numpy_is_said(monkeypatch):
    monkeypatch.setitem(sys.modules, "numpy", None)
    assert "numpy" in analyze(SNAPSHOT)["pagerank"]


def test_pagerank_with_numpy():
    pytest.importorskip("numpy")
    pytest.importorskip("scipy")
    assert analyze(SNAPSHOT)["pagerank"][0]["node"] == "orm"
