"""The embedded store: its own process, its limits, and its folder."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from kgot_core.contracts.backend import Call, GraphScope, OpenContext
from kgot_core.errors import QueryError, Refused, StoreError
from kgot_rdf.plugin import open_backend
from kgot_rdf.settings import RdfSettings

ENDLESS = "SELECT (COUNT(*) AS ?n) WHERE { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l . ?m ?q ?r FILTER(?a != ?r) }"


def opened(folder: str = "", mode: Any = "new", name: str = "test", **settings: Any) -> Any:
    return open_backend(RdfSettings(folder=folder, **settings), OpenContext(GraphScope(name, mode), None))  # type: ignore[arg-type]


def many(count: int) -> str:
    return (
        "INSERT DATA { "
        + " ".join(f":n{number} :value {number} ; :next :n{number + 1} ." for number in range(count))
        + " }"
    )


def test_a_query_is_ended_at_its_time_limit_and_the_graph_is_there_again(local):
    local.write(many(60))
    for _ in range(2):
        with pytest.raises(QueryError, match="longer than"):
            local.query(ENDLESS, seconds=0.3)
        assert local.query("SELECT ?v { :n7 :value ?v }") == [{"v": 7}]
    assert local.triples() == 120


def test_a_write_that_takes_too_long_changes_nothing(local):
    local.write(many(60))
    before = local.snapshot
    with pytest.raises(QueryError, match="longer than"):
        local.write(
            "INSERT { ?a :far ?r } WHERE { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l . ?m ?n ?o . ?p ?q ?r }",
            seconds=0.3,
        )
    assert local.snapshot == before and local.triples() == 120
    local.write("INSERT DATA { :a :b 1 }")
    assert local.triples() == 121


def test_a_running_query_can_be_cancelled(local):
    local.write(many(60))
    raised: list[BaseException] = []
    begun = threading.Event()

    def ask() -> None:
        begun.set()
        try:
            local.query(ENDLESS)
        except QueryError as error:
            raised.append(error)

    thread = threading.Thread(target=ask)
    thread.start()
    begun.wait()
    while thread.is_alive():
        local.backend.cancel()
        thread.join(0.05)
    assert raised and "cancelled" in str(raised[0])
    assert local.triples() == 120


def test_a_result_that_is_too_large_is_cut(local):
    local.write(many(60))
    rows = local.query("SELECT ?a ?d { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i }", rows=50)
    assert len(rows) == 50 and "note" in rows[-1]


def test_two_graphs_do_not_see_each_other(local):
    other = opened(name="other")
    local.write("INSERT DATA { :a :b 1 }")
    assert other.query("SELECT * { ?s ?p ?o }", Call("q")) == []
    other.close()
    other.close()


def test_a_folder_keeps_the_graph(tmp_path):
    first = opened(str(tmp_path), name="run/1")
    first.write("INSERT DATA { :a :b 1 ; :c [ :d 2 ] }", Call("1"))
    with pytest.raises(StoreError):
        opened(str(tmp_path), name="run/1", mode="keep")
    first.close()
    again = opened(str(tmp_path), name="run/1", mode="keep")
    assert len(again.snapshot().nodes) == 2
    assert again.query("SELECT ?x { :a :c/:d ?x }", Call("q")) == [{"x": 2}]
    change = again.write("INSERT DATA { :e :f [ :g 3 ] }", Call("2"))
    assert not {node.id for node in change.added} & {"n1", "n2"}
    again.close()
    read = opened(str(tmp_path), name="run/1", mode="read_only")
    with pytest.raises(Refused):
        read.write("INSERT DATA { :a :b 2 }", Call("3"))
    assert len(read.snapshot().nodes) == 4
    read.close()
    fresh = opened(str(tmp_path), name="run/1")
    assert not fresh.snapshot().nodes
    fresh.close()


def test_the_child_gets_no_secrets(local, monkeypatch):
    from pathlib import Path

    monkeypatch.setenv("KGOT_SECRET_KEY", "sk-test-ABC123DEF456")
    backend = opened()
    process = backend._store._child._process
    environment = Path(f"/proc/{process.pid}/environ")
    if not environment.exists():
        pytest.skip("needs /proc")
    assert b"ABC123DEF456" not in environment.read_bytes()
    backend.close()
    assert process.poll() is not None
