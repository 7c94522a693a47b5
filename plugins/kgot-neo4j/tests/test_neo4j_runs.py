"""Whole runs on the real server, and a server that is killed in the middle of a write."""

from __future__ import annotations

import runpy
import threading
from pathlib import Path

import pytest

from kgot_core.contracts.backend import Call, GraphScope, OpenContext
from kgot_core.errors import StoreUnavailable
from kgot_neo4j.opening import open_graph
from kgot_neo4j.settings import Neo4jSettings

pytestmark = pytest.mark.xdist_group("neo4j")
STORY = Path(__file__).parents[3] / "tests" / "fixtures" / "library" / "story.py"
WRITE = """```cypher r1
MERGE (a:Hill {name: "Alderkop"}) SET a.height_m = 700
MERGE (b:Hill {name: "Birkfell"}) SET b.height_m = 450
MERGE (a)-[:HIGHER_THAN]->(b)
```"""
QUERY = 'MATCH (a:Hill {name: "Alderkop"}), (b:Hill {name: "Birkfell"}) RETURN a.height_m AS a, b.height_m AS b'
SOLVE = f"SOLVE\nBoth hills are there with their heights.\n```cypher\n{QUERY}\n```"


def content(snapshot):
    names = {node.id: node.properties["name"] for node in snapshot.nodes}
    nodes = sorted((node.labels, sorted(node.properties.items())) for node in snapshot.nodes)
    return nodes, sorted((names[edge.source], edge.type, names[edge.target]) for edge in snapshot.edges)


@pytest.mark.parametrize("solver", ["query", "direct"])
@pytest.mark.parametrize("form", ["statements", "facts"])
async def test_a_run_gives_the_answer_that_networkx_gives(settings, solver, form):
    from kgot_core.graph.elements import change_from_json
    from kgot_core.graph.fold import TaskGraph
    from kgot_core.sinks.memory import MemorySink

    story = runpy.run_path(str(STORY))
    given = settings()
    keys = {"uri": given.uri, "password": given.password, "existing": "replace"}
    answers, graphs = [], []
    for backend in ("neo4j", "networkx"):
        replies = {}
        if backend == "neo4j":
            replies = {"extract": WRITE, "retrieve": f"```cypher\n{QUERY}\n```"}
            replies["decide"] = lambda prompt: SOLVE if "Alderkop" in prompt else story["ENHANCE"]
        if solver == "direct":
            replies["decide"] = lambda prompt: story["SOLVE_DIRECT"] if "Alderkop" in prompt else story["ENHANCE"]
        sink = MemorySink()
        told = {"backend": backend, "solver": solver, "extract.form": form}
        if backend == "neo4j":
            told |= {f"backends.neo4j.{name}": value for name, value in keys.items()}
        async with story["opened"](story["quick"](**replies), told, sinks=[sink]) as session:
            answers.append(await session.solve(story["QUESTION"]))
        graph = TaskGraph()
        for record in sink.records:
            if record["kind"] == "graph_written" and not record["error"]:
                graph.apply(change_from_json(record["change"]))
        graphs.append(content(graph.snapshot()))
        assert given.password not in str(sink.records)
    assert answers[0].status == answers[1].status == "answered"
    assert (answers[0].text, answers[0].how) == (answers[1].text, answers[1].how)
    assert graphs[0] == graphs[1] and len(graphs[0][0]) == 2
    assert [item.text for item in answers[0].evidence] and len(answers[0].evidence) == len(answers[1].evidence)


def test_a_server_that_is_killed_in_the_middle_of_writes(tmp_path, servers, uri):
    server = servers.Neo4jServer(tmp_path / "home").start()
    given = Neo4jSettings(uri=server.uri, password=servers.PASSWORD)
    backend = open_graph(given, OpenContext(GraphScope("run"), None))  # type: ignore[arg-type]
    written: list[int] = []
    failed: list[BaseException] = []
    enough = threading.Event()

    def write() -> None:
        try:
            for number in range(60):
                # CREATE without a name is never found again: twice applied, it would be there twice.
                change = backend.write(f"CREATE (:Event)-[:OF]->(:Day {{n: {number}}})", Call(f"w{number}", 60.0))
                assert len(change.added) >= 3
                written.append(number)
                if number == 20:
                    enough.set()
        except BaseException as error:
            failed.append(error)
            enough.set()

    thread = threading.Thread(target=write)
    try:
        thread.start()
        assert enough.wait(60)
        server.kill()
        with pytest.raises(StoreUnavailable):
            backend.query("MATCH (n:Day) RETURN count(n) AS c", Call("q", 0.5))
        server.start()
        thread.join(90)
        assert not thread.is_alive() and not failed, failed
        assert written == list(range(60))
        rows = backend.query("MATCH (e:Event)-[:OF]->(d:Day) RETURN count(e) AS e, count(DISTINCT d.n) AS d", Call("r"))
        assert rows == [{"e": 60, "d": 60}]
        assert len(backend.snapshot().nodes) == 120
    finally:
        backend.close()
        server.kill()
