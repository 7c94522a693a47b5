"""One run owns one database: the bookkeeping that says who, and what kgot has made there.

All of it stands in nodes with the label ``_KGOT``: one for the hold, one for the run's graph, one for each write.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kgot_core.contracts.holder import Holder
from kgot_core.errors import Refused
from kgot_neo4j.connection import Connection
from kgot_neo4j.cypher.names import RESERVED
from kgot_neo4j.faults import is_driver_error

if TYPE_CHECKING:
    from neo4j import Transaction

CONSTRAINT = f"CREATE CONSTRAINT _kgot_id IF NOT EXISTS FOR (n:{RESERVED}) REQUIRE n._kgot_id IS UNIQUE"
_STATE = f"""
CALL {{ MATCH (n) RETURN count(n) AS everything }}
CALL {{ MATCH (n:{RESERVED}) RETURN count(n) AS kept }}
CALL {{ MATCH ()-[r]->() RETURN count(r) AS edges }}
CALL {{ MATCH (c:{RESERVED}) RETURN sum(c._kgot_nodes) AS our_nodes, sum(c._kgot_edges) AS our_edges }}
OPTIONAL MATCH (s:{RESERVED} {{_kgot_id: 'graph'}})
OPTIONAL MATCH (l:{RESERVED} {{_kgot_id: 'hold'}})
RETURN everything - kept AS nodes, edges, our_nodes, our_edges, s._kgot_own AS own,
  coalesce(l._kgot_holder, '') AS holder, l._kgot_run AS run, l._kgot_host AS host, l._kgot_process AS process,
  coalesce(l._kgot_born, '') AS born, timestamp() - coalesce(l._kgot_beat, 0) AS age
"""
_TAKE = f"""
MATCH (l:{RESERVED} {{_kgot_id: 'hold'}})
SET l._kgot_holder = $holder, l._kgot_run = $run, l._kgot_host = $host, l._kgot_process = $process,
  l._kgot_born = $born, l._kgot_beat = timestamp()
"""
_BEAT = f"""
MATCH (l:{RESERVED} {{_kgot_id: 'hold'}}) WHERE l._kgot_holder = $holder
SET l._kgot_beat = timestamp() RETURN 1
"""
_RELEASE = f"MATCH (l:{RESERVED} {{_kgot_id: 'hold'}}) WHERE l._kgot_holder = $holder SET l._kgot_holder = ''"
_START = f"""
CALL {{
  MATCH (c:{RESERVED}) WHERE c._kgot_id <> 'hold' AND NOT any(run IN $kept WHERE c._kgot_id STARTS WITH run) DELETE c
}}
CALL {{ MATCH (c:{RESERVED}) WHERE c._kgot_id <> 'hold' SET c._kgot_nodes = 0, c._kgot_edges = 0 }}
CREATE (:{RESERVED} {{_kgot_id: 'graph', _kgot_run: $run, _kgot_own: $own, _kgot_nodes: $nodes, _kgot_edges: $edges}})
"""


@dataclass(frozen=True)
class State:
    """What a database holds, as far as it matters before it is used.

    Attributes:
        nodes: Nodes beside the bookkeeping.
        edges: Relationships.
        own: All of it was made by kgot, which may clear it, and has not been added to since.
        kept: All of it is what runs have gone on with, or are to go on with.
        held_by: Whoever uses it now, in words; empty where nobody does.
    """

    nodes: int
    edges: int
    own: bool
    kept: bool
    held_by: str

    @property
    def empty(self) -> bool:
        """There is nothing in it."""
        return not self.nodes and not self.edges


def read_state(transaction: Transaction, seconds: float) -> State:
    """Reads what a database holds and who uses it."""
    row = transaction.run(_STATE).single(strict=True).data()
    known = (row["nodes"], row["edges"]) == (row["our_nodes"], row["our_edges"])
    own, kept = known and row["own"] is True, known and row["own"] is False
    return State(row["nodes"], row["edges"], own, kept, _holder(row, seconds))


def _holder(row: dict[str, Any], seconds: float) -> str:
    if not row["holder"] or row["age"] > seconds * 1_000 or _gone(row):
        return ""
    host = str(row["host"]).partition(" ")[0]
    return f"the run {row['run']} (host {host}, process {row['process']}, seen {row['age'] // 1_000} s ago)"


def _gone(row: dict[str, Any]) -> bool:
    """A process of this very machine that has ended cannot hold anything any more."""
    return Holder(row["host"], row["process"], row["born"], row["holder"]).gone is True


class Lease:
    """The hold on a database, kept by a sign of life until it is released.

    Args:
        connection: The open connection.
        run: Name of the run, for messages.
    """

    def __init__(self, connection: Connection, run: str) -> None:
        self._connection = connection
        self._run = run
        self._ended = threading.Event()
        self.lost = False

    def take(self) -> State:
        """Takes the hold.

        Returns:
            What the database holds.

        Raises:
            Refused: Another run has it.
        """
        seconds = self._connection.settings.lease_seconds
        with self._connection.session(write=True) as session:
            session.run(CONSTRAINT).consume()
            with session.begin_transaction(**self._connection.limits(30)) as transaction:
                # The write lock on this node makes two that come at once wait for each other.
                transaction.run(f"MERGE (l:{RESERVED} {{_kgot_id: 'hold'}}) SET l._kgot_asked = timestamp()").consume()
                state = read_state(transaction, seconds)
                if state.held_by:
                    raise in_use(self._connection, state)
                here = Holder.here()
                told = {"host": here.host, "process": here.process, "born": here.born}
                told |= {"holder": self._connection.holder, "run": self._run}
                transaction.run(_TAKE, told).consume()
                transaction.commit()
        threading.Thread(target=self._beat, daemon=True, name="kgot-neo4j-lease").start()
        return state

    def start(self, own: bool, nodes: int, edges: int, goes_on: bool) -> None:
        """Begins a graph: forgets the writes of earlier ones and notes what is there.

        Args:
            own: kgot has made all that is in it.
            nodes: Nodes that are there.
            edges: Relationships.
            goes_on: The run has written into it before; the notes of its calls stay.
        """
        with self._connection.session(write=True) as session:
            told = {"run": self._run, "own": own, "nodes": nodes, "edges": edges}
            session.run(_START, told, kept=[f"call {self._run}:"] if goes_on else []).consume()

    def release(self) -> None:
        """Gives the hold back. Idempotent."""
        if self._ended.is_set():
            return
        self._ended.set()
        with self._connection.session(write=True) as session:
            session.run(_RELEASE, holder=self._connection.holder).consume()

    def _beat(self) -> None:
        while not self._ended.wait(self._connection.settings.lease_seconds / 3):
            try:
                with self._connection.session(write=True) as session:
                    kept = session.run(_BEAT, holder=self._connection.holder).single()
            except Exception as error:  # the server is away: the next sign of life may reach it
                if not is_driver_error(error):
                    return
                continue
            if kept is None and not self._ended.is_set():
                self.lost = True
                return


def in_use(connection: Connection, state: State) -> Refused:
    """Gives the error of a database that another run uses."""
    return Refused(
        f"the database {connection.database} at {connection.where} is used by {state.held_by}",
        hint=f"wait for its end, take another database, or a container; a crashed run lets go after "
        f"{connection.settings.lease_seconds:g} s",
    )


def holds_other(connection: Connection, state: State) -> Refused:
    """Gives the error of a database whose content is not kgot's, or is kept."""
    whose = "are kept" if state.kept else "kgot did not make"
    return Refused(
        f"the database {connection.database} at {connection.where} holds {state.nodes:,} nodes and {state.edges:,} "
        f"relationships that {whose}",
        hint="go on with them: --keep-graph, or --set backends.neo4j.existing=keep; delete them: --set "
        "backends.neo4j.existing=replace; "
        "or take another database (backends.neo4j.database) or a container of its own",
    )


def clear(connection: Connection) -> None:
    """Deletes everything but the bookkeeping, in parts that fit into the server's memory."""
    statement = f"MATCH (n) WHERE NOT n:{RESERVED} WITH n LIMIT 5000 DETACH DELETE n"
    with connection.session(write=True) as session:
        while session.run(statement).consume().counters.nodes_deleted:
            continue
