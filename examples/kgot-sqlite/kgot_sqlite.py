import json
import sqlite3

from kgot_core import hookimpl
from kgot_core.contracts.backend import Feature, GraphBackend
from kgot_core.contracts.dialect import Dialect, QueryExample
from kgot_core.errors import QueryError, StoreUnavailable
from kgot_core.graph.elements import Edge, GraphSnapshot, Node
from kgot_core.graph.values import decode_properties, encode_properties
from kgot_core.providers import BackendProvider

TABLES = """CREATE TABLE node (id TEXT UNIQUE, name TEXT PRIMARY KEY, label TEXT, facts TEXT NOT NULL DEFAULT '{}');
CREATE TABLE edge (id TEXT UNIQUE, source TEXT NOT NULL REFERENCES node ON UPDATE CASCADE ON DELETE CASCADE,
  type TEXT NOT NULL, target TEXT NOT NULL REFERENCES node ON UPDATE CASCADE ON DELETE CASCADE,
  facts TEXT NOT NULL DEFAULT '{}', PRIMARY KEY (source, type, target));"""
READING = {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE}
WRITING = READING | {sqlite3.SQLITE_INSERT, sqlite3.SQLITE_UPDATE, sqlite3.SQLITE_DELETE}
NUMBERS = "SELECT substr(id, 8) FROM (SELECT id FROM node UNION SELECT id FROM edge) WHERE id GLOB 'sqlite [0-9]*'"
PUT = "INSERT INTO node VALUES (?1, ?2, ?3, ?4) ON CONFLICT (id) DO UPDATE SET name = ?2, label = ?3, facts = ?4"
NAME = "(SELECT name FROM node WHERE id = ?)"
LINK = f"INSERT INTO edge VALUES (?, {NAME}, ?, {NAME}, ?)"
GUIDE = """SQL of SQLite. Tables node (name, label, facts) and edge (source, type, target, facts); source and target are
names of nodes, facts is a JSON object, as in json_extract(facts, '$.age'). Use INSERT OR IGNORE, and one SELECT."""
WRITE = """INSERT OR IGNORE INTO node (name, label, facts) VALUES ('Vela', 'Ship', '{"age": 3}'), ('Orm', 'Port', '{}');
INSERT OR IGNORE INTO edge (source, type, target) VALUES ('Vela', 'LIES_IN', 'Orm');"""
QUESTION = QueryExample("Where lies the Vela?", "SELECT target FROM edge WHERE source = 'Vela'", "Orm", ("Vela", "Orm"))


class SqliteBackend(GraphBackend):
    dialect = Dialect("SQL of SQLite", "sql", GUIDE, (WRITE,), (QUESTION,), "INSERT INTO nodes VALUES (1)")
    features = frozenset(Feature) - {Feature.SEVERAL_LABELS, Feature.PARALLEL_EDGES}

    def __init__(self, settings, context):
        self.allowed = READING if context.scope.mode == "read_only" else WRITING
        self.closed, self.done, self.last = False, set(), 0
        self.db = self.busy = sqlite3.connect(":memory:", check_same_thread=False)
        self.db.executescript(TABLES)

    def run(self, work, allowed, call=None):
        """Runs work on a copy of the database; a call that writes lets the copy take the place of the database."""
        if self.closed:
            raise StoreUnavailable("the graph is closed")
        if call is not None and call.id in self.done:
            return None
        copy = self.busy = sqlite3.connect(":memory:", check_same_thread=False, isolation_level=None)
        self.db.backup(copy)
        copy.row_factory = sqlite3.Row
        copy.execute("PRAGMA foreign_keys = ON")
        copy.set_authorizer(lambda action, *_: int(action not in allowed))
        try:
            result = work(copy)
            if call is None:
                return result
            copy.set_authorizer(None)
            self.give_ids(copy)
            read(copy)  # raises where facts are no properties
        except (sqlite3.Error, sqlite3.Warning, ValueError, TypeError, AttributeError) as error:
            raise QueryError(str(error)) from None
        self.db = copy
        self.done.add(call.id)

    def give_ids(self, db):
        self.last = max([self.last, *(int(number) for (number,) in db.execute(NUMBERS))])
        for table in ("node", "edge"):
            for (row,) in db.execute(f"SELECT rowid FROM {table} WHERE id IS NULL ORDER BY rowid").fetchall():
                self.last += 1
                db.execute(f"UPDATE {table} SET id = ? WHERE rowid = ?", [f"sqlite {self.last}", row])

    def write(self, chain, call):
        self.run(lambda db: db.executescript(chain), self.allowed, call)

    def query(self, statement, call):
        def work(db):
            rows = [dict(row) for row in db.execute(statement).fetchmany(call.rows)]
            json.dumps(rows, allow_nan=False)  # raises where a value is none of JSON
            return [row for row in rows if set(row.values()) != {None}]

        return self.run(work, READING)

    def apply(self, change, call):
        self.run(lambda db: take(db, change), WRITING, call)

    def snapshot(self):
        return self.run(read, READING)

    def cancel(self):
        self.busy.interrupt()

    def close(self):
        self.closed = True


def take(db, change):
    for table in ("edge", "node"):
        db.executemany(f"DELETE FROM {table} WHERE id = ?", [[element_id] for element_id in change.removed])
    for element in sorted((*change.added, *change.changed), key=lambda element: isinstance(element, Edge)):
        facts = json.dumps(encode_properties(element.properties))
        if isinstance(element, Edge):
            db.execute("DELETE FROM edge WHERE id = ?", [element.id])
            db.execute(LINK, [element.id, element.source, element.type, element.target, facts])
        elif len(element.labels) > 1:
            raise ValueError(f"the node {element.id} has several labels, and this store holds one")
        else:
            name = element.key or str(element.properties.get("name") or element.id)
            db.execute(PUT, [element.id, name, *(element.labels or [None]), facts])


def read(db):
    nodes, edges = {}, []
    for node_id, name, label, facts in db.execute("SELECT * FROM node ORDER BY rowid"):
        nodes[name] = Node(node_id, (label,) if label else (), decode_properties(json.loads(facts)), name)
    for edge_id, source, type_, target, facts in db.execute("SELECT * FROM edge ORDER BY rowid"):
        edges.append(Edge(edge_id, type_, nodes[source].id, nodes[target].id, decode_properties(json.loads(facts))))
    return GraphSnapshot(tuple(nodes.values()), tuple(edges))


@hookimpl
def kgot_graph_backends():
    return [BackendProvider(name="sqlite", summary="A graph in SQLite, written in SQL.", open=SqliteBackend)]
