"""What only a server brings: runs beside each other, bad servers, lost answers."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from kgot_core.contracts.backend import Call, GraphScope, OpenContext
from kgot_core.errors import QueryError, Refused, StoreUnavailable
from kgot_rdf.http import JSON, SparqlClient
from kgot_rdf.plugin import check_remote, open_remote_backend
from kgot_rdf.settings import RemoteSettings

SECRET = "sk-test-ABC123DEF456"


def opened(server: Any, name: str, mode: Any = "new", **settings: Any) -> Any:
    chosen = RemoteSettings(query_url=server.query_url, update_url=server.update_url, **settings)
    return open_remote_backend(chosen, OpenContext(GraphScope(name, mode), None))  # type: ignore[arg-type]


def raw(server: Any) -> SparqlClient:
    return SparqlClient(server.query_url, server.update_url, {}, 5)


def graphs(server: Any) -> set[str]:
    body = raw(server).query("SELECT DISTINCT ?g { GRAPH ?g { ?s ?p ?o } }", JSON, (), 10)
    found = {row["g"]["value"] for row in json.loads(body)["results"]["bindings"]}
    return found - {"urn:kgot:run:test"}  # of the tests that share one open graph


def test_runs_share_a_repository_without_seeing_each_other(server):
    raw(server).update("INSERT DATA { <urn:theirs> <urn:p> 1 . GRAPH <urn:other> { <urn:theirs2> <urn:p> 2 } }", 10)
    one, two = opened(server, "one run/1"), opened(server, "two")
    one.write("INSERT DATA { :a :b 1 }", Call("1"))
    two.write("INSERT DATA { :a :b 2 }", Call("1"))
    assert one.query("SELECT ?x { ?s ?p ?x }", Call("2")) == [{"x": 1}]
    assert two.query("SELECT ?x { ?s ?p ?x }", Call("2")) == [{"x": 2}]
    two.write("DELETE WHERE { ?s ?p ?o }", Call("3"))
    assert one.query("SELECT ?x { ?s ?p ?x }", Call("4")) == [{"x": 1}]
    one.close()
    two.close()
    two.close()
    assert graphs(server) == {"urn:other"}
    assert json.loads(raw(server).query("ASK { <urn:theirs> <urn:p> 1 }", JSON, (), 10))["boolean"]
    raw(server).update("DELETE WHERE { <urn:theirs> ?p ?o } ; DROP GRAPH <urn:other>", 10)


def test_a_kept_graph_is_found_again(server):
    first = opened(server, "kept", keep=True)
    first.write("INSERT DATA { :a :b [ :c 1 ] }", Call("1"))
    first.close()
    again = opened(server, "kept", mode="keep")
    assert len(again.snapshot().nodes) == 2
    again.write("INSERT DATA { :e :f [ :g 3 ] }", Call("2"))
    assert len(again.snapshot().nodes) == 4
    again.close()
    read = opened(server, "kept", mode="read_only")
    with pytest.raises(Refused):
        read.write("INSERT DATA { :a :b 2 }", Call("3"))
    assert len(read.snapshot().nodes) == 4
    read.close()
    opened(server, "kept").close()
    assert graphs(server) == set()


def test_blank_nodes_of_a_kept_graph_get_names(server):
    raw(server).update("INSERT DATA { GRAPH <urn:kgot:run:blank> { <urn:x:a> <urn:x:b> [ <urn:x:c> 1 ] } }", 10)
    backend = opened(server, "blank", mode="keep")
    assert {node.key for node in backend.snapshot().nodes} == {"<urn:x:a>", "genid:1"}
    assert backend.query("SELECT ?x { genid:1 <urn:x:c> ?x }", Call("1")) == [{"x": 1}]
    backend.close()
    opened(server, "blank").close()


def test_a_query_is_given_up_at_its_time_limit_and_can_be_cancelled(server):
    backend = opened(server, "slow")
    backend.write(
        "INSERT DATA { " + " ".join(f":n{number} :value {number} ." for number in range(80)) + " }", Call("1")
    )
    endless = "SELECT (COUNT(*) AS ?n) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l . ?m ?n1 ?o FILTER(?a != ?m) }"
    with pytest.raises(QueryError, match="longer than"):
        backend.query(endless, Call("2", seconds=0.5))
    raised: list[BaseException] = []

    def ask() -> None:
        try:
            backend.query(endless, Call("3", seconds=30))
        except QueryError as error:
            raised.append(error)

    thread = threading.Thread(target=ask)
    thread.start()
    while thread.is_alive():
        backend.cancel()
        thread.join(0.05)
    assert "cancelled" in str(raised[0])
    assert backend.query("SELECT ?v { :n7 :value ?v }", Call("4", seconds=60)) == [{"v": 7}]
    backend.close()


class Bad(BaseHTTPRequestHandler):
    """A server that misbehaves as its path says; it notes what it got."""

    protocol_version = "HTTP/1.1"
    seen: list[dict[str, Any]]

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        self.server.seen.append({"path": self.path, "type": self.headers["content-type"], "body": body.decode()})  # type: ignore[attr-defined]
        kind = self.path.strip("/").partition("?")[0]
        answer = {
            "html": (200, "text/html", b"<html><body>Welcome</body></html>"),
            "locked": (401, "text/plain", b"no"),
            "nothing": (404, "text/html", b"<h1>Not Found</h1>"),
            "cut": (200, JSON, b'{"head":{"vars":["x"]},"results":{"bindings":[{"x":{"type":"li'),
            "empty": (200, "", b""),
            "busy": (503, "text/plain", b"busy"),
            "good": (200, JSON, b'{"head":{},"boolean":true}'),
        }.get(kind)
        if answer is None:
            self.close_connection = True
            return
        status, content_type, data = answer
        if b"DROP" in body or b"DATA" in body:
            status, content_type, data = (204, "", b"") if kind in ("cut", "empty", "good") else answer
        self.send_response(status)
        self.send_header("content-type", content_type)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: Any) -> None:
        """Keeps silent."""


@pytest.fixture
def bad() -> Iterator[Any]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Bad)
    server.seen = []  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()


def settings_for(bad: Any, kind: str, **more: Any) -> RemoteSettings:
    return RemoteSettings(query_url=f"http://127.0.0.1:{bad.server_port}/{kind}", user="ada", password=SECRET, **more)


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("html", "web page"),
        ("locked", "401"),
        ("nothing", "404"),
        ("cut", "cut off"),
        ("empty", "cut off"),
        ("busy", "busy"),
    ],
)
def test_a_bad_server_is_one_clear_line(bad, kind, said):
    problem = check_remote(settings_for(bad, kind))
    assert problem is not None and said in problem.message
    assert "\n" not in problem.message and SECRET not in problem.message


def test_a_server_that_is_not_there_is_one_clear_line(bad):
    settings = RemoteSettings(query_url="http://127.0.0.1:9/query", password=SECRET, connect_seconds=1)
    problem = check_remote(settings)
    assert problem is not None and "127.0.0.1:9" in problem.message and "does not answer" in problem.message
    with pytest.raises(StoreUnavailable):
        open_remote_backend(settings, OpenContext(GraphScope("x"), None))  # type: ignore[arg-type]


@pytest.mark.parametrize("url", ["", "ftp://x/y", "query"])
def test_an_address_that_is_none_is_named(url):
    problem = check_remote(RemoteSettings(query_url=url))
    assert problem is not None and "query_url" in problem.message


def test_a_result_that_was_cut_off_counts_as_time_out(bad):
    backend = open_remote_backend(settings_for(bad, "cut"), OpenContext(GraphScope("x"), None))  # type: ignore[arg-type]
    with pytest.raises(QueryError, match="cut off"):
        backend.query("SELECT ?x { ?s ?p ?x }", Call("1"))
    backend.close()


def test_statements_travel_as_bodies_with_their_own_type(bad):
    backend = open_remote_backend(settings_for(bad, "good"), OpenContext(GraphScope("x y"), None))  # type: ignore[arg-type]
    backend.write("INSERT DATA { :a :b 1 }", Call("1"))
    backend.query("ASK { :a :b 1 }", Call("2"))
    backend.close()
    kinds = [item["type"].removesuffix("; charset=utf-8") for item in bad.seen]
    assert kinds == ["application/sparql-update"] * 2 + ["application/sparql-query", "application/sparql-update"]
    assert "default-graph-uri=urn%3Akgot%3Arun%3Ax%2520y" in bad.seen[2]["path"]
    assert all("GRAPH <urn:kgot:run:x%20y" in item["body"] for item in bad.seen if "update" in item["type"])


@pytest.mark.xdist_group("sparql")
def test_a_write_whose_answer_was_lost_is_done_once(sparql_servers):
    server = sparql_servers("oxigraph")
    backend = opened(server, "lost")
    backend.write("INSERT DATA { :a :n 1 }", Call("1"))
    client = backend._store._client
    update = client.update

    def lose(text: str, seconds: float, meanwhile: Any = None) -> None:
        client.update = update
        update(text, seconds, meanwhile)
        raise StoreUnavailable("the answer was lost")

    client.update = lose
    add = "DELETE { ?s :n ?n } INSERT { ?s :n ?m } WHERE { ?s :n ?n BIND(?n + 1 AS ?m) }"
    before = backend.snapshot()
    with pytest.raises(StoreUnavailable):
        backend.write(add, Call("2"))
    assert backend.snapshot() == before
    backend.write(add, Call("2"))
    assert backend.query("SELECT ?n { :a :n ?n }", Call("3")) == [{"n": 2}]
    backend.close()


@pytest.mark.xdist_group("sparql")
def test_a_server_that_dies_and_comes_back_empty_is_filled_again(sparql, sparql_servers):
    sparql_servers("oxigraph")
    port = sparql.free_port()
    with sparql.running("oxigraph", port) as first:
        backend = opened(first, "dies")
        backend.write("INSERT DATA { :a :n 1 }", Call("1"))
        first.process.kill()
        first.process.wait()
        with pytest.raises(StoreUnavailable):
            backend.write("INSERT DATA { :a :n 2 }", Call("2"))
        assert len(backend.snapshot().nodes) == 1
    with sparql.running("oxigraph", port):
        backend.write("INSERT DATA { :a :n 2 }", Call("2"))
        assert backend.query("SELECT ?n { :a :n ?n }", Call("3")) == [{"n": 1}, {"n": 2}]
        backend.close()
