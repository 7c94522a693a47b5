"""Writes of a model on the real server: one transaction, known elements found again, the right change."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from kgot_core.contracts.backend import Call
from kgot_core.errors import QueryError
from kgot_core.graph.elements import Edge, Node
from kgot_core.graph.fold import TaskGraph
from kgot_neo4j import transactions

pytestmark = pytest.mark.xdist_group("neo4j")


def test_an_apostrophe_is_mended_or_told_in_the_server_s_words(graph):  # D09
    graph.write("MERGE (g:Game {name: 'Rubik's Cube', size: \"17\\\"\"})")
    assert graph.nodes == [(("Game",), {"name": "Rubik's Cube", "size": '17"'})]
    with pytest.raises(QueryError) as caught:
        graph.write("MERGE (g:Game {name: 'the boys' hut})")
    assert caught.value.line == 1 and "Invalid input" in caught.value.message
    with pytest.raises(QueryError, match=r"(?i)quote|invalid input"):
        graph.write("MERGE (g:Game {name: 'open})")
    assert len(graph.nodes) == 1


def test_a_statement_that_was_cut_off_writes_nothing(graph):
    whole = "MERGE (a:Person {name: 'Ada'}) SET a.born = [1815]; MERGE (b:Person {name: 'Lin'})"
    for end in range(1, len(whole)):
        part = whole[:end]
        if part.count("{") != part.count("}") or part.count("(") != part.count(")"):
            with pytest.raises(QueryError) as caught:
                graph.write(part)
            assert caught.value.message and caught.value.line == 1
    assert not graph.nodes


def test_merge_then_match(graph):  # D10
    text = "MERGE (a:Person {name: 'Ada'}) MERGE (b:Person {name: 'Lin'}) MATCH (a), (b) MERGE (a)-[:KNOWS]->(b)"
    for size in (3, 0):
        assert graph.write(text).size == size
    assert len(graph.nodes) == 2 and graph.edges == [("Ada", "KNOWS", "Lin", {})]


def test_several_statements_are_all_applied_or_none(graph):  # D11
    good = "MERGE (a:Tag {t: 'x;y'}); // two; three\nMERGE (b:Tag {t: \"it;s\"});\n"
    with pytest.raises(QueryError, match=r"statement 3: .*nothing of the block was written"):
        graph.write(good + "MERGE (c:Tag {t: })")
    assert not graph.nodes
    graph.write(good + "MERGE (c:Tag {t: 'z'})")
    assert [properties["t"] for _, properties in graph.nodes] == ["it;s", "x;y", "z"]


def test_names_with_spaces_are_kept_and_found(graph):  # D12
    graph.write(
        "MERGE (t:Space Probe {name:'Kestrel-2'})-[:LAUNCHED-BY]->(o:Agency/Lab {name:'ORB'}) "
        "MERGE (o)-[:contains]->(r:Order {name:'R1'})"
    )
    assert {labels for labels, _ in graph.nodes} == {("Space Probe",), ("Agency/Lab",), ("Order",)}
    assert [kind for _, kind, _, _ in graph.edges] == ["LAUNCHED-BY", "contains"]
    state = TaskGraph(graph.snapshot)
    lines = graph.backend.dialect.lines(state, state)
    assert ':Space Probe name="Kestrel-2"' in lines and '"Kestrel-2" -LAUNCHED-BY-> "ORB"' in lines
    for label in ("Space Probe", "`Space Probe`"):
        assert graph.query(f"MATCH (t:{label})-[:LAUNCHED-BY]->(o) RETURN o.name AS n") == [{"n": "ORB"}]


def test_a_map_is_flattened(graph):  # D13
    graph.write("MERGE (c:Firm {name:'Brandt Oy'}) SET c.sales = {y2021: 18788, y2022: 5575}")
    graph.write("MERGE (c:Firm {name:'Brandt Oy'})")
    assert graph.nodes == [(("Firm",), {"name": "Brandt Oy", "sales.y2021": 18788, "sales.y2022": 5575})]
    assert graph.query("MATCH (c:Firm) RETURN c.sales.y2021 AS y") == [{"y": 18788}]
    with pytest.raises(QueryError, match="give each entry of the map a property of its own"):
        graph.write("MERGE (c:Firm {name:'B'}) WITH c, {a: {b: 1}} AS m SET c.m = m.a")


def test_create_again_finds_what_is_there(graph):  # D14
    for size in (3, 0):
        assert graph.write("CREATE (:City {name:'Porto'})-[:IN]->(:Country {name:'Portugal'})").size == size
    assert not graph.write("INSERT (:City {name:'Porto'})-[:IN]->(:Country {name:'Portugal'})")
    change = graph.write("CREATE (:City {name:'Porto', river: 'Douro'})")
    assert not change.added and len(change.changed) == 1
    assert len(graph.nodes) == 2 and len(graph.edges) == 1


def test_an_unknown_procedure_goes_back_to_the_model(graph):  # D16
    with pytest.raises(QueryError, match=r"apoc\.merge.node is not available"):
        graph.write("CALL apoc.merge.node(['City'],{name:'Turku'}) YIELD node RETURN node")
    with pytest.raises(QueryError, match=r"apoc.path.expand"):
        graph.query("CALL apoc.path.expand(1, 2, 3, 4, 5) YIELD path RETURN path")


def test_equal_names_are_one_node_and_near_ones_stand_side_by_side(graph):  # D45
    for name, label in (("System Admin", "Role"), ("system admin", "Role"), ("System  Admin ", "Role")):
        graph.write(f'MERGE (r:{label} {{name: "{name}"}})')
    graph.write('MERGE (r:Role {name: "System Admin"}) MERGE (c:Course {name: "System Admin"})')
    assert len(graph.nodes) == 4
    state = TaskGraph(graph.snapshot)
    roles = [line for line in graph.backend.dialect.lines(state, state) if line.startswith(":Role")]
    assert len(roles) == 3 and graph.backend.dialect.lines(state, state)[1:] == roles


def test_statements_that_share_variables_never_leave_empty_nodes(graph):  # D53
    block = "MERGE (f:Film {title: 'The Lantern'}); MERGE (a1:Actor {name: 'Nora Vale'}); MERGE (f)-[:STARRING]->(a1);"
    assert graph.write(block).size == 3
    for text in (
        "MERGE (f)-[:STARRING]->(a1)",
        "CREATE (x)",
        "MERGE (f:Film {title: 'L'}) WITH 1 AS x MERGE (f)-[:A]->(f)",
    ):
        with pytest.raises(QueryError, match="new empty node"):
            graph.write(text)
    with pytest.raises(QueryError, match="without a label"):
        graph.write("MERGE (f:Film {title: 'other'}) CREATE (n) SET n.name = null")
    assert len(graph.nodes) == 2 and len(graph.edges) == 1


def test_a_variable_declared_twice_is_the_server_s_error(graph):  # D54
    text = (
        'MERGE (film:Film {title: "The Lantern"}) MERGE (star:Person {name: "Nora Vale"}) '
        'MERGE (star:Person {name: "Ida Moss"}) MERGE (film)-[:STARRING]->(star)'
    )
    with pytest.raises(QueryError, match="Variable `star` already declared") as caught:
        graph.write(text)
    assert text[caught.value.column - 1 :].startswith("star:Person") and not graph.nodes
    graph.write(text.replace('(star:Person {name: "Ida', '(s2:Person {name: "Ida') + " MERGE (film)-[:STARRING]->(s2)")
    assert len(graph.nodes) == 3 and len(graph.edges) == 2


def test_changes_say_what_became_of_each_element(graph):
    first = graph.write("MERGE (a:A {name: 'x', n: 1})-[:R {k: 1}]->(b:B {name: 'y'})").added
    a, b, edge = first
    assert isinstance(a, Node) and isinstance(edge, Edge) and (edge.source, edge.target) == (a.id, b.id)
    change = graph.write("MATCH (a:A) SET a.n = 2, a:Old")
    assert [e.id for e in change.changed] == [a.id] and not change.added and not change.removed
    assert graph.write("MATCH (:A)-[r]->(:B) SET r.k = 2").changed[0].properties == {"k": 2}
    assert graph.write("MATCH (a:Old) REMOVE a:Old REMOVE a.n").changed[0].properties == {"name": "x"}
    assert graph.write("MATCH (a:A) SET a.n = null") == type(change)()
    mixed = graph.write("MATCH (b:B) SET b.n = 3 MERGE (c:C {name: 'z'}) MERGE (b)-[:R]->(c)")
    assert len(mixed.added) == 2 and [e.id for e in mixed.changed] == [b.id]
    assert set(graph.write("MATCH (b:B) DETACH DELETE b").removed) == {b.id, edge.id, mixed.added[1].id}
    assert graph.write("FOREACH (i IN [1, 2] | MERGE (:N {i: i}))").size == 2
    assert graph.write("UNWIND [3, 4] AS i MERGE (n:N {i: i}) RETURN n.i ORDER BY n.i LIMIT 1").size == 2
    assert graph.write("CALL { CREATE (n:M {i: 1}) RETURN n } MERGE (n)-[:R]->(:M {i: 2})").size == 3
    assert graph.write("MATCH (n) WHERE n.i = 1 SET n.j = 1").size == 2
    assert len(graph.write("MATCH (n) DETACH DELETE n").removed) == 9 and not graph.nodes


@pytest.mark.parametrize("others", [1, 200])
def test_new_elements_are_found_also_where_others_wrote_meanwhile(graph, others):
    graph.write("MERGE (:N {name: 'first'})")
    with graph.backend._connection.session(write=True) as session:
        session.run("UNWIND range(1, $others) AS i CREATE (:Other {i: i})", others=others).consume()
    change = graph.write("FOREACH (i IN [1, 2] | MERGE (:N {name: 'new ' + i}))")
    own = [node.properties["name"] for node in change.added if node.labels == ("N",)]
    assert sorted(own) == ["new 1", "new 2"] and len(change.added) == others + 2


def test_values_that_no_property_holds_are_named(graph):
    with pytest.raises(QueryError, match="property v is a number beyond 64 bits"):
        graph.write("MERGE (n:X {name: 'big'}) SET n.v = 1180591620717411303424")
    with pytest.raises(QueryError, match=r"node nan: the property v is not a number \(NaN\)"):
        graph.write("MERGE (n:X {name: 'nan'}) SET n.v = 0.0/0.0")
    with pytest.raises(QueryError, match="big: the property v is a number beyond 64 bits"):
        graph.apply(Node("a", ("X",), {"name": "big", "v": 2**70}))
    with pytest.raises(QueryError, match=r"property v is not a number"):
        graph.apply(Node("a", ("X",), {"name": "nan", "v": float("nan")}))
    assert not graph.nodes


def test_time_and_memory_of_a_statement_are_its_own_fault(graph):
    with pytest.raises(QueryError, match="took longer"):
        graph.write(
            "UNWIND range(1, 100000000) AS x UNWIND range(1, 100000000) AS y WITH count(*) AS c MERGE (:A {n: c})",
            seconds=1,
        )
    with pytest.raises(QueryError, match="more memory"):
        graph.query("UNWIND range(1, 50000000) AS x RETURN collect(x + 0.5) AS all", seconds=60)
    assert not graph.nodes


def test_writes_side_by_side_each_get_their_own_change(graph):
    folded, lock = TaskGraph(), threading.Lock()

    def write(number: int) -> None:
        text = (
            f'MERGE (c:City {{name: "City {number}"}}) MERGE (p:Port {{name: "Port {number}"}}) MERGE (c)-[:HAS]->(p)'
        )
        if number % 8 == 0:
            text = f'MERGE (c:City {{name: "Hub"}}) SET c.n{number} = {number} '
            text += f'MERGE (c)-[:HAS]->(:Port {{name: "P {number}"}})'
        change = graph.backend.write(text, Call(f"side {number}"))
        with lock:
            folded.apply(change)
        names = {str(element.properties.get("name")) for element in change.added if isinstance(element, Node)}
        assert names <= {f"City {number}", f"Port {number}", "Hub", f"P {number}"}

    with ThreadPoolExecutor(graph.backend.concurrency) as threads:
        list(threads.map(write, range(64)))
    found = graph.snapshot
    assert graph.backend.concurrency == 8 and len(found.nodes) == 56 * 2 + 8 + 1 and len(found.edges) == 64
    assert {e.id: e for e in folded}.keys() == {e.id for e in found.elements()}
    assert all(element.same_as(folded.get(element.id)) for element in found.elements())
    assert len([n for n in found.nodes if n.properties["name"] == "Hub"]) == 1


def test_writes_that_name_the_same_node_never_double_it(graph):
    text = 'MERGE (c:City {{name: "Porto"}}) MERGE (p:Port {{name: "P {}"}}) MERGE (c)-[:HAS]->(p)'
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda n: graph.backend.write(text.format(n), Call(f"same {n}")), range(16)))
    assert len(graph.nodes) == 17 and len(graph.edges) == 16


def test_two_chains_that_lock_each_other_out_both_get_through(graph, monkeypatch):
    from neo4j import Transaction

    deadlocks: list[str] = []
    may_pass, run = transactions.may_pass, Transaction.run
    meeting, met = threading.Barrier(2), set[str]()

    def counting(error: BaseException) -> bool:
        deadlocks.append(str(getattr(error, "code", "")))
        return may_pass(error)

    def meet(self: Transaction, query: Any, *arguments: Any, **named: Any) -> Any:
        # Each goes on to the other's node once both hold their own; only at the first try of each.
        if "then" in str(query) and query not in met:
            met.add(query)
            meeting.wait(30)
        return run(self, query, *arguments, **named)

    monkeypatch.setattr(transactions, "may_pass", counting)
    monkeypatch.setattr(Transaction, "run", meet)
    graph.write("UNWIND [1, 2] AS i CREATE (:Lock {i: i})")
    rounds = 12

    def write(first: int, second: int) -> None:
        for number in range(rounds):
            meeting.wait(30)
            # No text in quotes, by which the two would wait for each other before they come to the server.
            text = f"MATCH (n:Lock {{i: {first}}}) SET n.first_{number} = 1 CREATE (:Event)-[:OF]->(n); "
            text += f"MATCH (n:Lock {{i: {second}}}) SET n.then_{number} = 1 CREATE (:Event)-[:OF]->(n)"
            added = graph.backend.write(text, Call(f"{first} {number}", 60.0)).added
            assert sorted(type(element).__name__ for element in added) == ["Edge", "Edge", "Node", "Node"]

    with ThreadPoolExecutor(2) as threads:
        list(threads.map(write, (1, 2), (2, 1)))
    assert deadlocks.count("Neo.TransientError.Transaction.DeadlockDetected") >= rounds
    locks = [properties for labels, properties in graph.nodes if labels == ("Lock",)]
    assert [len(properties) for properties in locks] == [1 + 2 * rounds] * 2
    assert len(graph.nodes) == 2 + 4 * rounds and len(graph.edges) == 4 * rounds


def test_what_others_write_meanwhile_is_taken_in(graph):
    graph.write("MERGE (a:A {name: 'x'})")
    with graph.backend._connection.session(write=True) as session:
        session.run("CREATE (:Other {name: 'seen'})").consume()
    assert len(graph.nodes) == 2
    assert graph.write("MATCH (o:Other) SET o.n = 1").changed
