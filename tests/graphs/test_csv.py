"""A graph as two CSV tables: ours, and those that others have made for Neo4j."""

from __future__ import annotations

import datetime
import zipfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgot_core.errors import UsageError
from kgot_core.formats.csv import read_csv, write_csv
from kgot_core.graph.elements import Edge, GraphSnapshot, Node
from kgot_core.graph.losses import Losses
from kgot_core.graph.same import unlike
from kgot_core.testing.graphs import ANYTHING, make_graph


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("csv") / "graph.zip"


def tables(folder: Path, nodes: str, edges: str) -> Path:
    (folder / "nodes.csv").write_text(nodes, "utf-8")
    (folder / "edges.csv").write_text(edges, "utf-8")
    return folder


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 100_000))
def test_any_graph_comes_back_whole(seed: int, file: Path) -> None:
    graph, losses = make_graph(seed, ANYTHING), Losses()
    write_csv(None, graph, file, losses)
    assert unlike(graph, read_csv(None, file, losses), keys=True) == [] == losses.lines()
    before = file.read_bytes()
    write_csv(None, graph, file, losses)
    assert file.read_bytes() == before, "the same graph is the same file"


def test_columns_have_the_types_of_neo4j(tmp_path: Path) -> None:
    born = datetime.date(1871, 2, 3)
    nodes = (
        Node("n1", ("Hill", "Peak"), {"name": "Alderkop", "height": 700, "born": born, "tags": ("a", "b"), "any": 1}),
        Node("n2", (), {"name": "Birk, fell", "height": 450, "any": "x"}),
    )
    write_csv(None, GraphSnapshot(nodes, (Edge("e", "NEAR", "n1", "n2", {"km": 1.5}),)), tmp_path / "t", Losses())
    assert (tmp_path / "t" / "nodes.csv").read_text("utf-8").splitlines() == [
        ":ID,:LABEL,any,born:date,height:long,kgot,name,tags:string[]",
        'n1,Hill;Peak,1,1871-02-03,700,"{""properties"": {""any"": 1}}",Alderkop,a;b',
        'n2,,x,,450,,"Birk, fell",',
    ]
    assert (tmp_path / "t" / "edges.csv").read_text("utf-8") == ":START_ID,:END_ID,:TYPE,km:double\nn1,n2,NEAR,1.5\n"


def test_tables_of_others_are_read(tmp_path: Path) -> None:
    nodes = (
        "\ufeffhillId:ID(Hill),height:int,tags:string[],note:IGNORE,seen:boolean,:LABEL\r\nh1,700,a;b,no,TRUE,Hill\r\n"
    )
    edges = ':TYPE,:START_ID(Hill),:END_ID(Hill),since:date{timezone:+01:00}\r\nNEAR,h1,h1,"1871-02-03"\r\n'
    losses = Losses()
    found = read_csv(None, tables(tmp_path, nodes, edges), losses)
    node = Node("h1", ("Hill",), {"hillId": "h1", "height": 700, "tags": ("a", "b"), "seen": True})
    edge = Edge("e1", "NEAR", "h1", "h1", {"since": datetime.date(1871, 2, 3)})
    assert found == GraphSnapshot((node,), (edge,))
    assert losses.lines() == ["a column that is to be ignored is left out (note)"]


def test_a_cell_that_was_changed_counts(tmp_path: Path) -> None:
    write_csv(None, GraphSnapshot((Node("a", (), {"x": 2**70, "y": 2**71}),)), tmp_path / "t", Losses())
    text = (tmp_path / "t" / "nodes.csv").read_text("utf-8")
    (tmp_path / "t" / "nodes.csv").write_text(text.replace(f",{2**70},", ",seven,"))
    assert read_csv(None, tmp_path / "t", Losses()).nodes[0].properties == {"x": "seven", "y": 2**71}


EDGES = ":START_ID,:END_ID,:TYPE\n"


@pytest.mark.parametrize(
    ("nodes", "edges", "said"),
    [
        ("", EDGES, "nodes.csv has no column :ID"),
        ("id,name\na,b\n", EDGES, "nodes.csv has no column :ID"),
        (":ID\n", ":TYPE\n", "edges.csv has no column :START_ID and :END_ID"),
        (":ID,x:int\na,soon\n", EDGES, "nodes.csv, row 1: invalid literal for int"),
        (":ID,x:date\na,2001-01-01\nb,soon\n", EDGES, "nodes.csv, row 2: Invalid isoformat string"),
        (":ID,x\na,1,2\n", EDGES, "nodes.csv, row 1: 3 cells, not 2 as in the header"),
        (":ID,kgot\na,{\n", EDGES, "nodes.csv, row 1: its column 'kgot' is damaged"),
        (':ID,kgot\na,"{""properties"": []}"\n', EDGES, "nodes.csv, row 1: its column 'kgot' is damaged"),
    ],
)
def test_a_broken_table_is_one_line_with_its_place(nodes: str, edges: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught:
        read_csv(None, tables(tmp_path, nodes, edges), Losses())
    assert said in caught.value.message and "\n" not in caught.value.message


def test_a_table_that_is_missing_is_named(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "one.zip", "w") as file:
        file.writestr("nodes.csv", ":ID\n")
    for path in (tmp_path / "one.zip", tables(tmp_path, ":ID\n", "")):
        (tmp_path / "edges.csv").unlink(missing_ok=True)
        with pytest.raises(UsageError, match=r"has no edges\.csv"):
            read_csv(None, path, Losses())
    (tmp_path / "no.zip").write_text("no")
    with pytest.raises(UsageError, match=r"no\.zip is no zip"):
        read_csv(None, tmp_path / "no.zip", Losses())
