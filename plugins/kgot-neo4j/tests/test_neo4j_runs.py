"""A server that is killed in the middle of a write, and started again."""

from __future__ import annotations

import threading

import pytest

from kgot_core.contracts.backend import Call, GraphScope, OpenContext
from kgot_core.errors import StoreUnavailable
from kgot_neo4j.opening import open_graph
from kgot_neo4j.settings import Neo4jSettings

pytestmark = pytest.mark.xdist_group("neo4j")


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
