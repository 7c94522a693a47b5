"""Runs writes as transactions: once each, tried again where that may help, with the change they made."""

from __future__ import annotations

import itertools
import random
import threading
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeAlias

from kgot_core.contracts.backend import Call
from kgot_core.errors import QueryError, Refused, StoreError
from kgot_core.graph.elements import GraphChange
from kgot_neo4j.applying import Applying
from kgot_neo4j.connection import Connection
from kgot_neo4j.cypher.names import RESERVED
from kgot_neo4j.faults import is_driver_error, may_pass, translated
from kgot_neo4j.gate import Gate
from kgot_neo4j.reading import AT_PLACES, Counts, Found, Row, new_elements, new_places, read_back
from kgot_neo4j.record import Record

if TYPE_CHECKING:
    from neo4j import Transaction

Work: TypeAlias = "Callable[[Transaction], Counts]"
NOTE = f"""
MATCH (l:{RESERVED} {{_kgot_id: 'hold'}})
MERGE (c:{RESERVED} {{_kgot_id: $id}})
ON CREATE SET c._kgot_attempt = $attempt, c._kgot_nodes = $made_nodes, c._kgot_edges = $made_edges
WITH l._kgot_holder = $holder AS ours, c._kgot_attempt = $attempt AS fresh
{AT_PLACES}
RETURN ours, fresh, nodes, edges
"""
NOTED = f"MATCH (c:{RESERVED} {{_kgot_id: $id}}) RETURN count(c)"
_ALL_NOTED = f"MATCH (c:{RESERVED}) WHERE c._kgot_id STARTS WITH 'call ' RETURN collect(substring(c._kgot_id, 5))"


class _AlreadyApplied(Exception):
    """The call's id stands in the database."""


class Transactions:
    """Writes of one open graph; several threads may use it at once.

    Args:
        connection: The open connection.
        record: What the graph holds.
    """

    def __init__(self, connection: Connection, record: Record) -> None:
        self._connection = connection
        self._record = record
        self._gate = Gate()
        self._attempts = itertools.count(1)
        self._unsure: set[str] = set()
        self.cancels = 0

    def run(self, work: Work, call: Call, applying: Applying | None = None) -> GraphChange:
        """Runs work as one transaction, together with a note of the call's id.

        Returns:
            What it changed; where an earlier try had been committed after all, what that one changed.

        Raises:
            StoreError: It was not committed.
        """
        until = time.monotonic() + call.seconds
        cancels, pause = self.cancels, 0.02
        while True:
            try:
                if call.id in self._unsure and self._noted(call):
                    raise _AlreadyApplied
                return self._once(work, call, max(until - time.monotonic(), 0.1), applying)
            except _AlreadyApplied:
                self._unsure.discard(call.id)
                return self.resync()
            except Exception as error:
                if not is_driver_error(error) and not isinstance(error, UnicodeError):
                    raise
                problem = self._problem(error, call)
                self._stop_if(cancels)
                if not may_pass(error) or time.monotonic() + pause >= until:
                    raise problem from None
            # Two that wait for each other must not come back at the same moment.
            threading.Event().wait(pause * (0.5 + random.random()))
            pause = min(pause * 2, 2.0)

    def apply(self, applying: Applying, call: Call) -> GraphChange:
        """Takes neutral elements in as one transaction; what is new keeps the ids that it came with."""
        return self.run(applying.run, call, applying)

    def _problem(self, error: BaseException, call: Call) -> StoreError:
        """Translates an error; one after which the commit is in doubt makes the next try look first."""
        problem = translated(error, call.seconds)
        if not isinstance(problem, QueryError):
            self._unsure.add(call.id)
        return problem

    def _stop_if(self, cancels: int) -> None:
        if self.cancels != cancels:
            raise QueryError("the statement was cancelled; nothing was changed")

    def _noted(self, call: Call) -> bool:
        with self._connection.session(write=True) as session:
            return bool(session.run(NOTED, id=f"call {call.id}").single(strict=True)[0])

    def noted(self) -> Sequence[str]:
        """Gives the ids of all calls that are noted.

        Raises:
            StoreError: They cannot be read.
        """
        try:
            with self._connection.session() as session:
                return list(session.run(_ALL_NOTED).single(strict=True)[0])
        except Exception as error:
            if not is_driver_error(error):
                raise
            raise translated(error) from None

    def _once(self, work: Work, call: Call, seconds: float, applying: Applying | None) -> GraphChange:
        with (
            self._connection.session(write=True, rows=10_000) as session,
            session.begin_transaction(**self._connection.limits(seconds)) as transaction,
        ):
            try:
                counts = work(transaction)
            except QueryError:
                self._look_again(transaction, call)
                raise
            gone = counts.nodes_gone or counts.edges_gone or counts.labels_gone
            claimed: list[str] = []
            if applying is not None:
                with self._gate.alone():
                    rows = self._note(transaction, call, counts, *applying.places_now())
                    transaction.commit()
                    return applying.folded(*rows)
            if not gone:
                with self._gate.shared():
                    places = new_places(transaction, self._record, counts)
                    rows = self._note(transaction, call, counts, places.nodes, places.edges)
                    found = new_elements(self._record, counts, *rows, places.order)
                    if not found.whole:
                        return self._commit(transaction, found)
                    claimed = found.claimed
            with self._gate.alone():
                if gone:
                    self._note(transaction, call, counts)
                return self._commit(transaction, read_back(transaction, self._record, claimed))

    def _look_again(self, transaction: Transaction, call: Call) -> None:
        """A statement that fails may do so because it has been applied before."""
        transaction.rollback()
        if self._noted(call):
            raise _AlreadyApplied

    def _note(
        self,
        transaction: Transaction,
        call: Call,
        counts: Counts,
        nodes: Sequence[str] = (),
        edges: Sequence[str] = (),
    ) -> tuple[Sequence[Row], Sequence[Row]]:
        """Notes the call in the database, and reads what is at some places."""
        told = {
            "id": f"call {call.id}",
            "attempt": f"{self._connection.holder} {next(self._attempts)}",
            "made_nodes": counts.nodes - counts.nodes_gone,
            "made_edges": counts.edges - counts.edges_gone,
            "holder": self._connection.holder,
            "nodes": list(nodes),
            "edges": list(edges),
        }
        row = transaction.run(NOTE, told).single()
        if row is None or not row[0]:
            raise Refused("another run has taken the database over; nothing was written")
        if not row[1]:
            raise _AlreadyApplied
        return row[2], row[3]

    def _commit(self, transaction: Transaction, found: Found) -> GraphChange:
        try:
            transaction.commit()
        except BaseException:
            self._record.give_up(found.claimed)
            raise
        self._record.fold(found.change)
        return found.change

    def resync(self) -> GraphChange:
        """Reads the graph back and takes in what differs.

        Raises:
            StoreError: It cannot be read.
        """
        try:
            with (
                self._gate.alone(),
                self._connection.session(rows=10_000) as session,
                session.begin_transaction(**self._connection.limits(self._connection.settings.query_seconds)) as read,
            ):
                found = read_back(read, self._record)
                self._record.fold(found.change)
                return found.change
        except Exception as error:
            if not is_driver_error(error):
                raise
            raise translated(error) from None
