"""GraphML and GEXF: our graphs and others' files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgot_core.errors import UsageError
from kgot_core.graph.elements import Edge, GraphSnapshot, Node
from kgot_core.graph.losses import Losses
from kgot_core.graph.same import unlike
from kgot_core.graph.values import Iri
from kgot_core.testing.format_suite import FormatSuite
from kgot_core.testing.graphs import ANYTHING, differences, make_graph
from kgot_networkx.plugin import kgot_graph_formats

FORMATS: Mapping[str, Any] = {provider.name: provider for provider in kgot_graph_formats()}
GRAPH = GraphSnapshot(
    (
        Node("n1", ("Hill", "Peak"), {"name": "Alderkop", "height": 700, "seen": Iri("http://kg.example/x")}, ":Alder"),
        Node("n2", (), {"name": "Birkfell", "height": 450.5}),
    ),
    (Edge("e1", "NEAR", "n1", "n2", {"weight": 0.5}), Edge("e2", "NEAR", "n1", "n2"), Edge("e3", "IS", "n1", "n1")),
)


class TestGraphMl(FormatSuite):
    provider = FORMATS["graphml"]


class TestGexf(FormatSuite):
    provider = FORMATS["gexf"]


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("files") / "graph.xml"


def through(name: str, graph: GraphSnapshot, file: Path) -> GraphSnapshot:
    losses = Losses()
    FORMATS[name].write(None, graph, file, losses)
    found: GraphSnapshot = FORMATS[name].read(None, file, losses)
    assert losses.lines() == [], "nothing is lost"
    return found


def read(name: str, text: str, file: Path) -> tuple[GraphSnapshot, list[str]]:
    file.write_text(text, "utf-8")
    losses = Losses()
    return FORMATS[name].read(None, file, losses), losses.lines()


@pytest.mark.parametrize("name", list(FORMATS))
@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 100_000))
def test_any_graph_comes_back_whole(name: str, seed: int, file: Path) -> None:
    graph = make_graph(seed, ANYTHING)
    assert unlike(graph, through(name, graph, file), keys=True) == []


@pytest.mark.parametrize("name", list(FORMATS))
def test_ids_are_kept(name: str, file: Path) -> None:
    assert differences(GRAPH, through(name, GRAPH, file), keys=True) == []


def test_networkx_reads_plain_attributes(file: Path) -> None:
    through("graphml", GRAPH, file)
    graph = nx.read_graphml(file)
    assert graph.nodes["n1"]["labels"] == "Hill;Peak" and graph.nodes["n1"]["height"] == 700
    assert graph.nodes["n1"]["seen"] == "http://kg.example/x" and graph.nodes["n2"]["height"] == 450.5
    assert sorted(data["label"] for _, _, data in graph.edges(data=True)) == ["IS", "NEAR", "NEAR"]


def test_gexf_has_names_as_captions_and_types_as_labels_of_edges(file: Path) -> None:
    through("gexf", GRAPH, file)
    root = ElementTree.parse(file).getroot()
    captions = [node.get("label") for node in root.iter() if node.tag.endswith("}node")]
    edges = [(edge.get("label"), edge.get("weight")) for edge in root.iter() if edge.tag.endswith("}edge")]
    assert captions == ["Alderkop", "Birkfell"]
    assert sorted(edges, key=str) == [("IS", None), ("NEAR", "0.5"), ("NEAR", None)]


@pytest.mark.parametrize("name", list(FORMATS))
def test_what_another_program_changed_counts(name: str, file: Path) -> None:
    through(name, GRAPH, file)
    text = file.read_text("utf-8")
    for old, new in (("http://kg.example/x", "nowhere"), ("Hill;Peak", "Hill")):
        text = text.replace(f">{old}<", f">{new}<").replace(f'value="{old}"', f'value="{new}"')
    file.write_text(text)
    first = FORMATS[name].read(None, file, Losses()).nodes[0]
    assert (first.labels, first.properties["seen"], first.key) == (("Hill",), "nowhere", ":Alder")


GRAPHML = """<?xml version="1.0"?><graphml xmlns="http://graphml.graphdrawing.org/xmlns">
<key id="c" for="node" attr.name="colour" attr.type="string"><default>grey</default></key>
<key id="l" for="node" attr.name="labels" attr.type="string"/>
<key id="t" for="edge" attr.name="type" attr.type="string"/>
<graph edgedefault="{direction}"><node id="a"><data key="l">:Hill:Peak</data></node>
<node id="b"><data key="c">green</data></node><edge source="a" target="b"><data key="t">NEAR</data></edge>
<edge source="a" target="b"/></graph>{more}</graphml>"""
WANTED = GraphSnapshot(
    (Node("a", ("Hill", "Peak"), {"colour": "grey"}), Node("b", (), {"colour": "green"})),
    (Edge("1", "NEAR", "a", "b"), Edge("2", "RELATED_TO", "a", "b")),
)


def test_graphml_of_others_is_read(file: Path) -> None:
    found, told = read("graphml", GRAPHML.format(direction="directed", more=""), file)
    assert unlike(WANTED, found) == [] and told == []
    found, told = read("graphml", GRAPHML.format(direction="undirected", more="<graph edgedefault='directed'/>"), file)
    assert unlike(WANTED, found) == []
    assert told == [
        "only the first of 2 graphs is read",
        "the edges have no direction: each leads from its first node to its second",
    ]


def test_gexf_of_gephi_is_read(file: Path) -> None:
    text = """<gexf xmlns="http://www.gexf.net/1.2draft" xmlns:viz="http://www.gexf.net/1.2draft/viz" version="1.2">
<graph defaultedgetype="directed" name="hills"><attributes class="node" mode="dynamic">
<attribute id="h" title="height" type="integer"/></attributes>
<nodes><node id="0" label="Alderkop"><viz:size value="2.5"/></node>
<node id="1" label="1"><attvalues><attvalue for="h" value="3" start="a" end="b"/></attvalues></node></nodes>
<edges><edge id="0" source="0" target="1" weight="2.0"/></edges></graph></gexf>"""
    found, told = read("gexf", text.replace('name="hills">', 'name="hills" timeformat="date">'), file)
    nodes = (Node("a", (), {"name": "Alderkop", "viz.size": 2.5}), Node("b"))
    assert unlike(GraphSnapshot(nodes, (Edge("e", "RELATED_TO", "a", "b", {"weight": 2.0}),)), found) == []
    assert len(told) == 2 and told[0].startswith("an attribute of the graph itself is left out (name)")
    assert told[1].startswith("a value that no property can hold is left out (property 'height'")


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("graphml", "<graphml", "unclosed token"),
        ("graphml", "<html><body/></html>", "not successfully read as graphml"),
        ("graphml", GRAPHML.format(direction="directed", more="").replace('key="t"', 'key="x"'), "no key x"),
        ("gexf", "<gexf/>", "No <graph> element"),
        ("gexf", '<gexf xmlns="http://www.gexf.net/1.2draft"><graph defaultedgetype="directed"><attributes class="x"/>'
         "</graph></gexf>", "RuntimeError"),
    ],
)  # fmt: skip
def test_a_broken_file_is_one_line(name: str, text: str, said: str, file: Path) -> None:
    with pytest.raises(UsageError) as caught:
        read(name, text, file)
    assert "cannot be read" in caught.value.message and "\n" not in caught.value.message
    assert said in caught.value.message or said == "RuntimeError"


def test_entities_that_grow_without_end_are_refused(file: Path) -> None:
    bomb = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 10))
    text = f'<!DOCTYPE graphml [<!ENTITY e0 "{"x" * 100}">{bomb}]><graphml>&e9;</graphml>'
    with pytest.raises(UsageError, match="cannot be read"):
        read("graphml", text, file)
