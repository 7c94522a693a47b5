"""What becomes of a statement before it is run, and what is refused, without a server."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kgot_core.errors import QueryError
from kgot_neo4j.cypher.maps import dotted_properties, flatten_maps
from kgot_neo4j.cypher.merging import add_with, merge_known, return_places
from kgot_neo4j.cypher.names import hide_bookkeeping, quote_names
from kgot_neo4j.cypher.screen import refused
from kgot_neo4j.cypher.tokens import plain, tokenize
from kgot_neo4j.statements import NotReadable, ready_to_query, ready_to_write


@pytest.mark.parametrize(
    ("written", "run"),
    [
        (
            "MERGE (t:Space Probe {name:'K'})-[:LAUNCHED-BY]->(o:Agency/Lab:Old {name:'ORB'})",
            "MERGE (t:`Space Probe` {name:'K'})-[:`LAUNCHED-BY`]->(o:`Agency/Lab`:Old {name:'ORB'})",
        ),
        ("MATCH (n:A|B&!C)-[r:X|Y-Z*1..2]->() RETURN n", "MATCH (n:A|B&!C)-[r:X|`Y-Z`*1..2]->() RETURN n"),
        ("MATCH (n:3D  Model) WHERE n.a - 1 > 2 RETURN n", "MATCH (n:`3D Model`) WHERE n.a - 1 > 2 RETURN n"),
        ("MERGE (o:`Space Probe` {n: 1})-[:contains]->(r:Order {n: 2})",) * 2,
    ],
)
def test_names_get_backticks_and_keep_their_spelling(written, run):  # D12
    assert quote_names(written) == run


@pytest.mark.parametrize(
    ("written", "run"),
    [
        (
            "MERGE (c:F {name:'B'}) SET c.sales = {y2021: 18788, y: {z: [1, 2]}}, c.n = 1",
            "MERGE (c:F {name:'B'}) SET c.`sales.y2021` = 18788, c.`sales.y.z` = [1, 2], c.n = 1",
        ),
        ("MERGE (c:F {name:'B', s: {a: 1}})", "MERGE (c:F {name: 'B', `s.a`: 1})"),
        ('CREATE (c:F {"name": "B", "s": {"a": "{"}})', 'CREATE (c:F {name: "B", `s.a`: "{"})'),
        ("MERGE (c:F {n: 1}) ON CREATE SET c += {s: {a: 1}}", "MERGE (c:F {n: 1}) ON CREATE SET c += {`s.a`: 1}"),
        ("MATCH (c) SET c.n = count {(c)-->()}, c.l = [x IN [{a: 1}] | x.a]",) * 2,
        ("MATCH (c) SET c = {}",) * 2,
    ],
)
def test_maps_are_flattened(written, run):  # D13
    assert flatten_maps(written) == run


def test_dotted_properties_are_read_where_there_are_any():
    query = "MATCH (n) RETURN n.sales.y2021, n.born.year, date.truncate('year', n.d)"
    assert dotted_properties(query, {"sales.y2021"}) == query.replace("sales.y2021", "`sales.y2021`")


@pytest.mark.parametrize(
    ("written", "run"),
    [
        (
            "CREATE (:City {name:'Porto'})-[:IN {s: 1}]->(:Country {name:'Portugal', eu: true})",
            "MERGE (kgot_1:City {name: 'Porto'})\nMERGE (kgot_2:Country {name: 'Portugal'})\nSET kgot_2 += {eu: true}\n"
            "MERGE (kgot_1)-[:IN {s: 1}]->(kgot_2)",
        ),
        ("INSERT (a:Film {title:'L'})", "MERGE (a:Film {title: 'L'})"),
        ("CREATE (a:Film {title:'L', year: 1})", "MERGE (a:Film {title: 'L', year: 1})"),
        ("MATCH (a:A), (b:B) CREATE (a)-[:R]->(b)", "MATCH (a:A), (b:B) MERGE (a)-[:R]->(b)"),
        ("MERGE (a:A {name: 'x'}) ON CREATE SET a.n = 1",) * 2,
        ("CREATE (a:Event)-[:AT]->(c:City {name:'P'})", "MERGE (c:City {name: 'P'})\nCREATE (a:Event)-[:AT]->(c)"),
        ("CREATE (n), (a:A {name:'x'}) SET n.b = 1", "CREATE (n)\nMERGE (a:A {name: 'x'}) SET n.b = 1"),
        ("CREATE (n:A $map)",) * 2,
        ("CREATE p = (:A {name:'x'})-[:R]->(:B {name:'y'})",) * 2,
        ("MERGE (a:A {name:'x'})-[:R]->(:Any)<-[:R]-(b:B {name:'y'})",) * 2,
    ],
)
def test_what_is_there_is_found_again(written, run):  # D14
    assert merge_known(written) == run


def test_with_is_put_between_writing_and_reading():  # D10
    written = "MERGE (a:P {name: 'A'}) MATCH (b:P) MERGE (a)-[:K]->(b)"
    assert add_with(written) == written.replace("MATCH", "WITH * MATCH")
    assert "WITH DISTINCT 1 AS kgot_row UNWIND" in add_with("MERGE (:P {name: 'A'}) UNWIND [1] AS x MERGE (:Q {n: x})")
    assert add_with("MATCH (a) WITH a MATCH (b) SET a.x = 1") == "MATCH (a) WITH a MATCH (b) SET a.x = 1"


def test_writes_tell_where_their_elements_are():
    told, tells = return_places("MERGE (a:A {n: 1}) MERGE (a)-[:R]->(:B {n: 2}) RETURN a.n")
    assert tells and told == (
        "MERGE (a:A {n: 1}) MERGE (a)-[kgot_made_1:R]->(kgot_made_2:B {n: 2})\n"
        "RETURN DISTINCT [elementId(a), elementId(kgot_made_2)], [elementId(kgot_made_1)]"
    )
    for odd in ("MATCH (a) RETURN a", "FOREACH (x IN [1] | CREATE (:A {n: x}))", "MATCH (n) DELETE n"):
        assert return_places(odd) == (odd, False)


def test_the_bookkeeping_is_kept_out_of_sight():
    assert hide_bookkeeping("MATCH (n), (m {a: 1})-[r]-(:X) WHERE (n)--(m) RETURN n") == (
        "MATCH (n:!_KGOT), (m:!_KGOT {a: 1})-[r]-(:X) WHERE (n)--(m) RETURN n"
    )
    assert hide_bookkeeping("MATCH (n:!City) RETURN n") == "MATCH (n:(!City)&!_KGOT) RETURN n"
    assert "(n:!_KGOT)" in hide_bookkeeping("CALL { MATCH (n) RETURN n } RETURN n")
    assert refused(tokenize("MATCH (n:`_kgot`) RETURN n"), query=True)
    assert not refused(tokenize("MATCH (n {t: '_KGOT'}) RETURN n"), query=True)


HARMLESS = [
    "MATCH (n) WHERE n.name = 'CREATE the SET' RETURN n.name",  # D15
    "MATCH (n:Create {set: 1}) RETURN n.delete AS merge, n.remove",
    "CALL db.labels() YIELD label RETURN label",
    "RETURN date.truncate('year', date()), apoc.text.join(['a'], ','), point.distance($a, $b)",
    "MATCH (n) RETURN n // DETACH DELETE n; LOAD CSV",
    "MATCH (`LOAD CSV`:A) RETURN 1",
]
WRITING = [
    "MATCH (n) DETACH DELETE n",
    "MATCH (n) WITH collect(n) AS c FOREACH (x IN c | SET x.hit = 1) RETURN size(c)",
    "match (n) /*ok*/ dEtAcH deLETE n return 1",
    "MATCH (n) CALL { WITH n SET n.a = 1 } RETURN n",
    "INSERT (:A {name: 'x'})",
]
NEVER = [
    "LOAD CSV FROM 'file:///etc/passwd' AS row RETURN row",
    "MATCH (n) LOAD CSV FROM 'x' AS row RETURN row",
    "TERMINATE TRANSACTION 'neo4j-transaction-1'",
    "SHOW TRANSACTIONS",
    "CALL dbms.listConfig()",
    "CALL `dbms`.`listConfig`()",
    "CALL db.clearQueryCaches()",
    "RETURN apoc.load.json('http://127.0.0.1')",
    "CALL apoc.cypher.run('CREATE (n)', {}) YIELD value RETURN value",
    "CALL apoc . periodic . iterate('a', 'b', {})",
    "CALL apoc.export.cypher.all('x', {})",
    "MATCH (n) CALL (n) { RETURN 1 AS x } IN TRANSACTIONS OF 10 ROWS RETURN x",
    "MATCH (n) CALL (n) { RETURN 1 AS x } IN 3 CONCURRENT TRANSACTIONS RETURN x",
    "CREATE INDEX FOR (n:A) ON (n.b)",
    "CREATE OR REPLACE DATABASE other",
    "DROP CONSTRAINT x",
    "USE system MATCH (n) RETURN n",
    "CYPHER runtime=slotted MATCH (n) RETURN n",
    "PROFILE MATCH (n) RETURN n",
    "ALTER CURRENT USER SET PASSWORD FROM 'a' TO 'b'",
    r"CALL \u0064bms.listConfig()",
]


def test_screening():
    for statement in HARMLESS:
        assert refused(tokenize(plain(statement)), query=True) == ""
    for statement in WRITING:
        assert "may only read" in refused(tokenize(plain(statement)), query=True)
        assert refused(tokenize(plain(statement)), query=False) == ""
    for statement in NEVER:
        for query in (True, False):
            assert refused(tokenize(plain(statement)), query=query), statement


def test_a_refused_variable_is_named_with_the_rule():  # D53
    with pytest.raises(QueryError, match=r"statement 2: .*f and a1 are not bound.*MERGE \(f:Label"):
        ready_to_write("MERGE (x:A {name: 'x'}); MERGE (f)-[:S]->(a1)")
    with pytest.raises(QueryError, match="without a label"):
        ready_to_write("MERGE (x:A {name: 'x'})-[:R]->()")


def test_numbers_that_no_property_holds_are_named():
    for text in (
        "MERGE (a:A {name: 'x', big: 1180591620717411303424})",
        "MATCH (a:A) SET a.big = -9223372036854775808999",
    ):
        with pytest.raises(QueryError, match="property big is a number beyond 64 bits"):
            ready_to_write(text)


def test_odd_blocks_are_refused_with_one_line():
    with pytest.raises(QueryError, match="no statement"):
        ready_to_write(" // only a comment")
    with pytest.raises(QueryError, match="one statement, not 2"):
        ready_to_query("MATCH (n:A) RETURN n; MATCH (m:A) RETURN m")
    with pytest.raises(QueryError, match="longer than"):
        ready_to_write("x" * 200_001)
    with pytest.raises(NotReadable, match="not closed"):
        ready_to_write("MERGE (a:A {name: 'x})")
    for cut in ("MERGE (a:A {name: 'x'", "CREATE (a:A", "MERGE (a:A {name: 'x'}) SET a.l = [1"):
        with pytest.raises(NotReadable, match=r"the bracket that begins with [({\[] is not closed"):
            ready_to_write(cut)
    with pytest.raises(NotReadable, match=r"the bracket \) closes none"):
        ready_to_query("MATCH (a:A)) RETURN a")


VARIABLES = st.sampled_from(["a", "b", "c"])
TEXTS = st.text("xy;'", max_size=3)
NODES = st.builds('({}:{} {{name: "{}"}})'.format, VARIABLES, st.sampled_from("AB"), TEXTS)
CLAUSES = st.builds("{} {}-[:R]->{}".format, st.sampled_from(["CREATE", "MERGE"]), NODES, NODES)


@given(st.lists(CLAUSES, min_size=1, max_size=3))
def test_mending_twice_is_mending_once(clauses):
    once = merge_known("\n".join(clauses))
    assert merge_known(once) == once and "CREATE" not in once


FRAGMENTS = st.sampled_from(
    [
        "MERGE (a:A {name: 'x'})",
        "-[:R {k: {l: 1}}]->(b)",
        "SET a.x = {k: 1},",
        "ON CREATE SET",
        "CALL {",
        "EXISTS {",
        "}",
        "FOREACH (i IN [1] | ",
        "WITH a.x AS",
        "UNWIND [",
        "MATCH (n:A|B",
        ")",
        "]",
        ";",
        "WHERE",
        "DETACH",
        "YIELD",
        "$p",
    ]
)


@given(st.lists(FRAGMENTS, max_size=8).map(" ".join))
@example("MERGE (a:A")
@example("CALL {")
def test_any_block_is_made_ready_or_refused_in_words(text):
    for ready in (ready_to_write, ready_to_query):
        with contextlib.suppress(QueryError, NotReadable):
            ready(text, {"x.y"})
