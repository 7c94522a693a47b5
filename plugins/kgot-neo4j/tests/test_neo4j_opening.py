"""Opening on the real server: what can be wrong, whose the database is, and who uses it."""

from __future__ import annotations

import itertools
import os
import socket
import subprocess
import sys

import pytest

from kgot_core.contracts.backend import Call, GraphScope, OpenContext
from kgot_core.errors import QueryError, Refused, StoreUnavailable, UsageError
from kgot_core.graph.elements import GraphChange, Node
from kgot_neo4j.opening import open_graph
from kgot_neo4j.plugin import kgot_graph_backends

pytestmark = pytest.mark.xdist_group("neo4j")
PERSON = "MERGE (p:Person {name: 'Ada'})"


def one_line(error):
    assert "\n" not in str(error.value) and len(str(error.value)) < 400
    return str(error.value)


def test_a_wrong_password_is_tried_once(settings, monkeypatch):
    (provider,) = kgot_graph_backends()
    context = OpenContext(GraphScope("run"), None)
    wrong = settings(password="not the one")
    with pytest.raises(Refused, match="refuses the user or password") as error:
        provider.open(wrong, context)
    assert "KGOT_BACKENDS__NEO4J__PASSWORD" in one_line(error) and "not the one" not in str(error.value)
    monkeypatch.setattr("kgot_neo4j.opening.open_graph", lambda *_: pytest.fail("tried again"))
    with pytest.raises(Refused, match="refuses the user or password"):
        provider.open(wrong, context)


def test_an_unknown_database(opened):
    with pytest.raises(Refused, match=r"no such database.*elsewhere") as error:
        opened(database="elsewhere")
    one_line(error)


def test_no_server(opened):
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    for uri in (f"bolt://127.0.0.1:{port}", "bolt://no-such-host.invalid:7687"):
        with pytest.raises(StoreUnavailable, match="no Neo4j answers at") as error:
            opened(uri=uri, start_seconds=0.3)
        assert "docker compose up" in one_line(error)
    with pytest.raises((StoreUnavailable, UsageError)):
        opened(uri="bolt://127.0.0.1:port", start_seconds=0.3)


def test_tls_where_the_server_has_none(opened):
    with pytest.raises(StoreUnavailable) as error:
        opened(tls="on", start_seconds=0.3)
    one_line(error)


def test_a_database_that_holds_anything_else_is_refused_with_the_choices(opened, settings):
    first = opened()
    first.on_server("CREATE (:Foreign {name: 'keep me'})-[:R]->(:Foreign)")
    first.backend.close()
    with pytest.raises(Refused, match="holds 2 nodes and 1 relationships that kgot did not make") as error:
        opened(existing="refuse")
    for choice in ("existing=keep", "existing=replace", "another database", "container"):
        assert choice in one_line(error)
    kept = opened("kept", existing="keep")
    assert len(kept.snapshot.nodes) == 2
    kept.write(PERSON)
    kept.backend.close()
    with pytest.raises(Refused, match="holds 3 nodes"):
        opened(existing="refuse")
    with pytest.raises(Refused, match="cannot be restored"):
        opened("kept", resume=True, existing="refuse")
    # What is kept is never set to what a record says; the core looks whether it is the same.
    for choice in ({"existing": "keep"}, {"mode": "keep"}):
        again = opened("kept", resume=True, **choice)
        assert len(again.snapshot.nodes) == 3
        again.backend.close()
    assert len(opened(mode="read_only").snapshot.nodes) == 3
    replaced = opened(existing="replace")
    assert not replaced.nodes


def test_what_an_earlier_run_made_is_cleared(opened):
    first = opened("one")
    first.write(PERSON)
    first.apply(Node("x", ("A",), {"name": "b"}))
    first.write("MATCH (p:Person) DETACH DELETE p")
    first.backend.close()
    second = opened("two", existing="refuse")
    assert not second.nodes
    second.write(PERSON)
    second.on_server("CREATE (:Foreign)")
    second.backend.close()
    with pytest.raises(Refused, match="kgot did not make"):
        opened("three", existing="refuse")


def test_a_run_on_a_kept_graph_goes_on(opened):
    first = opened("one")
    first.write(PERSON)
    first.backend.close()
    again = opened("two", "keep", existing="refuse")
    assert again.write(PERSON + " SET p.n = 1").changed and len(again.nodes) == 1
    again.backend.close()
    with pytest.raises(Refused, match="that are kept") as error:
        opened("three", existing="refuse")
    assert "--keep-graph" in one_line(error)
    third = opened("three", "keep", existing="refuse")
    assert len(third.nodes) == 1


def test_an_empty_database_is_kept_from_the_first_run_on(opened):
    opened().backend.close()
    first = opened("one", "keep", existing="refuse")
    first.write(PERSON)
    first.backend.close()
    with pytest.raises(Refused, match="that are kept"):
        opened("two", existing="refuse")
    assert len(opened("two", "keep", existing="refuse").nodes) == 1


def test_reading_only_leaves_no_trace(opened, settings):
    first = opened()
    first.on_server("MATCH (n:_KGOT) DELETE n")
    reading = opened(mode="read_only")
    assert not reading.nodes
    with pytest.raises(Refused, match="reading only"):
        reading.apply(Node("x", ("A",), {"name": "b"}))
    assert first.on_server("MATCH (n) RETURN count(n)") == [[0]]


def test_reading_only(opened):
    first = opened()
    first.write(PERSON)
    reading = opened(mode="read_only")
    with pytest.raises(Refused, match="reading only"):
        reading.write(PERSON)
    with pytest.raises(Refused, match="reading only"):
        reading.apply(Node("x", ("A",), {"name": "b"}))
    assert reading.query("MATCH (p:Person) RETURN p.name AS n") == [{"n": "Ada"}]


def test_two_runs_at_once_are_refused_and_one_that_crashed_is_not_in_the_way(opened, settings):
    first = opened("the first run")
    first.write(PERSON)
    with pytest.raises(Refused, match=rf"used by the run the first run .*process {os.getpid()}") as error:
        opened("the second run")
    one_line(error)
    # A process that has ended, on this machine.
    ended = subprocess.run(
        [sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, text=True, check=True
    )
    first.on_server(f"MATCH (l:_KGOT {{_kgot_id: 'hold'}}) SET l._kgot_process = {ended.stdout}")
    second = opened("the second run")
    # One of another machine is waited for, until it has given no sign of life for long enough.
    hold = "MATCH (l:_KGOT {_kgot_id: 'hold'}) SET l._kgot_host = 'far', l._kgot_beat = timestamp() - "
    second.on_server(hold + "10000")
    with pytest.raises(Refused, match=r"host far, process \d+, seen 1\d s ago"):
        opened("the third run")
    second.on_server(hold + "31000")
    third = opened("the third run")
    for lost in (first, second):
        with pytest.raises(Refused, match="taken the database over"):
            lost.write("MERGE (p:Person {name: 'late'})")
    third.write("MERGE (p:Person {name: 'new'})")
    assert [properties["name"] for _, properties in third.nodes] == ["new"]


def test_the_hold_is_renewed_and_given_back(opened):
    first = opened(lease_seconds=0.3)
    beat = "MATCH (l:_KGOT {_kgot_id: 'hold'}) RETURN l._kgot_beat"
    (begun,) = first.on_server(beat)
    assert any(first.on_server(beat) != [begun] for _ in range(2_000))
    first.backend.close()
    assert opened("next", lease_seconds=0.3).nodes == []


def test_an_acknowledgement_that_was_lost_does_not_apply_twice(opened, monkeypatch):
    from neo4j import Transaction
    from neo4j.exceptions import ServiceUnavailable

    graph = opened()
    commit = Transaction.commit
    failures = itertools.chain([True], itertools.repeat(False))

    def lossy(self):
        commit(self)
        if next(failures):
            raise ServiceUnavailable("connection lost after the commit")

    monkeypatch.setattr(Transaction, "commit", lossy)
    change = graph.write("CREATE (:Event) CREATE (p:Person {name: 'Ada'})")
    assert len(change.added) == 2 and len(graph.nodes) == 2
    failures = itertools.chain([True], itertools.repeat(False))
    graph.apply(Node("given", ("A",), {"name": "b"}))
    assert len(graph.nodes) == 3


def test_a_call_of_an_earlier_process_is_not_applied_again(opened):
    first = opened("run")
    first.backend.write("CREATE (:Event)", Call("run:1/write"))
    first.backend._applied.clear()
    assert not first.backend.write("CREATE (:Event)", Call("run:1/write"))
    with pytest.raises(QueryError):
        first.backend.write("CREATE (:Event {n: })", Call("run:2/write"))
    assert len(first.nodes) == 1
    first.backend.close()
    resumed = opened("run", resume=True, existing="refuse")
    assert not resumed.nodes
    resumed.backend.apply(GraphChange((Node("n7", ("Event",), {"name": "restored"}),)), Call("restore"))
    assert resumed.backend.write("CREATE (:Event)", Call("run:1/write")).added[0].id == "n8"
    assert {node.id for node in resumed.snapshot.nodes} == {"n7", "n8"}


def test_a_refused_opening_leaves_no_trace(opened, settings):
    first = opened()
    first.on_server("MATCH (n:_KGOT) DELETE n")
    first.on_server("CREATE (:Foreign)")
    before = first.on_server("MATCH (n) RETURN labels(n)")
    with pytest.raises(Refused):
        open_graph(settings(existing="refuse"), OpenContext(GraphScope("y"), None))
    assert first.on_server("MATCH (n) RETURN labels(n)") == before == [[["Foreign"]]]
