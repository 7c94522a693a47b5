"""Graphs that outlive their runs: gone on with, named, asked; in a folder and on real servers."""

from __future__ import annotations

import json
import runpy
from pathlib import Path
from typing import Any

import pytest

from kgot_core.contracts.backend import Call, GraphScope, OpenContext
from kgot_core.errors import Refused, UsageError
from kgot_core.graph.elements import GraphChange, GraphSnapshot, Node
from kgot_rdf.addresses import beside
from kgot_rdf.http import JSON, SparqlClient
from kgot_rdf.plugin import open_backend, open_remote_backend
from kgot_rdf.settings import RdfSettings, RemoteSettings

STORY = runpy.run_path(str(Path(__file__).parents[3] / "tests" / "fixtures" / "library" / "story.py"))
GONE_ON = runpy.run_path(str(Path(__file__).parents[3] / "tests" / "fixtures" / "library" / "gone_on.py"))
ASK = {"strategy": "ask_graph"}
QUERY = "SELECT ?hill ?metres { ?hill :height_m ?metres }"
SCHEMA = "INSERT DATA { :feeds rdfs:domain :River . :Ulmet :feeds :Veder }"


def story(mark: str, *hills: tuple[str, int]) -> Any:
    """Writes hills, and solves once the mark is in the graph."""
    triples = " ".join(f":{name} a :Hill ; :height_m {metres} ." for name, metres in hills)
    solve = f"SOLVE\nIt is there.\n```sparql\n{QUERY}\n```"
    return STORY["quick"](
        decide=lambda prompt: solve if mark in prompt else STORY["ENHANCE"],
        extract=f"```sparql r1\nINSERT DATA {{ {triples} }}\n```",
        retrieve=f"```sparql\n{QUERY}\n```",
    )


async def run(told: Any, settings: dict[str, Any], **options: Any) -> Any:
    async with STORY["opened"](told, settings, **options) as session:
        return await session.solve(STORY["QUESTION"])


async def grown(settings: dict[str, Any]) -> None:
    """Lets two runs grow one graph, and asks it."""
    first = await run(story("Alderkop", ("Alderkop", 700), ("Birkfell", 450)), settings, keep_graph=True)
    assert (first.status, first.iterations) == ("answered", 1), first
    second = await run(story("Cairnmoor", ("Cairnmoor", 900)), settings, keep_graph=True)
    assert (second.status, second.iterations) == ("answered", 1) and len(second.evidence) == 3, second
    asked = await run(story("-"), {**settings, **ASK}, keep_graph=True)
    assert (asked.status, asked.how, len(asked.evidence)) == ("answered", "forced query", 3)
    given = GraphSnapshot((Node("n1", ("Hill",), {"height_m": 120}, key=":Dunmere"),))
    third = await run(story("Dunmere"), settings, keep_graph=True, graph=given)
    assert (third.status, third.iterations, len(third.evidence)) == ("answered", 0, 4)
    assert {item.sources for item in third.evidence} == {(), ("graph",)}


def embedded(folder: Path, mode: Any, name: str = "hills", **settings: Any) -> Any:
    chosen = RdfSettings(folder=str(folder), **settings)
    return open_backend(chosen, OpenContext(GraphScope(name, mode), None))  # type: ignore[arg-type]


def remote(server: Any, mode: Any, name: str = "hills", **settings: Any) -> Any:
    chosen = RemoteSettings(query_url=server.query_url, update_url=server.update_url, **settings)
    return open_remote_backend(chosen, OpenContext(GraphScope(name, mode), None))  # type: ignore[arg-type]


def drop(client: SparqlClient, *graphs: str) -> None:
    client.update(" ; ".join(f"DROP SILENT GRAPH <{graph}>" for graph in graphs), 10)


async def test_runs_grow_a_graph_in_a_folder(tmp_path: Path) -> None:
    await grown({"backend": "rdf", "backends.rdf.folder": str(tmp_path / "graphs")})
    assert [path.name for path in (tmp_path / "graphs").iterdir()] == ["kept"]


@pytest.mark.xdist_group("sparql")
async def test_runs_grow_a_named_graph_on_a_server(server: Any) -> None:
    addresses = {"query_url": server.query_url, "update_url": server.update_url}
    settings = {f"backends.rdf-remote.{key}": url for key, url in addresses.items()}
    client = SparqlClient(server.query_url, server.update_url, {}, 5)
    # Whatever their names, graphs of others stay, those of which the name begins with that of the run's graph too.
    others = {"urn:theirs:other", *(f"urn:theirs:hills:{what}" for what in ("inferred", "staged", "hold", "last"))}
    for graph in others:
        client.update(f"INSERT DATA {{ GRAPH <{graph}> {{ <urn:a> <urn:b> 1 }} }}", 10)
    last = beside("urn:theirs:hills", "last")
    try:
        await grown({"backend": "rdf-remote", "graph.name": "urn:theirs:hills", **settings})
        body = client.query("SELECT DISTINCT ?g { GRAPH ?g { ?s ?p ?o } }", JSON, (), 10)
        found = {row["g"]["value"] for row in json.loads(body)["results"]["bindings"]} - {"urn:kgot:run:test"}
        assert found == {"urn:theirs:hills", last, *others}
    finally:
        drop(client, "urn:theirs:hills", last, *others)


async def test_a_store_in_memory_says_what_to_do_instead() -> None:
    with pytest.raises(UsageError, match=r"in memory.*backends\.rdf\.folder=DIR.*--graph RUN"):
        await run(story("-"), {"backend": "rdf"}, keep_graph=True)


def test_a_graph_that_is_asked_has_to_be_there(tmp_path: Path) -> None:
    embedded(tmp_path, "keep", "rivers").close()
    with pytest.raises(Refused, match=r"no graph hills in .*graphs there: rivers"):
        embedded(tmp_path, "read_only")
    assert [path.name for path in tmp_path.iterdir()] == ["rivers"]


def test_a_graph_that_is_asked_is_not_written(tmp_path: Path) -> None:
    first = embedded(tmp_path, "keep")
    first.write("INSERT DATA { :a :b 1 }", Call("1"))
    first.close()
    reading = embedded(tmp_path, "read_only")
    assert reading.query("SELECT ?x { :a :b ?x }", Call("2")) == [{"x": 1}]
    with pytest.raises(Refused, match="reading only"):
        reading.apply(GraphChange((Node("n9", ("A",), {}),)), Call("3"))
    # Read and let go of: a run may go on with it meanwhile.
    second = embedded(tmp_path, "keep")
    second.write("INSERT DATA { :a :b 2 }", Call("4"))
    assert reading.query("SELECT ?x { :a :b ?x }", Call("5")) == [{"x": 1}]
    second.close()
    reading.close()
    again = embedded(tmp_path, "keep")
    assert len(again.query("SELECT ?x { :a :b ?x }", Call("6"))) == 2
    again.close()


def test_a_graph_in_use_is_refused_in_one_line(tmp_path: Path) -> None:
    first = embedded(tmp_path, "keep")
    for mode in ("keep", "read_only"):
        with pytest.raises(Refused, match=r"the graph in .*hills is in use by another run$"):
            embedded(tmp_path, mode)
    first.close()


def test_a_folder_is_brought_to_its_content_and_never_emptied_first(tmp_path: Path) -> None:
    import pyoxigraph as ox

    from kgot_rdf.worker import Worker

    options = {"folder": str(tmp_path / "kept"), "only_read": False}
    (tmp_path / "kept").mkdir()
    quads = [ox.Quad(ox.NamedNode(f"urn:{name}"), ox.NamedNode("urn:p"), ox.Literal(name)) for name in "abc"]
    stated = "\n".join(f"{quad.subject} {quad.predicate} {quad.object} ." for quad in quads)
    worker = Worker(options)
    worker.load({"stated": stated, "inferred": []})
    worker.load({"stated": stated.partition("\n")[2], "inferred": []})
    assert len(worker.kept({})) == 2
    worker._kept = Untouchable(set(worker._kept))  # type: ignore[arg-type, assignment]
    worker.load({"stated": stated.partition("\n")[2], "inferred": []})


class Untouchable(set[Any]):
    """A durable store that may be compared, but not emptied."""

    def extend(self, quads: set[Any]) -> None:
        assert not quads

    def flush(self) -> None:
        """Has nothing to do."""


def test_what_follows_from_a_kept_graph_is_there_from_the_beginning(tmp_path: Path) -> None:
    first = embedded(tmp_path, "keep")
    first.write(SCHEMA, Call("1"))
    first.close()
    for mode in ("keep", "read_only"):
        again = embedded(tmp_path, mode, inference="rdfs")
        assert any(edge.inferred and edge.type == "rdf:type" for edge in again.snapshot().edges)
        assert len(again.query("SELECT ?x { ?x a :River }", Call("2"))) == 1
        again.close()


def test_a_kept_graph_that_does_not_obey_the_shapes_can_still_be_asked(tmp_path: Path) -> None:
    first = embedded(tmp_path / "graphs", "keep")
    first.write("INSERT DATA { :Alderkop a :Hill }", Call("1"))
    first.close()
    shapes = tmp_path / "shapes.ttl"
    shapes.write_text(
        "@prefix sh: <http://www.w3.org/ns/shacl#> . @prefix : <http://kgot.example/> .\n"
        "[] a sh:NodeShape ; sh:targetClass :Hill ; sh:property [ sh:path :height_m ; sh:minCount 1 ] ."
    )
    with pytest.raises(Refused, match="cannot be used with these settings"):
        embedded(tmp_path / "graphs", "keep", shapes=str(shapes))
    reading = embedded(tmp_path / "graphs", "read_only", shapes=str(shapes))
    assert len(reading.snapshot().nodes) == 1
    reading.close()


@pytest.mark.xdist_group("sparql")
def test_what_was_inferred_on_a_server_is_read_and_found_anew(server: Any) -> None:
    first = remote(server, "keep", inference="rdfs")
    first.write(SCHEMA, Call("1"))
    first.close()
    reading = remote(server, "read_only")
    assert any(edge.inferred for edge in reading.snapshot().edges)
    assert len(reading.query("SELECT ?x { ?x a :River }", Call("2"))) == 1
    with pytest.raises(Refused, match="reading only"):
        reading.apply(GraphChange((Node("n9", ("A",), {}),)), Call("3"))
    reading.close()
    again = remote(server, "keep", inference="rdfs")
    assert any(edge.inferred for edge in again.snapshot().edges)
    again.close()
    # Without inference nothing is left to grow stale.
    plain = remote(server, "keep")
    assert not any(edge.inferred for edge in plain.snapshot().edges)
    assert plain.query("SELECT ?x { ?x a :River }", Call("4")) == []
    plain.close()
    remote(server, "new").close()


@pytest.mark.xdist_group("sparql")
def test_a_name_that_is_no_address(server: Any) -> None:
    with pytest.raises(Refused, match="the name of the graph is no address"):
        remote(server, "keep", "not an: address")


@pytest.mark.parametrize("kind", ["given", "kept", "unrecorded"])
async def test_a_run_that_was_broken_off_goes_on(kind: str, tmp_path: Path) -> None:
    await GONE_ON[kind](tmp_path, {"backend": "rdf", "backends.rdf.folder": str(tmp_path / "graphs")}, story)


@pytest.mark.xdist_group("sparql")
@pytest.mark.parametrize("kind", ["given", "kept", "unrecorded"])
async def test_a_run_on_a_server_that_was_broken_off_goes_on(kind: str, server: Any, tmp_path: Path) -> None:
    keys = {"query_url": server.query_url, "update_url": server.update_url}
    settings = {"backend": "rdf-remote", **{f"backends.rdf-remote.{name}": url for name, url in keys.items()}}
    name = "urn:theirs:gone-on"
    try:
        await GONE_ON[kind](tmp_path, {**settings, **({"graph.name": name} if kind != "given" else {})}, story)
    finally:
        drop(SparqlClient(server.query_url, server.update_url, {}, 5), name, beside(name, "last"))
