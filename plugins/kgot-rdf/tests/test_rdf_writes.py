"""Writes: what changes is told, several operations are one transaction, and queries see it."""

from __future__ import annotations

import pytest

from kgot_core.errors import QueryError
from kgot_core.graph.elements import Edge, Node

TOWERS = """INSERT DATA {
  :North a :Tower ; :name "North" ; :height 61 . :South a :Tower ; :name "South" ; :height 58 .
  :Abbey :HAS_PART :North, :South .
}"""


def test_a_write_makes_nodes_edges_and_properties(graph):
    change = graph.write(TOWERS)
    assert [type(element).__name__ for element in change.added] == ["Node", "Node", "Node", "Edge", "Edge"]
    assert graph.nodes == {
        ":North": (("Tower",), {"name": "North", "height": 61}),
        ":South": (("Tower",), {"name": "South", "height": 58}),
        ":Abbey": ((), {}),
    }
    assert graph.edges == [(":Abbey", "HAS_PART", ":North", {}), (":Abbey", "HAS_PART", ":South", {})]
    assert not graph.write(TOWERS)


def test_a_value_is_corrected_and_the_node_keeps_its_id(graph):
    first = graph.write(TOWERS)
    change = graph.write("DELETE { :North :height ?h } INSERT { :North :height 62 } WHERE { :North :height ?h }")
    (node,) = change.changed
    assert node.id == first.added[0].id and node.properties["height"] == 62
    assert not change.added and not change.removed


def test_later_operations_see_earlier_ones(graph):
    graph.write(TOWERS)
    graph.write(
        "INSERT { ?t :tall true ; :note [ :by :Odo ] } WHERE { ?t :height ?h FILTER(?h > 60) } ;"
        " DELETE { ?t :tall true } INSERT { ?t :kind 'tall' } WHERE { ?t :tall true } ;"
        " DELETE WHERE { ?t :height 58 }"
    )
    assert graph.nodes[":North"][1] == {"name": "North", "height": 61, "kind": "tall"}
    assert graph.nodes[":South"][1] == {"name": "South"}
    assert graph.triples() == 10


@pytest.mark.parametrize(
    "wrong", ["INSERT { ?x :p ?y } WHERE { ?x :p", "INSERT DATA { :a :b }", "DELETE DATA { _:b :c 1 }"]
)
def test_all_or_nothing(graph, wrong):
    graph.write(TOWERS)
    before, count = graph.snapshot, graph.triples()
    with pytest.raises(QueryError):
        graph.write(f"INSERT {{ ?t :seen true }} WHERE {{ ?t a :Tower }} ; {wrong}")
    assert graph.snapshot == before and graph.triples() == count


def test_deleting_and_clearing(graph):
    graph.write(TOWERS)
    graph.write("DELETE WHERE { :North ?p ?o } ; DELETE WHERE { ?s ?p :North }")
    assert set(graph.nodes) == {":South", ":Abbey"}
    graph.write("CLEAR DEFAULT ; INSERT DATA { :x :y 1 }")
    assert graph.nodes == {":x": ((), {"y": 1})} and graph.triples() == 1


def test_a_template_without_where_and_without_variables_is_data(graph):
    graph.write("INSERT { :a :b 1 }")
    assert graph.nodes == {":a": ((), {"b": 1})}
    with pytest.raises(QueryError, match="WHERE"):
        graph.write("INSERT { ?s :b 1 }")


def test_blank_nodes_get_names_that_stay(graph):
    graph.write("INSERT DATA { :Film :shown [ :year 1952 ; :in _:town ] . _:town :name 'Velby' }")
    keys = [key for key in graph.nodes if key.startswith("genid:")]
    assert len(keys) == 2
    assert {graph.nodes[key][1].get("name") or graph.nodes[key][1].get("year") for key in keys} == {1952, "Velby"}
    (row,) = graph.query("SELECT ?t { :Film :shown/:in ?t }")
    graph.write(f"INSERT DATA {{ {row['t']} :size 3 }}")
    assert graph.nodes[row["t"]][1] == {"name": "Velby", "size": 3}


def test_an_edge_gets_properties_by_reification(graph):
    graph.write("INSERT DATA { :Odo :BUILT :Abbey }")
    (edge,) = graph.snapshot.edges
    about = "rdf:subject :Odo ; rdf:predicate :BUILT ; rdf:object :Abbey"
    change = graph.write(f"INSERT DATA {{ [] a rdf:Statement ; {about} ; :years 12 }}")
    assert change.changed == (Edge(edge.id, "BUILT", edge.source, edge.target, {"years": 12}),)
    assert len(graph.snapshot.nodes) == 2
    graph.write(f"INSERT DATA {{ [] a rdf:Statement ; {about} ; :years 13 }}")
    assert [item[3] for item in graph.edges] == [{"years": 12}, {"years": 13}]
    graph.write("DELETE DATA { :Odo :BUILT :Abbey }")
    assert not graph.snapshot.edges and graph.triples() == 0


def test_a_description_brings_its_edge(graph):
    graph.write(
        "INSERT DATA { :s1 a rdf:Statement ; rdf:subject :Odo ; rdf:predicate :BUILT ; rdf:object :Abbey ; :years 12 }"
    )
    assert graph.edges == [(":Odo", "BUILT", ":Abbey", {"years": 12})]
    assert graph.query("ASK { :Odo :BUILT :Abbey }") == [{"result": True}]
    with pytest.raises(QueryError, match="description"):
        graph.write("INSERT DATA { :Odo :said :s1 }")


def test_queries_of_every_form(graph):
    graph.write(TOWERS)
    assert graph.query("ASK { :North :height 61 }") == [{"result": True}]
    assert graph.query("ASK { :North :height 60 }") == [{"result": False}]
    assert graph.query("SELECT ?x { ?x :height 1 }") == []
    assert graph.query("CONSTRUCT { ?x :is ?h } WHERE { ?x :height ?h }") == [
        {"subject": ":North", "predicate": ":is", "object": 61},
        {"subject": ":South", "predicate": ":is", "object": 58},
    ]
    assert {"subject": ":North", "predicate": "rdf:type", "object": ":Tower"} in graph.query("DESCRIBE :North")
    assert graph.query("CONSTRUCT { ?x :is ?h } WHERE { ?x :nothing ?h }") == []
    assert graph.query("SELECT ?x { ?x :height ?h } ORDER BY ?h") == [{"x": ":South"}, {"x": ":North"}]
    assert graph.query("SELECT ?x ?y { ?x :height 61 OPTIONAL { ?x :none ?y } }") == [{"x": ":North", "y": None}]


def test_rows_are_cut_and_the_last_one_says_so(graph):
    graph.write("INSERT DATA { " + " ".join(f":n{number} :value {number} ." for number in range(40)) + " }")
    rows = graph.query("SELECT ?v { ?s :value ?v } ORDER BY ?v", rows=10)
    assert len(rows) == 10 and rows[0] == {"v": 0} and "9 rows" in rows[-1]["note"]
    assert len(graph.query("SELECT ?v { ?s :value ?v }", rows=40)) == 40


def test_an_error_has_the_place_in_the_statement_as_written(graph):
    with pytest.raises(QueryError) as caught:
        graph.query("SELECT ?x WHERE {\n  ?x rdf:type :Tower .\n  ?x :height }")
    assert caught.value.line == 3 and caught.value.column in (13, 14)
    assert "PREFIX" not in caught.value.message and "line" not in caught.value.message


def test_elements_from_elsewhere_keep_their_ids(graph):
    tower = Node("a7", ("Tower",), {"name": "North Tower", "height": 61})
    graph.apply(tower, Node("a8"), Edge("k1", "NEXT TO", "a7", "a8", {"m": 1.5}), Edge("k2", "NEXT TO", "a7", "a8"))
    assert {node.id for node in graph.snapshot.nodes} == {"a7", "a8"}
    assert {edge.id for edge in graph.snapshot.edges} == {"k1", "k2"}
    assert graph.query("SELECT ?h { :North_Tower :height ?h }") == [{"h": 61}]
    graph.apply(changed=(Node("a7", ("Tower",), {"name": "North Tower", "height": 62}),), removed=("k1",))
    assert graph.nodes[":North_Tower"] == (("Tower",), {"name": "North Tower", "height": 62})
    assert [edge.id for edge in graph.snapshot.edges] == ["k2"]
    graph.apply(removed=("a7",))
    assert [node.id for node in graph.snapshot.nodes] == ["a8"] and not graph.snapshot.edges


def test_a_description_never_gets_the_name_of_a_blank_node_that_is_brought(graph):
    graph.apply(Node("n1", ("Hill",), {"name": "a"}, "genid:1"), Node("n2", (), {"name": "b"}, "genid:2"),
                Edge("e1", "NEAR", "n1", "n2", {"km": 3}))  # fmt: skip
    assert graph.nodes == {"genid:1": (("Hill",), {"name": "a"}), "genid:2": ((), {"name": "b"})}
    assert graph.edges == [("genid:1", "NEAR", "genid:2", {"km": 3})]


def test_an_element_that_cannot_be_held_is_named_and_changes_nothing(graph):
    for wrong in (Edge("e1", "TO", "nowhere", "n1"), Node("n2", (), {"text": "\ud800"})):
        with pytest.raises(QueryError):
            graph.apply(Node("n1", (), {"name": "x"}), wrong)
        assert not graph.snapshot.nodes and graph.triples() == 0
