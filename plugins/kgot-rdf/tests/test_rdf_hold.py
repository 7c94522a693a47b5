"""One run at a time goes on with a graph on a server, and one that crashed is not in the way."""

from __future__ import annotations

import datetime
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from kgot_core.contracts.backend import Call, GraphBackend, GraphScope, OpenContext
from kgot_core.errors import Refused
from kgot_rdf.addresses import beside
from kgot_rdf.http import JSON, SparqlClient
from kgot_rdf.plugin import check_remote, open_remote_backend
from kgot_rdf.settings import RemoteSettings

pytestmark = pytest.mark.xdist_group("sparql")
GRAPH = "urn:theirs:shared"
HOLD = beside(GRAPH, "hold")
CRASH = """
import os, sys
from kgot_core.contracts.backend import Call, GraphScope, OpenContext
from kgot_rdf.plugin import open_remote_backend
from kgot_rdf.settings import RemoteSettings
settings = RemoteSettings(query_url=sys.argv[1], update_url=sys.argv[2])
backend = open_remote_backend(settings, OpenContext(GraphScope(sys.argv[3], "keep"), None, run="crashed"))
backend.write("INSERT DATA { :a :b 1 }", Call("1"))
os.kill(os.getpid(), 9)
"""


@pytest.fixture
def client(server: Any) -> Iterator[SparqlClient]:
    made = SparqlClient(server.query_url, server.update_url, {}, 5)
    yield made
    made.update(f"DROP SILENT GRAPH <{GRAPH}> ; DROP SILENT GRAPH <{HOLD}>", 10)
    made.close()


def opened(server: Any, run: str, mode: Any = "keep", **settings: Any) -> GraphBackend:
    chosen = RemoteSettings(query_url=server.query_url, update_url=server.update_url, **settings)
    return open_remote_backend(chosen, OpenContext(GraphScope(GRAPH, mode), None, run=run))  # type: ignore[arg-type]


def held(client: SparqlClient) -> int:
    body = client.query("SELECT (COUNT(DISTINCT ?s) AS ?n) { ?s ?p ?o }", JSON, (HOLD,), 10)
    return int(json.loads(body)["results"]["bindings"][0]["n"]["value"])


def test_two_runs_at_once_are_refused(server: Any, client: SparqlClient) -> None:
    first = opened(server, "first")
    first.write("INSERT DATA { :a :b 1 }", Call("1"))
    with pytest.raises(Refused, match=rf"shared> is used by the run first \(process {os.getpid()} on ") as error:
        opened(server, "second")
    assert "--graph-name" in error.value.hint and "\n" not in str(error.value)
    reading = opened(server, "asks", "read_only")
    assert reading.query("SELECT ?x { :a :b ?x }", Call("2")) == [{"x": 1}]
    reading.close()
    first.write("INSERT DATA { :a :b 2 }", Call("3"))
    first.close()
    assert held(client) == 0
    second = opened(server, "second")
    assert len(second.query("SELECT ?x { :a :b ?x }", Call("4"))) == 2
    second.close()


def test_a_run_that_crashed_is_not_in_the_way(server: Any, client: SparqlClient) -> None:
    command = [sys.executable, "-c", CRASH, server.query_url, server.update_url, GRAPH]
    assert subprocess.run(command, check=False, capture_output=True).returncode == -9
    assert held(client) == 1
    second = opened(server, "second")
    assert second.query("SELECT ?x { :a :b ?x }", Call("1")) == [{"x": 1}] and held(client) == 1
    second.close()


def test_one_on_another_machine_is_waited_for_until_it_gives_no_sign_of_life(server: Any, client: SparqlClient) -> None:
    far = opened(server, "far")

    def seen(seconds: int) -> None:
        then = datetime.datetime.now(datetime.UTC) - datetime.timedelta(seconds=seconds)
        beat = f"'{then.isoformat()}'^^<http://www.w3.org/2001/XMLSchema#dateTime>"
        client.update(
            f"DELETE {{ GRAPH <{HOLD}> {{ ?c <urn:kgot:hold#host> ?h ; <urn:kgot:hold#beat> ?b }} }} "
            f"INSERT {{ GRAPH <{HOLD}> {{ ?c <urn:kgot:hold#host> 'far' ; <urn:kgot:hold#beat> {beat} }} }} "
            f"WHERE {{ GRAPH <{HOLD}> {{ ?c <urn:kgot:hold#host> ?h ; <urn:kgot:hold#beat> ?b }} }}",
            10,
        )

    seen(10)
    with pytest.raises(Refused, match=r"the run far \(process \d+ on far, seen 1\d s ago\)"):
        opened(server, "near")
    seen(31)
    near = opened(server, "near")
    far._store._hold._seen -= 31  # type: ignore[attr-defined]  # as if its process had slept meanwhile
    with pytest.raises(Refused, match="taken the graph over; nothing was written"):
        far.write("INSERT DATA { :a :b 1 }", Call("1"))
    near.write("INSERT DATA { :a :b 2 }", Call("2"))
    far.close()
    assert held(client) == 1
    near.close()
    assert held(client) == 0


def test_the_hold_is_renewed(server: Any, client: SparqlClient) -> None:
    def beat() -> Any:
        body = client.query("SELECT ?b { ?s <urn:kgot:hold#beat> ?b }", JSON, (HOLD,), 10)
        return json.loads(body)["results"]["bindings"]

    first = opened(server, "first", lease_seconds=0.6)
    begun = beat()
    assert begun and any(beat() not in (begun, []) for _ in range(5_000))
    first.write("INSERT DATA { :a :b 1 }", Call("1"))
    first.close()


def test_of_two_that_come_at_the_same_moment_one_gets_it(server: Any, client: SparqlClient) -> None:
    got: list[GraphBackend] = []
    refused: list[Refused] = []
    together = threading.Barrier(2)

    def come(run: str) -> None:
        together.wait()
        try:
            got.append(opened(server, run))
        except Refused as error:
            refused.append(error)

    threads = [threading.Thread(target=come, args=(f"run {number}",)) for number in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(got), len(refused)) == (1, 1)
    got[0].close()


def test_no_time_at_all_is_refused(server: Any) -> None:
    problem = check_remote(RemoteSettings(query_url=server.query_url, lease_seconds=0))
    assert problem is not None and "lease_seconds" in problem.message
