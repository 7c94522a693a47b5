"""On a real server with APOC core: what only reads works, all else is refused before it is run."""

from __future__ import annotations

import socketserver
import threading
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from kgot_core.errors import QueryError
from kgot_neo4j.connection import Connection
from kgot_neo4j.cypher.screen import refused
from kgot_neo4j.cypher.tokens import tokenize

pytestmark = pytest.mark.xdist_group("neo4j-apoc")

# What each would do on this server is seen in the test that runs them past the backend.
WRITING = [
    "CALL apoc.cypher.doIt('CREATE (:Hacked)', {}) YIELD value RETURN value",
    "CALL apoc.cypher.runMany('CREATE (:Hacked);\\nCREATE (:Hacked);', {}) YIELD row RETURN row",
    "CALL apoc.periodic.iterate('RETURN 1', 'CREATE (:Hacked)', {}) YIELD total RETURN total",
    "CALL apoc.periodic.commit('CREATE (h:Hacked) WITH h LIMIT 1 RETURN 0', {}) YIELD updates RETURN updates",
    "CALL apoc.create.node(['Hacked'], {}) YIELD node RETURN node",
    "CALL apoc.merge.node(['Hacked'], {name: 'x'}) YIELD node RETURN node",
    "CALL apoc.do.when(true, 'CREATE (:Hacked) RETURN 1', '', {}) YIELD value RETURN value",
]
READING_ELSEWHERE = [
    "CALL apoc.load.json('{url}') YIELD value RETURN value",
    "CALL apoc.load.jsonParams('{url}', {{}}, null) YIELD value RETURN value",
    "CALL apoc.load.xml('{url}') YIELD value RETURN value",
    "CALL apoc.import.json('{url}') YIELD nodes RETURN nodes",
    "CALL apoc.cypher.run(\"LOAD CSV FROM '{url}' AS row RETURN row\", {{}}) YIELD value RETURN value",
    "CALL apoc.meta.graph.of(\"LOAD CSV FROM '{url}' AS row RETURN row\", {{}}) YIELD nodes RETURN nodes",
]
EXPORTING = [
    "CALL apoc.export.cypher.all('kgot-export', {format: 'plain'}) YIELD file RETURN file",
    "CALL apoc.export.csv.query('RETURN 1 AS x', 'kgot-export', {}) YIELD file RETURN file",
    "CALL apoc.export.json.all('kgot-export', {}) YIELD file RETURN file",
]
OTHERS = [
    "CALL apoc.cypher.run('CREATE (:Hacked) RETURN 1', {}) YIELD value RETURN value",
    "RETURN apoc.cypher.runFirstColumnSingle('CREATE (:Hacked) RETURN 1', {}) AS x",
    "CALL apoc.meta.data.of('CREATE (h:Hacked) RETURN h', {}) YIELD label RETURN label",
    "CALL apoc.when(true, 'CREATE (:Hacked) RETURN 1', '', {}) YIELD value RETURN value",
    "CALL apoc.export.cypher.all(null, {stream: true}) YIELD cypherStatements RETURN cypherStatements",
    "CALL apoc.trigger.install('neo4j', 'x', 'CREATE (:Hacked)', {}) YIELD name RETURN name",
    "CALL apoc.systemdb.graph() YIELD nodes RETURN nodes",
    "CALL apoc.util.sleep(100000)",
    "CALL apoc.log.stream('neo4j.log') YIELD entry RETURN entry",
    "CALL apoc.schema.assert({}, {}) YIELD label RETURN label",
    "CALL apoc.nodes.delete([1], 1) YIELD value RETURN value",
    "CALL apoc.refactor.rename.label('A', 'B')",
    "CALL apoc.lock.all([], [])",
    "CALL apoc.warmup.run()",
    "CALL apoc.spatial.geocode('x') YIELD location RETURN location",
    "MATCH (n:A) CALL `apoc` . `cypher` . doIt('CREATE (:Hacked)', {}) YIELD value RETURN value",
    r"CALL apoc.cypher.\u0064oIt('CREATE (:Hacked)', {}) YIELD value RETURN value",
    "RETURN [x IN [1] | apoc.cypher.runFirstColumnMany('CREATE (:Hacked) RETURN 1', {})] AS x",
    "CALL { CALL apoc.cypher.doIt('CREATE (:Hacked)', {}) YIELD value RETURN value } RETURN value",
]


@pytest.fixture
def apoc() -> bool:
    return True


class Listener(socketserver.ThreadingTCPServer):
    """Counts who comes, and answers nobody."""

    allow_reuse_address = True
    visits = 0

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), socketserver.BaseRequestHandler)

    def process_request(self, request: Any, client_address: Any) -> None:
        self.visits += 1
        self.shutdown_request(request)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/x"


@pytest.fixture
def listener() -> Iterator[Listener]:
    with Listener() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def raw(graph: Any, text: str, parameters: Mapping[str, Any] | None = None) -> list[list[Any]]:
    with graph.backend._connection.session(write=True) as session:
        return session.run(text, parameters).values()  # type: ignore[no-any-return]


def hacked(graph: Any) -> int:
    return int(raw(graph, "MATCH (n:Hacked) RETURN count(n)")[0][0])


def exported(graph: Any) -> bool:
    from neo4j.exceptions import ClientError

    try:
        return bool(raw(graph, "LOAD CSV FROM 'file:///kgot-export' AS row RETURN count(row)"))
    except ClientError:
        return False


def test_all_but_reading_is_refused_before_it_is_run(graph, listener, monkeypatch):
    elsewhere = [text.format(url=listener.url) for text in READING_ELSEWHERE]
    with monkeypatch.context() as patch:
        patch.setattr(Connection, "session", lambda *_, **__: pytest.fail("the server was asked"))
        for text in (*WRITING, *elsewhere, *EXPORTING, *OTHERS):
            for run in (graph.query, graph.write):
                with pytest.raises(QueryError, match=r"(?i)the (procedure|function) apoc\S+ is not available here"):
                    run(text)
    assert (hacked(graph), listener.visits, graph.nodes) == (0, 0, [])


def test_what_is_refused_would_have_been_done(graph, listener):
    """Else the test before could not fail."""
    from neo4j.exceptions import ClientError

    for count, text in enumerate(WRITING, 1):
        raw(graph, text)
        assert hacked(graph) >= count, text
    raw(graph, "MATCH (n:Hacked) DETACH DELETE n")
    for count, text in enumerate(READING_ELSEWHERE, 1):
        with pytest.raises(ClientError):
            raw(graph, text.format(url=listener.url))
        assert listener.visits >= count, text
    raw(graph, EXPORTING[0])
    assert exported(graph)


def test_what_only_reads_works(graph):
    graph.write(
        "MERGE (a:Stop {name: apoc.text.capitalize('porto')}) MERGE (b:Stop {name: 'Braga'}) "
        "MERGE (c:Stop {name: 'Viana'}) MERGE (a)-[:RAIL {km: 50}]->(b) MERGE (b)-[:RAIL {km: 60}]->(c) "
        "MERGE (a)-[:RAIL {km: 200}]->(c)"
    )
    assert graph.query(
        "RETURN apoc.text.join(['a', 'b'], '-') AS t, apoc.coll.sum([1, 2, 3]) AS s, apoc.coll.toSet([2, 2, 1]) AS u, "
        "apoc.map.merge({a: 1}, {b: 2}) AS m, apoc.number.romanToArabic('XIV') AS n, apoc.convert.toList(1) AS l, "
        "apoc.convert.fromJsonMap('{\"k\": [1]}') AS j, apoc.date.convertFormat('2020-02-01', 'date', 'yyyy') AS y, "
        "apoc.math.maxByte() AS b, apoc.meta.cypher.type(1.5) AS k, apoc.util.md5(['a']) AS h"
    ) == [
        {
            "t": "a-b",
            "s": 6.0,
            "u": [2, 1],
            "m": {"a": 1, "b": 2},
            "n": 14,
            "l": [1],
            "j": {"k": [1]},
            "y": "2020",
            "b": 127,
            "k": "FLOAT",
            "h": "0cc175b9c0f1b6a831c399e269772661",
        }
    ]
    assert graph.query("MATCH ()-[r:RAIL]->() RETURN apoc.agg.median(r.km) AS m") == [{"m": 60.0}]
    start = "MATCH (a:Stop {name: 'Porto'}) "
    assert graph.query(
        start + "CALL apoc.path.subgraphNodes(a, {relationshipFilter: 'RAIL>'}) YIELD node RETURN node.name AS n "
        "ORDER BY n"
    ) == [{"n": "Braga"}, {"n": "Porto"}, {"n": "Viana"}]
    assert graph.query(start + "CALL apoc.path.expand(a, 'RAIL>', '', 2, 2) YIELD path RETURN length(path) AS n") == [
        {"n": 2}
    ]
    assert graph.query(
        start + "MATCH (c:Stop {name: 'Viana'}) CALL apoc.algo.dijkstra(a, c, 'RAIL', 'km') YIELD weight "
        "RETURN weight AS w"
    ) == [{"w": 110.0}]
    assert graph.query(start + "RETURN apoc.node.degree.out(a, 'RAIL') AS d") == [{"d": 2}]
    assert graph.query("CALL apoc.meta.stats() YIELD labels RETURN labels") == [{"labels": {"Stop": 3}}]
    for query in (
        "CALL apoc.meta.data() YIELD label RETURN collect(DISTINCT label) AS l",
        "CALL apoc.meta.schema() YIELD value RETURN value",
        "CALL apoc.meta.graph() YIELD nodes RETURN nodes",
        "RETURN apoc.map.fromNodes('_' + 'KGOT', '_kgot' + '_id') AS m",
    ):
        (row,) = graph.query(query)
        assert "_kgot" not in str(row).lower()
    assert len(graph.nodes) == 3


def test_no_procedure_that_is_allowed_runs_a_text_that_it_is_given(graph, listener):
    from neo4j.exceptions import Neo4jError

    columns = "YIELD name, argumentDescription WHERE name STARTS WITH 'apoc.'"
    modes = dict(raw(graph, "SHOW PROCEDURES YIELD name, mode WHERE name STARTS WITH 'apoc.' RETURN name, mode"))
    assert len(modes) > 100
    writing = [name for name, mode in modes.items() if mode not in ("READ", "DEFAULT")]
    allowed = [name for name in writing if not refused(tokenize(f"CALL {name}()"), query=False)]
    assert not allowed and len(writing) > 50
    cypher = f"LOAD CSV FROM '{listener.url}' AS row CREATE (h:Hacked) RETURN h"
    tried = 0
    for kind, call in (("PROCEDURES", "CALL {}"), ("FUNCTIONS", "RETURN {}")):
        for name, arguments in raw(graph, f"SHOW {kind} {columns} RETURN name, argumentDescription"):
            text = call.format(f"{name}({', '.join('$' + argument['name'] for argument in arguments)})")
            if refused(tokenize(text), query=True):
                continue
            tried += 1
            for harmful in (cypher, listener.url):
                given = {argument["name"]: _argument(str(argument["type"]), harmful) for argument in arguments}
                try:
                    raw(graph, text, given)
                except Neo4jError:
                    continue
    assert tried > 200
    assert (listener.visits, hacked(graph)) == (0, 0)


def _argument(kind: str, text: str) -> Any:
    if kind.startswith("LIST"):
        return [text]
    if kind.startswith(("INTEGER", "FLOAT", "NUMBER")):
        return 1
    return {"BOOLEAN": True, "MAP": {"statement": text, "url": text}}.get(kind.split()[0], text)
