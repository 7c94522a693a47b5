"""Turtle, N-Triples and JSON-LD: our graphs and others' files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyoxigraph as ox
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgot_core.errors import UsageError
from kgot_core.graph.elements import Edge, GraphSnapshot, Node
from kgot_core.graph.losses import Losses
from kgot_core.graph.same import unlike
from kgot_core.graph.values import LangText
from kgot_core.testing.format_suite import FormatSuite
from kgot_core.testing.graphs import ANYTHING, make_graph
from kgot_rdf.names import TYPE
from kgot_rdf.plugin import check_format, kgot_graph_formats
from kgot_rdf.settings import FormatSettings

FORMATS: Mapping[str, Any] = {provider.name: provider for provider in kgot_graph_formats()}
# What the mapping itself uses has no place for a property of that name; that is told.
WORDS = replace(ANYTHING, inferred=False, names=[name for name in ANYTHING.names if name != "urn:kgot:values"])


class TestTurtle(FormatSuite):
    provider = FORMATS["turtle"]


class TestNTriples(FormatSuite):
    provider = FORMATS["ntriples"]


class TestJsonLd(FormatSuite):
    provider = FORMATS["jsonld"]


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("rdf") / "graph"


def through(name: str, graph: GraphSnapshot, file: Path, losses: Losses, **values: Any) -> GraphSnapshot:
    FORMATS[name].write(FormatSettings(**values), graph, file, losses)
    return FORMATS[name].read(FormatSettings(**values), file, losses)


@pytest.mark.parametrize("name", list(FORMATS))
@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 100_000))
def test_any_graph_comes_back_whole(name: str, seed: int, file: Path) -> None:
    losses = Losses()
    graph = make_graph(seed, WORDS)
    assert unlike(graph, through(name, graph, file, losses)) == []
    assert losses.lines() == []


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 100_000))
def test_only_what_differs_is_told(seed: int, file: Path) -> None:
    losses = Losses()
    graph = make_graph(seed, ANYTHING)
    assert bool(unlike(graph, through("turtle", graph, file, losses))) == bool(losses)


def test_iris_of_nodes_are_kept_and_blank_nodes_stay_blank(file: Path) -> None:
    nodes = (Node("a", (), {"x": 1}, "<http://kg.example/x>"), Node("b", (), {"x": 2}, "foaf:Person"))
    graph = GraphSnapshot((*nodes, Node("c", ("Hill",), {}, "genid:1")), (Edge("e", "NEAR", "a", "c", {"km": 3}),))
    found = through("turtle", graph, file, Losses())
    assert {node.key for node in found.nodes} == {"<http://kg.example/x>", "foaf:Person", "genid:1"}
    assert unlike(graph, found) == []
    text = file.read_text("utf-8")
    assert "genid" not in text and "<<" not in text
    reified = [quad for quad in ox.parse(text, ox.RdfFormat.TURTLE) if str(quad.object).endswith("#Statement>")]
    assert len(reified) == 1 and isinstance(reified[0].subject, ox.BlankNode)


def test_what_was_inferred_is_described_and_not_stated(file: Path) -> None:
    nodes = (Node("a", ("Hill",), {"name": "Alderkop", "inferred:kind": "high"}), Node("b", inferred=True))
    graph = GraphSnapshot(nodes, (Edge("e", "NEAR", "a", "b", inferred=True),))
    losses = Losses()
    assert unlike(graph, through("turtle", graph, file, losses)) == [] == losses.lines()
    stated = {str(quad.predicate).rpartition("/")[2] for quad in ox.parse(file.read_bytes(), ox.RdfFormat.TURTLE)}
    assert "NEAR>" not in stated and "kind>" not in stated and "name>" in stated


def test_an_inferred_element_that_holds_more_is_stated_and_told(file: Path) -> None:
    nodes = (Node("a", ("Hill",), {}, inferred=True), Node("b"))
    losses = Losses()
    found = through("turtle", GraphSnapshot(nodes, (Edge("e", "NEAR", "a", "b", {"km": 1}, True),)), file, losses)
    assert [node.labels for node in found.nodes] == [("Hill",), ()] and not any(e.inferred for e in found.elements())
    assert losses.lines() == [
        "an inferred edge with properties, or beside one of its type, is stated (an edge NEAR)",
        "an inferred node that is more than an end of inferred edges is stated (the node a)",
    ]


def test_the_namespace_is_a_setting(file: Path) -> None:
    graph = GraphSnapshot((Node("a", ("Hill",), {"name": "Alderkop"}),))
    assert unlike(graph, through("turtle", graph, file, Losses(), namespace="http://hills.example/#")) == []
    assert "@prefix : <http://hills.example/#> ." in file.read_text("utf-8")
    problem = check_format(FormatSettings("hills"))
    assert problem is not None and "formats.*.namespace" in problem.message


FOREIGN = {
    "turtle": """@prefix foaf: <http://xmlns.com/foaf/0.1/> .
<#me> a foaf:Person ; foaf:name "Ada"@en ; foaf:knows [ foaf:name "Bea" ; foaf:age 36.5 ] .""",
    "ntriples": f"""<http://kgot.example/#me> {TYPE} <http://xmlns.com/foaf/0.1/Person> .
<http://kgot.example/#me> <http://xmlns.com/foaf/0.1/name> "Ada"@en .
<http://kgot.example/#me> <http://xmlns.com/foaf/0.1/knows> _:b .
_:b <http://xmlns.com/foaf/0.1/name> "Bea" .
_:b <http://xmlns.com/foaf/0.1/age> "36.5"^^<http://www.w3.org/2001/XMLSchema#decimal> .""",
    "jsonld": """{"@context": {"@vocab": "http://xmlns.com/foaf/0.1/"}, "@id": "#me", "@type": "Person",
"name": {"@value": "Ada", "@language": "en"}, "knows": {"name": "Bea", "age": 36.5}}""",
}


@pytest.mark.parametrize("name", list(FOREIGN))
def test_files_of_others_are_read(name: str, file: Path) -> None:
    file.write_text(FOREIGN[name], "utf-8")
    found = FORMATS[name].read(FormatSettings(), file, Losses())
    nodes = (
        Node("a", ("foaf:Person",), {"foaf:name": LangText("Ada", "en")}),
        Node("b", (), {"foaf:name": "Bea", "foaf:age": 36.5}),
    )
    assert unlike(GraphSnapshot(nodes, (Edge("e", "foaf:knows", "a", "b"),)), found) == []


def test_a_named_graph_is_read_and_told(file: Path) -> None:
    file.write_text('{"@id": "urn:g", "@graph": [{"@id": "urn:a", "urn:p": 1}]}')
    losses = Losses()
    assert len(FORMATS["jsonld"].read(FormatSettings(), file, losses).nodes) == 1
    assert losses.lines() == ["what is in a named graph is read without the graph's name (<urn:g>)"]


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("turtle", "@prefix : <http://x/> .\n:a :b", ", line 2: "),
        ("turtle", ":a :b :c .", ", line 1: "),
        ("turtle", "<urn:a> <urn:b> <<( <urn:a> <urn:b> <urn:c> )>> .", "a statement about a statement is not allowed"),
        ("jsonld", '{"@context": "http://127.0.0.1:9/c.jsonld", "@id": "urn:a", "name": 1}', "remote contexts"),
        ("ntriples", "<urn:a> <urn:b> nonsense .", ", line 1: "),
    ],
)
def test_a_broken_file_is_one_line_with_its_place(name: str, text: str, said: str, file: Path) -> None:
    file.write_text(text)
    with pytest.raises(UsageError) as caught:
        FORMATS[name].read(FormatSettings(), file, Losses())
    assert said in caught.value.message and str(file) in caught.value.message and "\n" not in caught.value.message
