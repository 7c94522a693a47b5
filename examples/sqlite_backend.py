"""A whole graph backend in one file: the task's graph in SQLite, written and queried in SQL.

Try it: kgot run --plugin examples/sqlite_backend.py --backend sqlite "..."
"""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from kgot_core.contracts.backend import Call, Feature, GraphBackend, OpenContext, Row
from kgot_core.contracts.dialect import Dialect, QueryExample
from kgot_core.errors import QueryError, Refused, StoreUnavailable
from kgot_core.graph.elements import Edge, Element, GraphChange, GraphSnapshot, Node
from kgot_core.graph.values import decode_properties, encode_properties
from kgot_core.hookspecs import hookimpl
from kgot_core.providers import BackendProvider

# Columns "id" hold the neutral ids that the core gave; what the model inserts has none, and is known by its name.
TABLES = """
CREATE TABLE node (id TEXT, name TEXT PRIMARY KEY, label TEXT,
    facts TEXT NOT NULL DEFAULT '{}' CHECK (json_type(facts) = 'object'));
CREATE TABLE edge (id TEXT, type TEXT NOT NULL,
    source TEXT NOT NULL REFERENCES node (name) ON UPDATE CASCADE ON DELETE CASCADE,
    target TEXT NOT NULL REFERENCES node (name) ON UPDATE CASCADE ON DELETE CASCADE,
    PRIMARY KEY (source, type, target));
PRAGMA foreign_keys = ON;
"""
READING = frozenset({sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE})
WRITING = READING | {sqlite3.SQLITE_INSERT, sqlite3.SQLITE_UPDATE, sqlite3.SQLITE_DELETE}

DIALECT = Dialect(
    language="the SQL of SQLite",
    fence="sql",
    guide=(
        "Two tables hold the graph: node (name, label, facts) and edge (source, type, target). facts is a JSON object;"
        " read it with json_extract(facts, '$.key'). source and target are names of nodes, which must be there first."
        " Write with INSERT OR IGNORE, UPDATE and DELETE; query with one SELECT."
    ),
    write_examples=(
        "INSERT OR IGNORE INTO node (name, label, facts) VALUES\n"
        "  ('Vela', 'Ship', '{\"masts\": 3}'), ('Osk', 'Ship', '{\"masts\": 1}'), ('Port Orm', 'Harbour', '{}');\n"
        "INSERT OR IGNORE INTO edge (source, type, target) VALUES ('Vela', 'LIES_IN', 'Port Orm');",
    ),
    query_examples=(
        QueryExample(
            question="How many masts has the ship that lies in Port Orm?",
            query="SELECT ship.name, json_extract(ship.facts, '$.masts') AS masts FROM edge JOIN node AS ship\n"
            "ON ship.name = edge.source WHERE edge.type = 'LIES_IN' AND edge.target = 'Port Orm'",
            answer="3",
            basis=("Vela", "Port Orm"),
        ),
        QueryExample(
            question="Which ship has the fewest masts?",
            query="SELECT name, json_extract(facts, '$.masts') AS masts FROM node WHERE label = 'Ship' ORDER BY masts",
            answer="Osk",
            basis=("Osk",),
        ),
    ),
    invalid_example="INSERT INTO nodes VALUES ('x')",
)


@dataclass(frozen=True)
class SqliteSettings:
    """``backends.sqlite.*``."""

    steps: int = field(default=10_000, metadata={"help": "steps of the database between two looks at the clock"})


class SqliteBackend(GraphBackend):
    """One graph in a database of its own, in memory."""

    dialect = DIALECT
    features = frozenset({Feature.LIST_PROPERTIES, Feature.FREE_SCHEMA})

    def __init__(self, settings: SqliteSettings, *, read_only: bool = False) -> None:
        self._steps = settings.steps
        self._read_only = read_only
        self._done: set[str] = set()
        self._ending = False
        self._closed = False
        # The core calls from threads of its own. Transactions are begun and ended here, never by the driver.
        self._db = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        self._db.executescript(TABLES)

    def write(self, chain: str, call: Call) -> GraphChange | None:
        if self._read_only:
            raise Refused("the graph was opened to be read")
        with self._changing(call):
            for statement in _statements(chain) if call.id not in self._done else ():
                self._db.execute(statement)
        return None  # the core compares snapshots

    def query(self, statement: str, call: Call) -> Sequence[Row]:
        with self._limits(call, READING):
            cursor = self._db.execute(statement)
            rows = cursor.fetchmany(call.rows)
        return [dict(zip([column[0] for column in cursor.description or ()], row, strict=True)) for row in rows]

    def apply(self, change: GraphChange, call: Call) -> None:
        with self._changing(call):
            if call.id in self._done:
                return
            known = {element.id: element for element in self.snapshot().elements()}
            names = {element.id: element.key for element in known.values() if isinstance(element, Node)}
            for gone in change.removed:
                self._remove(known.get(gone), names)
            for element in (*change.added, *change.changed):
                if isinstance(element, Node):
                    self._put_node(element, names)
                else:
                    self._remove(known.get(element.id), names)
                    self._put_edge(element, names)

    def snapshot(self) -> GraphSnapshot:
        self._check_open()
        nodes: dict[str, Node] = {}
        for given, name, label, facts in self._db.execute("SELECT id, name, label, facts FROM node ORDER BY name"):
            labels = (label,) if label else ()
            nodes[name] = Node(given or f"node {name}", labels, decode_properties(json.loads(facts)), key=name)
        edges = [
            Edge(given or f"edge {source} {kind} {target}", kind, nodes[source].id, nodes[target].id)
            for given, kind, source, target in self._db.execute(
                "SELECT id, type, source, target FROM edge ORDER BY source, type, target"
            )
        ]
        return GraphSnapshot(tuple(nodes.values()), tuple(edges))

    def cancel(self) -> None:
        if not self._closed:
            self._db.interrupt()

    def close(self) -> None:
        self._closed = True
        self._db.close()

    def _check_open(self) -> None:
        if self._closed:
            raise StoreUnavailable("the graph was closed")

    def _put_node(self, node: Node, names: dict[str, str]) -> None:
        if len(node.labels) > 1:
            raise QueryError(f"the node {node.key} has several labels; here a node has one")
        row = (
            node.id,
            node.key or str(node.properties.get("name", node.id)),
            node.labels[0] if node.labels else None,
            json.dumps(encode_properties(node.properties), ensure_ascii=False),
        )
        if node.id in names:
            change = "UPDATE node SET id = ?, name = ?, label = ?, facts = ? WHERE name = ?"
            self._db.execute(change, (*row, names[node.id]))
        else:
            self._db.execute("INSERT INTO node (id, name, label, facts) VALUES (?, ?, ?, ?)", row)
        names[node.id] = row[1]

    def _put_edge(self, edge: Edge, names: dict[str, str]) -> None:
        if edge.properties:
            raise QueryError(f"the edge {edge.type} has properties; here an edge has none")
        if missing := {edge.source, edge.target} - names.keys():
            raise QueryError(f"the edge {edge.type} leads to what is not there: {', '.join(sorted(missing))}")
        row = (edge.id, edge.type, names[edge.source], names[edge.target])
        self._db.execute("INSERT INTO edge (id, type, source, target) VALUES (?, ?, ?, ?)", row)

    def _remove(self, element: Element | None, names: dict[str, str]) -> None:
        if isinstance(element, Node):
            self._db.execute("DELETE FROM node WHERE name = ?", (names.pop(element.id),))
        elif element is not None:
            row = (element.type, names.get(element.source), names.get(element.target))
            self._db.execute("DELETE FROM edge WHERE type = ? AND source = ? AND target = ?", row)

    @contextmanager
    def _changing(self, call: Call) -> Iterator[None]:
        """One transaction, all or nothing. Only here may one begin or end: a block that says COMMIT is refused."""
        with self._limits(call, WRITING):
            self._in_transaction("BEGIN")
            try:
                yield
            except BaseException:
                self._in_transaction("ROLLBACK")
                raise
            self._in_transaction("COMMIT")
        self._done.add(call.id)

    def _in_transaction(self, statement: str) -> None:
        self._ending = True
        try:
            self._db.execute(statement)
        finally:
            self._ending = False

    @contextmanager
    def _limits(self, call: Call, actions: frozenset[int]) -> Iterator[None]:
        """Allows these actions on the two tables and nothing else, for as long as the call may take."""
        self._check_open()

        def allow(action: int, table: str | None, *_: str | None) -> int:
            if action == sqlite3.SQLITE_TRANSACTION:
                return sqlite3.SQLITE_OK if self._ending else sqlite3.SQLITE_DENY
            ours = action in READING or table in ("node", "edge")
            return sqlite3.SQLITE_OK if action in actions and ours else sqlite3.SQLITE_DENY

        end = time.monotonic() + call.seconds
        self._db.set_authorizer(allow)
        self._db.set_progress_handler(lambda: time.monotonic() > end, self._steps)
        try:
            yield
        except sqlite3.Error as error:
            raise QueryError(str(error)) from None
        finally:
            self._db.set_authorizer(None)
            self._db.set_progress_handler(None, 0)


def _statements(text: str) -> Iterator[str]:
    """Splits a block at the semicolons that end a statement, not at those in strings and comments."""
    statement = ""
    for piece in text.split(";"):
        statement += piece + ";"
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""
    if statement.strip(" \n\t;"):
        yield statement


def _open(settings: SqliteSettings, context: OpenContext) -> GraphBackend:
    return SqliteBackend(settings, read_only=context.scope.mode == "read_only")


@hookimpl
def kgot_graph_backends() -> list[BackendProvider]:
    return [BackendProvider(name="sqlite", summary="SQLite, in memory.", settings=SqliteSettings, open=_open)]
