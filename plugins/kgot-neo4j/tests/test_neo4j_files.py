"""Files for Neo4j: the formats by themselves, and what the real server makes of them."""

from __future__ import annotations

import datetime
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgot_core.contracts.backend import GraphScope, OpenContext
from kgot_core.errors import UsageError
from kgot_core.formats.csv import write_csv
from kgot_core.graph.elements import Edge, GraphSnapshot, Node
from kgot_core.graph.losses import Losses
from kgot_core.graph.same import unlike
from kgot_core.graph.values import Iri
from kgot_core.testing.format_suite import FormatSuite
from kgot_core.testing.graphs import ANYTHING, Vocabulary, make_graph
from kgot_neo4j.cypher.tokens import ticked
from kgot_neo4j.files.apoc_json import read_lines, write_lines
from kgot_neo4j.files.statements import write_statements
from kgot_neo4j.files.stored import edge_of, node_of
from kgot_neo4j.opening import open_graph
from kgot_neo4j.plugin import kgot_graph_formats
from kgot_neo4j.settings import Neo4jSettings

FORMATS: Mapping[str, Any] = {provider.name: provider for provider in kgot_graph_formats()}
ZONE = datetime.timezone(datetime.timedelta(hours=5, minutes=30))


class TestCypher(FormatSuite):
    provider = FORMATS["cypher"]


class TestNeo4jJson(FormatSuite):
    provider = FORMATS["neo4j-json"]


def union(graphs: Sequence[GraphSnapshot]) -> GraphSnapshot:
    """Lays graphs side by side."""

    def new(number: int, old: str) -> str:
        return f"{number}-{old}"

    nodes = [replace(node, id=new(number, node.id)) for number, graph in enumerate(graphs) for node in graph.nodes]
    edges = [
        replace(edge, id=new(n, edge.id), source=new(n, edge.source), target=new(n, edge.target))
        for n, graph in enumerate(graphs)
        for edge in graph.edges
    ]
    return GraphSnapshot(tuple(nodes), tuple(edges))


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("files") / "graph"


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 100_000))
def test_any_graph_comes_back_from_lines(seed: int, file: Path) -> None:
    graph = make_graph(seed, ANYTHING)
    write_lines(None, graph, file, Losses())
    losses = Losses()
    assert unlike(graph, read_lines(None, file, losses), keys=True) == [] == losses.lines()


@pytest.mark.parametrize("write", [write_statements, write_lines])
def test_what_is_only_text_in_neo4j_is_told(write: Callable[..., None], file: Path) -> None:
    values = {"born": datetime.date(1871, 2, 3), "big": 2**70, "is": Iri("http://kg.example/x"), "odd": ("a", 1)}
    node = Node("a", ("Hill", "", "a`b"), {"name": "Alderkop", **values, "": 1, "nan": float("nan")})
    losses = Losses()
    write(None, GraphSnapshot((node,)), file, losses)
    times = ['a date or time is text in Neo4j, in full in _kgot_value.* (born of the node "Alderkop")']
    assert losses.lines() == [
        *(times if write is write_lines else []),
        'a number beyond 64 bits is text in Neo4j, in full in _kgot_value.* (big of the node "Alderkop")',
        "an address or a literal with language or datatype is text in Neo4j, in full in _kgot_value.*"
        ' (is of the node "Alderkop")',
        'a list of several types is text in Neo4j, in full in _kgot_value.* (odd of the node "Alderkop")',
        'a property that Neo4j has no name for is only in _kgot_more (the node "Alderkop")',
        'NaN or infinity is text in Neo4j, in full in _kgot_value.* (nan of the node "Alderkop")',
        'a label that Neo4j or APOC cannot take is only in _kgot_more (the node "Alderkop")',
    ]


def test_plain_graphs_lose_nothing_in_neo4j(file: Path) -> None:
    losses = Losses()
    for seed in range(20):
        write_lines(None, make_graph(seed, replace(Vocabulary(), kinds=("City", "two words"))), file, losses)
        write_statements(None, make_graph(seed, Vocabulary()), file, losses)
    assert losses.lines() == []


EXPORTED = [
    {"type": "node", "id": "0", "labels": ["Hill"], "properties": {
        "born": "1871-02-03", "place": {"crs": "wgs-84", "latitude": 1.5, "longitude": 2.0, "height": None},
        "neo4jImportId": "7"}},
    {"type": "node", "id": "5"},
    {"id": "0", "type": "relationship", "label": "NEAR", "properties": {"km": 3},
     "start": {"id": "0", "labels": ["Hill"]}, "end": {"id": "5"}},
]  # fmt: skip
WANTED = GraphSnapshot(
    (
        Node(
            "a",
            ("Hill",),
            {"born": "1871-02-03", "place.crs": "wgs-84", "place.latitude": 1.5, "place.longitude": 2.0},
        ),
        Node("b"),
    ),
    (Edge("e", "NEAR", "a", "b", {"km": 3}),),
)


@pytest.mark.parametrize(
    "text", ["\n".join(map(json.dumps, EXPORTED)), json.dumps(EXPORTED), json.dumps(EXPORTED, indent=1)]
)
def test_exports_of_apoc_are_read(text: str, file: Path) -> None:
    file.write_text(text)
    losses = Losses()
    assert unlike(WANTED, read_lines(None, file, losses)) == []
    assert losses.lines() == ["neo4jImportId, the mark of an import by APOC, is left out"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"type": "node"}', "line 1: 'id' is missing"),
        ('{"type": "node", "id": 1}\n{"nodes": []}', "line 2: no node or relationship of an APOC export"),
        ('{"version": 1,\n"nodes": []}', "line 1: not JSON"),
        ('[{"type": "node", "id": "0"}, 5]', "element 2: no node or relationship"),
        ('{"type": "relationship", "label": "T", "start": {"id": "0"}, "end": {"id": "1"}}', "'0' is missing, or"),
        ('{"type": "path", "id": 1}', "there is no type 'path'"),
        ('{"type": "node", "id": 1, "properties": {"x": [[1]]}}', "a list may hold only plain values"),
        ('{"type": "node", "id": 1, "properties": {"x": NaN}}', "is not a number"),
        ('{"type": "node", "id": 1, "properties": {"_kgot_more": "["}}', "line 1: "),
    ],
)  # fmt: skip
def test_a_broken_file_is_one_line_with_its_place(text: str, said: str, file: Path) -> None:
    file.write_text(text)
    with pytest.raises(UsageError) as caught:
        read_lines(None, file, Losses())
    assert said in caught.value.message and str(file) in caught.value.message and "\n" not in caught.value.message


# The real server.


@pytest.fixture
def apoc(apoc_uri: str, servers: ModuleType) -> Iterator[Any]:
    """A session on the empty server with APOC."""
    from neo4j import GraphDatabase

    signed = ("neo4j", servers.PASSWORD)
    with (
        servers.alone(apoc=True),
        GraphDatabase.driver(apoc_uri, auth=signed) as driver,
        driver.session(database="neo4j") as session,
    ):
        session.run("MATCH (n) DETACH DELETE n").consume()
        for record in list(session.run("SHOW CONSTRAINTS YIELD name")):
            session.run(f"DROP CONSTRAINT {ticked(record['name'])}").consume()
        yield session


def held(session: Any) -> GraphSnapshot:
    """Reads what the server holds, as it holds it."""
    nodes = session.run("MATCH (n) RETURN elementId(n), labels(n), properties(n)").values()
    edges = session.run(
        "MATCH (a)-[r]->(b) RETURN elementId(r), type(r), elementId(a), elementId(b), properties(r)"
    ).values()
    return GraphSnapshot(
        tuple(node_of(place, tuple(labels), raw) for place, labels, raw in nodes),
        tuple(edge_of(*edge) for edge in edges),
    )


@pytest.mark.xdist_group("neo4j-apoc")
def test_cypher_shell_loads_the_statements(apoc: Any, apoc_uri: str, servers: ModuleType, tmp_path: Path) -> None:
    graph = union([make_graph(seed, ANYTHING) for seed in range(2)])
    file = tmp_path / "graph.cypher"
    write_statements(None, graph, file, Losses())
    done = servers.cypher_shell(apoc_uri, file)
    assert done.returncode == 0, done.stderr
    assert unlike(graph, held(apoc), keys=True) == []
    assert list(apoc.run("SHOW CONSTRAINTS")) == [] and apoc.run("MATCH (n:_KGOT_IMPORT) RETURN n").peek() is None
    born = apoc.run("CREATE (n {d: date('1871-02-03')}) RETURN n.d.year").single()
    assert born is not None and born[0] == 1871


@pytest.mark.xdist_group("neo4j-apoc")
def test_apoc_imports_the_lines_and_its_export_is_read(apoc: Any, servers: ModuleType, tmp_path: Path) -> None:
    graph = union([make_graph(seed, ANYTHING) for seed in range(3)])
    file = servers.import_folder(apoc=True) / "graph.json"
    write_lines(None, graph, file, Losses())
    labels = {
        label for line in file.read_text("utf-8").split("\n") if line for label in json.loads(line).get("labels", ())
    }
    for label in labels:
        apoc.run(f"CREATE CONSTRAINT FOR (n:{ticked(label)}) REQUIRE n.neo4jImportId IS UNIQUE").consume()
    told = apoc.run("CALL apoc.import.json('file:///graph.json')").single()
    assert (told["nodes"], told["relationships"]) == (len(graph.nodes), len(graph.edges))
    data = "".join(row["data"] for row in apoc.run("CALL apoc.export.json.all(null, {stream: true}) YIELD data"))
    (tmp_path / "back.json").write_text(data, "utf-8")
    losses = Losses()
    assert unlike(graph, read_lines(None, tmp_path / "back.json", losses), keys=True) == []
    assert [line.partition(" (")[0] for line in losses.lines()] == [
        "neo4jImportId, the mark of an import by APOC, is left out"
    ]


@pytest.mark.xdist_group("neo4j-apoc")
def test_a_run_goes_on_with_what_was_loaded(apoc: Any, apoc_uri: str, servers: ModuleType, tmp_path: Path) -> None:
    nodes = (Node("a", ("Hill",), {"name": "Alderkop", "is": Iri("http://kg.example/x")}), Node("b", (), {"name": "b"}))
    graph = GraphSnapshot(nodes, (Edge("e", "NEAR", "a", "b", {"since": datetime.time(4, 5, tzinfo=ZONE)}),))
    write_statements(None, graph, tmp_path / "graph.cypher", Losses())
    for statement in (tmp_path / "graph.cypher").read_text("utf-8").split(";\n"):
        if statement:
            apoc.run(statement).consume()
    values = Neo4jSettings(uri=apoc_uri, password=servers.PASSWORD, existing="keep", start_seconds=5.0)
    backend = open_graph(values, OpenContext(GraphScope("files", "keep"), None))  # type: ignore[arg-type]
    try:
        assert unlike(graph, backend.snapshot()) == []
    finally:
        backend.close()


@contextmanager
def imported(server: Any, tables: Path, password: str) -> Iterator[Any]:
    """A server of its own whose database was made by neo4j-admin."""
    from neo4j import GraphDatabase

    server.load(tables)
    server.start()
    try:
        with GraphDatabase.driver(server.uri, auth=("neo4j", password)) as driver, driver.session() as session:
            yield session
    finally:
        server.kill()


def test_neo4j_admin_imports_the_tables(own_server: type[Any], servers: ModuleType, tmp_path: Path) -> None:
    values = {
        "name": 'a "b", c;\nd \\ é', "a:b": "text", "whole": -(2**63), "fraction": 5e-324, "truth": False,
        "date": datetime.date(1871, 2, 3), "time": datetime.time(4, 5, 6, 7), "zoned": datetime.time(4, 5, tzinfo=ZONE),
        "moment": datetime.datetime(1871, 2, 3, 4, 5), "instant": datetime.datetime(2024, 2, 29, 23, 59, tzinfo=ZONE),
        "texts": ("b", "a"), "numbers": (3, 1), "dates": (datetime.date(1871, 2, 3), datetime.date(1900, 1, 1)),
    }  # fmt: skip
    nodes = (Node("n1", ("Hill", "two words"), values), Node("n2", (), {"name": "Birkfell"}))
    graph = GraphSnapshot(nodes, (Edge("e1", "is near", "n1", "n2", values), Edge("e2", "is near", "n1", "n2")))
    write_csv(None, graph, tmp_path / "tables", Losses())
    with imported(own_server(tmp_path / "home"), tmp_path / "tables", servers.PASSWORD) as session:
        assert unlike(graph, held(session)) == []
