"""Neutral elements that come in: facts, restore, undo; and what scripts then see of them."""

from __future__ import annotations

import datetime

import pytest

from kgot_core.errors import QueryError
from kgot_core.graph.elements import Edge, GraphChange, GraphSnapshot, Node
from kgot_core.graph.values import Iri, LangText, TypedText


def test_nodes_without_a_key_are_called_by_their_name(graph):
    graph.apply(
        Node("f1", ("City",), {"name": "Orm"}),
        Node("f2", ("Person",), {"name": "Orm"}),
        Node("f3", ("Person",), {"name": "Orm"}),
        Node("f4", ("Ship",), {}),
        Node("f5", (), {"title": "Log", "pages": 3}),
        Node("f6", (), {}),
        Edge("f7", "AT", "f4", "f1", {"day": datetime.date(1871, 2, 3)}),
    )
    assert [node.key for node in graph.snapshot.nodes] == [
        "Orm",
        "Orm (Person)",
        "Orm (Person) 2",
        "Ship",
        "Log",
        "node",
    ]
    assert [node.id for node in graph.snapshot.nodes] == [f"f{number}" for number in range(1, 7)]
    assert graph.query('result = [(v, d["day"]) for _, v, d in G.out_edges("Ship", data=True)]') == [
        {"result": ["Orm", "1871-02-03"]}
    ]
    change = graph.write('G.nodes["Orm (Person)"]["age"] = 40')
    assert [node.id for node in change.changed] == ["f2"]


def test_a_node_keeps_the_key_it_brings_unless_another_has_it(graph):
    graph.apply(Node("x", (), {"name": "n"}, key="Orm"))
    graph.apply(Node("y", ("Port",), {}, key="Orm"), Node("z", (), {"name": "Orm"}))
    assert {node.id: node.key for node in graph.snapshot.nodes} == {"x": "Orm", "y": "Orm (Port)", "z": "Orm 2"}
    graph.apply(Node("x", (), {"name": "again"}))
    assert graph.nodes["Orm"] == ((), {"name": "again"})
    graph.apply(Node("x", (), {"name": "moved"}, key="Sarn"), Node("z", (), {"n": 1}, key="Orm"))
    assert {node.id: node.key for node in graph.snapshot.nodes} == {"x": "Sarn", "y": "Orm (Port)", "z": "Orm"}
    assert graph.query("result = sorted(G.nodes)") == [{"result": "Orm"}, {"result": "Orm (Port)"}, {"result": "Sarn"}]


def test_a_renamed_node_keeps_its_edges(graph):
    graph.write('G.add_edge("a", "b", type="T", n=1)\nG.add_edge("c", "a", type="T")')
    first = graph.snapshot.nodes[0]
    graph.apply(Node(first.id, (), {"name": "x"}, key="new"))
    assert graph.edges == [("c", "T", "new", {}), ("new", "T", "b", {"n": 1})]
    assert graph.query("result = sorted(G.edges())") == [{"result": ["c", "new"]}, {"result": ["new", "b"]}]


def test_known_elements_are_replaced_and_removed(graph):
    graph.apply(
        Node("a", ("X",), {"p": 1, "q": 2}), Node("b", (), {"p": 1}), Edge("e", "T", "a", "b"), Edge("f", "T", "a", "b")
    )
    graph.backend.apply(
        GraphChange(changed=(Node("a", ("Y",), {"p": 3}), Edge("e", "U", "b", "a", {"w": 1})), removed=("f",)),
        graph.call(),
    )
    assert graph.nodes == {"X": (("Y",), {"p": 3}), "1": ((), {"p": 1})} or list(graph.nodes.values()) == [
        (("Y",), {"p": 3}),
        ((), {"p": 1}),
    ]
    assert [(edge.id, edge.type, edge.source, edge.properties) for edge in graph.snapshot.edges] == [
        ("e", "U", "b", {"w": 1})
    ]
    assert graph.query("result = [(G.number_of_edges(), len(list(G.nodes)))]") == [{"result": [1, 2]}]
    graph.apply(removed=("a", "unknown"))
    assert len(graph.snapshot.nodes) == 1 and not graph.snapshot.edges
    assert graph.query("result = G.number_of_edges()") == [{"result": 0}]


def test_an_edge_without_its_node_is_refused_and_nothing_is_changed(graph):
    graph.apply(Node("a", (), {"n": 1}))
    before = graph.snapshot
    with pytest.raises(QueryError, match=r"LOST.*not there"):
        graph.apply(Node("b", (), {"n": 2}), Edge("e", "LOST", "a", "zz"))
    with pytest.raises(QueryError, match="id of a node"):
        graph.apply(Edge("a", "T", "a", "a"))
    assert graph.snapshot == before


def test_the_same_call_is_applied_once(graph):
    call = graph.call()
    graph.backend.apply(GraphChange(added=(Node("a", (), {"n": 1}),)), call)
    graph.backend.apply(GraphChange(removed=("a",)), call)
    assert len(graph.snapshot.nodes) == 1


def test_new_ids_do_not_meet_those_that_were_brought(graph):
    graph.apply(Node("n90000", (), {}, key="a"), Node("x", (), {}, key="b"), Edge("e80000", "T", "n90000", "x"))
    change = graph.write('G.add_node("c", n=1)\nG.add_node("d", n=1)\nG.add_edge("c", "d", type="T")')
    assert [element.id for element in change.added] == ["n90001", "n90002", "e80001"]


def test_a_restored_graph_is_the_same_graph(graph):
    graph.write(
        'G.add_node("a", label="X", tags=["p", "q"], n=1.5)\nG.add_edge("a", "b", "K", w=1)\n'
        'G.add_edge("a", "b", type="K", w=1)\n'
        'G.add_edge("a", "b", type="K", w=2)\nG.add_node("b", labels=["Y", "Z"])'
    )
    kept = graph.snapshot
    seen = graph.query("result = [list(G.nodes(data=True)), list(G.edges(keys=True, data=True))]")
    graph.apply(removed=tuple(node.id for node in kept.nodes))
    assert graph.snapshot == GraphSnapshot()
    graph.apply(*kept.elements())
    assert graph.snapshot == kept
    assert graph.query("result = [list(G.nodes(data=True)), list(G.edges(keys=True, data=True))]") == seen


def test_properties_that_look_like_labels_and_types_survive(graph):
    given = Node("a", ("Thing",), {"label": "Ada", "labels": ("x",), "label_": 1}, key="k")
    edge = Edge("e", "T", "a", "a", {"type": "odd", "type_": 2, "label": "plain"})
    graph.apply(given, edge)
    change = graph.write('G.nodes["k"]["seen"] = True\nfor u, v, d in G.edges(data=True):\n    d["seen"] = True')
    assert change.changed[0].properties == {**given.properties, "seen": True} and change.changed[0].labels == ("Thing",)
    assert change.changed[1].properties == {**edge.properties, "seen": True} and change.changed[1].type == "T"


def test_values_of_other_stores_keep_their_kind(graph):
    properties = {
        "home": Iri("http://kg.example/a"),
        "word": LangText("chat", "fr"),
        "years": (TypedText("1871", "http://www.w3.org/2001/XMLSchema#gYear"), 5),
    }
    graph.apply(Node("a", (), properties, key="k"))
    assert graph.query('d = G.nodes["k"]\nresult = [d["home"][:4], d["word"] + "s", d["years"]]') == [
        {"result": "http"},
        {"result": "chats"},
        {"result": ["1871", 5]},
    ]
    change = graph.write('G.nodes["k"]["n"] = 1')
    assert change.changed[0].properties == {**properties, "n": 1}


def test_a_node_that_says_nothing_stays_so_when_it_was_given(graph):
    graph.apply(Node("a", (), {}, key="k"))
    graph.write('G.add_edge("k", "other", type="T")')
    assert graph.nodes["k"] == ((), {})
