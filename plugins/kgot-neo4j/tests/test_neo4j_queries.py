"""Queries on the real server: they change nothing, and give rows of JSON values."""

from __future__ import annotations

import json

import pytest

from kgot_core.errors import QueryError
from kgot_neo4j.cypher.screen import refused
from kgot_neo4j.cypher.tokens import tokenize

pytestmark = pytest.mark.xdist_group("neo4j")


@pytest.fixture
def filled(graph):
    graph.write("MERGE (a:A {name: 'CREATE the SET', n: 1})-[:R {k: 1}]->(b:B {name: 'y'}) MERGE (c:C {name: 'z'})")
    return graph


def test_a_write_hidden_in_a_query_is_refused(filled, monkeypatch):  # D15
    before = filled.snapshot
    hidden = [
        "MATCH (n) DETACH DELETE n",
        "MATCH (n) WITH collect(n) AS c FOREACH (x IN c | SET x.hit = 1) RETURN size(c)",
        "match (n) /*ok*/ dEtAcH deLETE n return 1",
        "MATCH (n) CALL (n) { SET n.hit = 1 } RETURN n",
    ]
    for query in hidden:
        with pytest.raises(QueryError, match="may only read"):
            filled.query(query)
    assert filled.query("MATCH (n) WHERE n.name = 'CREATE the SET' RETURN n.name AS name") == [
        {"name": "CREATE the SET"}
    ]
    # Without our own reading the server's EXPLAIN says so, and without that its READ mode.
    monkeypatch.setattr("kgot_neo4j.statements.refused", lambda tokens, query: "")
    for query in hidden:
        with pytest.raises(QueryError, match="may only read"):
            filled.query(query)
    monkeypatch.setattr("kgot_neo4j.queries._only_reads", lambda transaction, text: None)
    for query in hidden:
        with pytest.raises(QueryError, match="may only read"):
            filled.query(query)
    assert filled.snapshot == before


def test_what_the_server_would_let_through_is_refused(filled):
    for query in ("LOAD CSV FROM 'file:///x' AS r RETURN r", "TERMINATE TRANSACTION 'x'", "CALL dbms.listConfig()"):
        assert refused(tokenize(query), query=True)
        with pytest.raises(QueryError):
            filled.query(query)


def test_rows_are_json_without_bookkeeping(filled):
    rows = filled.query("MATCH p = (a:A)-[r]->(b) RETURN a, r, [b] AS l, p, {x: a.n} AS m, null AS none")
    assert rows == [
        {
            "a": {"@labels": ["A"], "n": 1, "name": "CREATE the SET"},
            "r": {"@type": "R", "k": 1},
            "l": [{"@labels": ["B"], "name": "y"}],
            "p": [
                {"@labels": ["A"], "n": 1, "name": "CREATE the SET"},
                {"@type": "R", "k": 1},
                {"@labels": ["B"], "name": "y"},
            ],
            "m": {"x": 1},
            "none": None,
        }
    ]
    times = (
        "RETURN date('2020-02-01') AS d, datetime('2020-01-01T10:00:00Z') AS t, localtime('10:00') AS l, "
        "duration('P1D') AS u"
    )
    assert filled.query(times) == [
        {
            "d": {"@date": "2020-02-01"},
            "t": {"@datetime": "2020-01-01T10:00:00+00:00"},
            "l": {"@time": "10:00:00"},
            "u": {"@text": "P1D", "@datatype": "http://www.w3.org/2001/XMLSchema#duration"},
        }
    ]
    json.dumps(filled.query("RETURN 0.0/0.0 AS nan, point({x: 1, y: 2}) AS p, [1, 'a', [true]] AS l"))


def test_the_bookkeeping_is_never_seen(filled):
    assert filled.query("MATCH (n) RETURN count(n) AS c") == [{"c": 3}]
    assert filled.query("MATCH (n:!A) RETURN count(n) AS c") == [{"c": 2}]
    assert filled.query("CALL { MATCH (n) RETURN count(*) AS c } RETURN c") == [{"c": 3}]
    assert {row["label"] for row in filled.query("CALL db.labels() YIELD label RETURN label")} <= {"A", "B", "C"} | {
        row["label"] for row in filled.query("CALL db.labels() YIELD label WHERE label <> 'A' RETURN label")
    }
    assert "_KGOT" not in str(filled.query("CALL db.labels() YIELD label RETURN label"))
    for name in ("_KGOT", "`_kgot_id`"):
        with pytest.raises(QueryError, match="kgot's own"):
            filled.query(f"MATCH (n:{name}) RETURN n")


def test_rows_beyond_the_limit_are_cut_and_the_last_says_so(graph):
    rows = graph.query("UNWIND range(1, 100) AS x RETURN x", rows=3)
    assert rows[:2] == [{"x": 1}, {"x": 2}] and "only the first 2 rows" in str(rows[2]["note"])
    assert len(graph.query("UNWIND range(1, 3) AS x RETURN x", rows=3)) == 3


def test_errors_tell_cause_and_place(graph):
    with pytest.raises(QueryError) as caught:
        graph.query("MATCH (n:A)\nRETURN n.name AS a, m.name AS b")
    assert caught.value.message == "Variable `m` not defined" and (caught.value.line, caught.value.column) == (2, 21)
    with pytest.raises(QueryError, match=r"(?i)parameter"):
        graph.query("MATCH (n:A {name: $name}) RETURN n")
    with pytest.raises(QueryError, match="took longer than 1 seconds"):
        graph.query("UNWIND range(1, 100000000) AS x UNWIND range(1, 100000000) AS y RETURN count(*) AS c", seconds=1)
