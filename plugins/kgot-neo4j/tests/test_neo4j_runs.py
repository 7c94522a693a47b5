"""A server that is killed in the middle of a run's writes: started again, and gone for good."""

from __future__ import annotations

import runpy
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from kgot_core.contracts.sink import Sink
from kgot_core.graph.elements import change_from_json
from kgot_core.graph.fold import TaskGraph

pytestmark = pytest.mark.xdist_group("neo4j")
STORY = runpy.run_path(str(Path(__file__).parents[3] / "tests" / "fixtures" / "library" / "story.py"))
CHAINS = 60
# CREATE without a name is never found again: twice applied, it would be there twice.
BLOCKS = "\n".join(f"```cypher r1\nCREATE (:Event)-[:OF]->(:Day {{n: {number}}})\n```" for number in range(CHAINS))
SOLVE = (
    "SOLVE\nAll is there.\n```cypher\nMATCH (:Event)-[:OF]->(d:Day) RETURN count(d) AS n, count(DISTINCT d.n) AS m\n```"
)


class Watching(Sink):
    """Does something once so many writes are done, while others are on their way."""

    def __init__(self, writes: int, then: Callable[[], object]) -> None:
        self.records: list[Mapping[str, Any]] = []
        self._writes, self._then = writes, then

    def emit(self, record: Mapping[str, Any]) -> None:
        self.records.append(record)
        if record["kind"] == "graph_written" and not record["error"]:
            self._writes -= 1
            if not self._writes:
                self._then()

    @property
    def graph(self) -> TaskGraph:
        """What the run takes the graph for."""
        graph = TaskGraph()
        for record in self.records:
            if record["kind"] == "graph_written" and not record["error"]:
                graph.apply(change_from_json(record["change"]))
        return graph


async def run(server: Any, password: str, sink: Watching, seconds: float) -> Any:
    story = STORY["quick"](decide=lambda _: SOLVE if "extract" in story.asked else STORY["ENHANCE"], extract=BLOCKS)
    told = {"uri": server.uri, "password": password, "existing": "replace", "start_seconds": 5.0}
    settings = {"backend": "neo4j", "graph.seconds": seconds, "extract.form": "statements"}
    settings |= {f"backends.neo4j.{name}": value for name, value in told.items()}
    async with STORY["opened"](story, settings, sinks=[sink]) as session:
        return await session.solve(STORY["QUESTION"])


async def test_a_server_that_is_killed_in_the_middle_of_writes(tmp_path, servers, uri):
    server = servers.Neo4jServer(tmp_path / "home").start()
    starting = threading.Thread(target=server.start)

    def killed_and_started_again() -> None:
        server.kill()
        starting.start()

    try:
        sink = Watching(12, killed_and_started_again)
        answer = await run(server, servers.PASSWORD, sink, seconds=60.0)
        starting.join()
        assert (answer.status, answer.text) == ("answered", STORY["ANSWER"])
        (asked,) = [record for record in sink.records if record["kind"] == "graph_queried"]
        assert asked["rows"] == [{"n": CHAINS, "m": CHAINS}]
        assert (len(sink.graph.nodes), len(sink.graph.edges)) == (2 * CHAINS, CHAINS)

        gone = Watching(12, server.kill)
        answer = await run(server, servers.PASSWORD, gone, seconds=0.5)
        assert answer.status == "failed" and "\n" not in answer.reason
        away = f"Neo4j does not answer: Couldn't connect to 127.0.0.1:{server.port}"
        assert answer.reason == f"{away}; what was written so far is in the run's folder"
        assert away in [record for record in gone.records if record["kind"] == "graph_written"][-1]["error"]
        assert len(gone.graph.edges) >= 12
    finally:
        server.kill()
