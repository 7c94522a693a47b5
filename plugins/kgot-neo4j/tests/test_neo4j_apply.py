"""Neutral elements in and out of the real server, and what the guide shows."""

from __future__ import annotations

import datetime

import pytest

from kgot_core.contracts.backend import Call
from kgot_core.errors import QueryError
from kgot_core.graph.elements import Edge, GraphChange, Node
from kgot_core.graph.fold import TaskGraph
from kgot_core.graph.values import Iri, LangText, TypedText

pytestmark = pytest.mark.xdist_group("neo4j")


def test_a_name_with_a_backslash_stays_as_it_is(graph):
    graph.apply(Node("x1", ("a\\u0041", "\\")), Edge("x2", "\\u0060 b", "x1", "x1"))
    assert (set(graph.snapshot.nodes[0].labels), graph.snapshot.edges[0].type) == ({"a\\u0041", "\\"}, "\\u0060 b")
    graph.backend.apply(GraphChange(changed=(Node("x1", ("b\\u0042",)),)), graph.call())
    assert graph.snapshot.nodes[0].labels == ("b\\u0042",)


def test_every_kind_of_value_comes_back(graph):
    values = {
        "name": "x",
        "inf": float("inf"),
        "lang": LangText("chat", "fr"),
        "typed": TypedText("1952", "http://www.w3.org/2001/XMLSchema#gYear"),
        "iri": Iri("http://example.org/a"),
        "mixed": ("a", 1, True, Iri("http://example.org/b")),
        "none": (),
        "date": datetime.date(1952, 2, 29),
        "time": datetime.time(10, 30, tzinfo=datetime.timezone(datetime.timedelta(hours=2))),
        "moment": datetime.datetime(2020, 1, 1, 12, 0, 0, 5, tzinfo=datetime.UTC),
        "a.b `c": "odd name",
    }
    graph.apply(Node("x1", ("A b`c", "B"), values), Edge("x2", "T y`p", "x1", "x1", {"k": (1, 2)}))
    (node,) = graph.snapshot.nodes
    assert node.same_as(Node("x1", node.labels, dict(values))) and set(node.labels) == {"A b`c", "B"}
    assert graph.snapshot.edges[0].same_as(Edge("x2", "T y`p", "x1", "x1", {"k": (1, 2)}))
    assert graph.query("MATCH (n {name: 'x'}) RETURN n.lang AS a, n.mixed AS b, n.iri AS c") == [
        {"a": "chat", "b": ["a", "1", "true", "http://example.org/b"], "c": "http://example.org/a"}
    ]
    # What a statement writes later counts, not what stands beside it.
    graph.write("MATCH (n {name: 'x'}) SET n.lang = 'cat'")
    assert graph.snapshot.nodes[0].properties["lang"] == "cat"


def test_what_cannot_be_held_is_named_and_changes_nothing(graph):
    good = Node("x1", ("A",), {"name": "x"})
    for bad, said in (
        (Node("x2", ("",), {"name": "y"}), "the node y: '' cannot be a label"),
        (Node("x2", ("_KGOT",), {"name": "y"}), "cannot be a label"),
        (Node("x2", (), {"name": "y", "": 1}), "a property cannot be named"),
        (Edge("x2", "", "x1", "x1"), "cannot be a type"),
        (Edge("x2", "T", "x1", "missing"), "a node that is not there: missing"),
        (Edge("x1", "T", "x1", "x1"), "has the id of a node"),
        (Node("x2", (), {"name": "\ud800"}), "half a character"),
    ):
        with pytest.raises(QueryError, match=said):
            graph.apply(good, bad)
        assert not graph.nodes


def test_a_node_with_a_key_only_gets_a_name(graph):
    graph.apply(Node("x1", ("City",), {"size": 3}, "Porto"), Node("x2", ("Film",), {"title": "L"}, "film"))
    assert graph.nodes == [(("City",), {"name": "Porto", "size": 3}), (("Film",), {"title": "L"})]
    assert graph.write("MERGE (c:City {name: 'Porto', size: 4})").changed[0].id == "x1"


def test_elements_are_replaced_moved_and_removed(graph):
    graph.apply(Node("a", ("A",), {"name": "a", "old": 1}), Node("b", ("B",), {"name": "b"}), Edge("e", "T", "a", "b"))
    graph.apply(Node("a", ("A2",), {"name": "a"}), Edge("e", "U", "b", "a", {"k": 1}))
    assert graph.nodes == [(("A2",), {"name": "a"}), (("B",), {"name": "b"})]
    assert graph.edges == [("b", "U", "a", {"k": 1})]
    change = graph.write("MATCH (a:A2)<-[u:U]-() SET u.k = 2 MERGE (c:C {name: 'c'})")
    assert [e.id for e in change.changed] == ["e"] and change.added[0].id == "n1"
    graph.apply(removed=("a", "never-there"))
    assert [node.id for node in graph.snapshot.nodes] == ["b", "n1"] and not graph.edges
    graph.apply(Node("a", ("A",), {"name": "again"}), removed=("b",))
    assert [node.id for node in graph.snapshot.nodes] == ["n1", "a"]


def test_many_elements(graph):
    nodes = [Node(f"x{i}", ("P",), {"name": f"N {i}"}) for i in range(3_000)]
    edges = [Edge(f"y{i}", "T", f"x{i}", f"x{i * 7 % 3_000}") for i in range(3_000)]
    graph.backend.apply(GraphChange((*nodes, *edges)), Call("many", 60))
    assert len(graph.write("MERGE (q:Q {name: 'new'}) MERGE (p:P {name: 'N 5'}) MERGE (q)-[:T]->(p)").added) == 2
    found = graph.snapshot
    assert (len(found.nodes), len(found.edges)) == (3_001, 3_001)
    assert {e.id for e in found.nodes} >= {node.id for node in nodes}


def test_what_the_guide_names_is_so(graph):
    graph.write('MERGE (a:Label {name: "key"}) SET a.year = 1 MERGE (a)-[:TYPE {year: 1}]->(a)')
    guide = graph.backend.dialect.guide
    state = TaskGraph(graph.snapshot)
    for line in graph.backend.dialect.lines(state, state):
        assert f"`{line}`" in guide
    assert '`MATCH (x:Label {name: "key"})`' in guide
    for statement in (
        'MATCH (x:Label {name: "key"}) SET x.year = 2',
        'MATCH (x:Label {name: "key"}) DETACH DELETE x',
    ):
        assert f"`{statement}`" in guide and graph.write(statement)
    assert not graph.nodes
