"""Shapes, inference and rules."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kgot_core.contracts.backend import Call, GraphScope, OpenContext
from kgot_core.errors import QueryError, StoreError
from kgot_core.graph.elements import Edge, GraphChange, Node
from kgot_rdf.plugin import check, open_backend, open_remote_backend
from kgot_rdf.settings import RdfSettings, RemoteSettings

CONTEXT = OpenContext(GraphScope("reasoning"), None)  # type: ignore[arg-type]
SHAPES = """
@prefix : <http://kgot.example/> . @prefix sh: <http://www.w3.org/ns/shacl#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
:TowerShape a sh:NodeShape ; sh:targetClass :Tower ;
  sh:property [ sh:path :height ; sh:datatype xsd:integer ; sh:minCount 1 ;
    sh:message "a tower has a height in whole metres" ] .
"""
RULES = """
# Parts of parts are parts; and whoever built the whole built the part.
CONSTRUCT { ?a :PART ?c } WHERE { ?a :PART ?b . ?b :PART ?c } ;
CONSTRUCT { ?who :BUILT ?part ; :builder true } WHERE { ?who :BUILT ?whole . ?whole :PART ?part }
"""


@pytest.fixture(params=["rdf", pytest.param("rdf-remote", marks=pytest.mark.xdist_group("sparql"))])
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    """Opens a graph with settings; files are given as their text."""
    backends = []

    def make(**settings: Any) -> Any:
        for name in ("shapes", "rules"):
            if name in settings:
                file = tmp_path / name
                file.write_text(settings[name], "utf-8")
                settings[name] = str(file)
        if request.param == "rdf":
            backend = open_backend(RdfSettings(**settings), CONTEXT)
        else:
            server = request.getfixturevalue("sparql_servers")("oxigraph")
            chosen = RemoteSettings(query_url=server.query_url, update_url=server.update_url, **settings)
            backend = open_remote_backend(chosen, CONTEXT)
        backends.append(backend)
        return backend

    yield make
    for backend in backends:
        backend.close()


def count(backend: Any) -> int:
    return int(backend.query("SELECT (COUNT(*) AS ?n) { ?s ?p ?o }", Call("count"))[0]["n"])


def test_a_write_against_the_shapes_is_refused_and_undone(opened):
    backend = opened(shapes=SHAPES)
    backend.write("INSERT DATA { :North a :Tower ; :height 61 }", Call("1"))
    before = backend.snapshot()
    for wrong in ('INSERT DATA { :South a :Tower ; :height "high" }', "DELETE WHERE { :North :height ?h }"):
        with pytest.raises(QueryError, match="a tower has a height in whole metres"):
            backend.write(wrong, Call(wrong))
        assert backend.snapshot() == before and count(backend) == 2
    with pytest.raises(QueryError, match="whole metres"):
        backend.apply(GraphChange(added=(Node("x", ("Tower",), {"name": "East"}),)), Call("2"))
    assert backend.snapshot() == before
    assert backend.write("INSERT DATA { :South a :Tower ; :height 58 }", Call("3")).added


@pytest.mark.parametrize("inference", ["rdfs", "owlrl"])
def test_inferred_triples_are_seen_and_marked(opened, inference):
    backend = opened(inference=inference)
    change = backend.write(
        "INSERT DATA { :Tower rdfs:subClassOf :Building . :BUILT rdfs:domain :Mason ; rdfs:subPropertyOf :MADE ."
        ' :title rdfs:subPropertyOf :name . :North a :Tower ; :title "North" . :Odo :BUILT :North }',
        Call("1"),
    )
    assert backend.query("SELECT ?x { ?x a :Building }", Call("2")) == [{"x": ":North"}]
    keys = {node.id: node.key for node in backend.snapshot().nodes}
    edges = {(keys[e.source], e.type, keys[e.target]): e.inferred for e in backend.snapshot().edges}
    assert edges[":Odo", "BUILT", ":North"] is False and edges[":Odo", "MADE", ":North"] is True
    assert edges[":North", "rdf:type", ":Building"] is True and edges[":Odo", "rdf:type", ":Mason"] is True
    north = next(node for node in backend.snapshot().nodes if node.key == ":North")
    assert north.labels == ("Tower",)
    assert north.properties == {"title": "North", "inferred:name": "North"}
    assert any(isinstance(element, Edge) and element.inferred for element in change.added)
    backend.write("DELETE DATA { :Odo :BUILT :North }", Call("3"))
    assert not [edge for edge in backend.snapshot().edges if edge.type == "MADE"]
    assert backend.query("ASK { :Odo a :Mason }", Call("4")) == [{"result": False}]


def test_a_stated_triple_is_not_inferred(opened):
    backend = opened(inference="rdfs")
    backend.write("INSERT DATA { :BUILT rdfs:subPropertyOf :MADE . :Odo :BUILT :North }", Call("1"))
    backend.write("INSERT DATA { :Odo :MADE :North }", Call("2"))
    (edge,) = [edge for edge in backend.snapshot().edges if edge.type == "MADE"]
    assert not edge.inferred
    backend.write("DELETE DATA { :Odo :MADE :North }", Call("3"))
    (edge,) = [edge for edge in backend.snapshot().edges if edge.type == "MADE"]
    assert edge.inferred


def test_rules_run_after_each_write(opened):
    backend = opened(rules=RULES)
    backend.write("INSERT DATA { :Abbey :PART :Wing . :Wing :PART :Cell . :Odo :BUILT :Abbey }", Call("1"))
    keys = {node.id: node.key for node in backend.snapshot().nodes}
    inferred = {(keys[e.source], e.type, keys[e.target]) for e in backend.snapshot().edges if e.inferred}
    assert inferred == {(":Abbey", "PART", ":Cell"), (":Odo", "BUILT", ":Wing"), (":Odo", "BUILT", ":Cell")}
    assert backend.query("SELECT ?x { :Odo :BUILT ?x }", Call("2")) == [
        {"x": f":{x}"} for x in ("Abbey", "Cell", "Wing")
    ]
    lines = backend.dialect.lines([*backend.snapshot().elements()], _graph(backend))
    assert ":Abbey :PART :Cell . # inferred" in lines and ":Odo :BUILT :Abbey ." in lines
    backend.write("DELETE DATA { :Wing :PART :Cell }", Call("3"))
    assert [e.type for e in backend.snapshot().edges if e.inferred] == ["BUILT"]


def test_inferred_elements_of_another_graph_stay_marked(opened):
    backend = opened()
    backend.apply(GraphChange(added=(Node("a"), Node("b"), Edge("e", "NEAR", "a", "b", inferred=True))), Call("1"))
    (edge,) = backend.snapshot().edges
    assert edge.inferred and edge.id == "e"
    assert backend.query("SELECT ?x { ?x :NEAR ?y }", Call("2"))
    backend.apply(GraphChange(removed=("e",)), Call("3"))
    assert not backend.snapshot().edges and backend.query("SELECT ?x { ?x :NEAR ?y }", Call("4")) == []


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"shapes": "this is no turtle"}, "shapes"),
        ({"shapes": ""}, "empty"),
        ({"rules": "SELECT * { ?s ?p ?o }"}, "CONSTRUCT"),
        ({"rules": "CONSTRUCT { ?s ?p } WHERE { ?s ?p ?o }"}, "rule"),
        ({"rules": "CONSTRUCT { ?s ?p ?o } WHERE { SERVICE <http://x.example/> { ?s ?p ?o } }"}, "SERVICE"),
        ({"rules": "CONSTRUCT { [] ?p ?o } WHERE { ?s ?p ?o }"}, "blank"),
    ],
)
def test_broken_files_are_one_clear_line(opened, settings, said):
    with pytest.raises(StoreError, match=said) as caught:
        opened(**settings)
    assert "\n" not in str(caught.value)


def test_missing_files_are_found_by_the_check(tmp_path):
    problem = check(RdfSettings(shapes=str(tmp_path / "none.ttl")))
    assert problem is not None and "none.ttl" in problem.message


def _graph(backend: Any) -> Any:
    from kgot_core.graph.fold import TaskGraph

    return TaskGraph(backend.snapshot())
