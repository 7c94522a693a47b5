"""The backend: one database that is written and queried in Cypher, and the record of what is in it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from kgot_core.contracts.backend import Call, GraphBackend, Row
from kgot_core.errors import QueryError, Refused
from kgot_core.graph.elements import GraphChange, GraphSnapshot
from kgot_neo4j.applying import Applying
from kgot_neo4j.connection import Connection
from kgot_neo4j.dialect import dialect
from kgot_neo4j.faults import is_driver_error, translated
from kgot_neo4j.gate import Names
from kgot_neo4j.lease import Lease
from kgot_neo4j.queries import Queries
from kgot_neo4j.reading import Counts
from kgot_neo4j.record import Record
from kgot_neo4j.statements import NotReadable, Ready, ready_to_write
from kgot_neo4j.transactions import Transactions

if TYPE_CHECKING:
    from neo4j import Transaction


class Neo4jBackend(GraphBackend):
    """The graph of one run. Several threads may write and query at once.

    Args:
        connection: The open connection; closed with the backend.
        lease: The hold on the database; ``None`` where nothing may be changed in it.
    """

    def __init__(self, connection: Connection, lease: Lease | None) -> None:
        self.dialect = dialect()
        self.concurrency = connection.settings.concurrency
        self._connection = connection
        self._lease = lease
        self._record = Record()
        self._names = Names()
        self._applied: dict[str, GraphChange] = {}
        self._transactions = Transactions(connection, self._record)
        self._queries = Queries(connection, self._record)

    def write(self, chain: str, call: Call) -> GraphChange:
        """Runs a block as one transaction; see :class:`~kgot_core.contracts.backend.GraphBackend`."""
        self._may_write()
        if call.id in self._applied:
            return self._applied[call.id]
        try:
            statements, texts = ready_to_write(chain, self._record.dotted)
        except NotReadable as error:
            raise self._queries.explained(error.text, str(error)) from None
        with self._names.held(texts):
            change = self._transactions.run(lambda transaction: self._run(transaction, statements), self._limited(call))
        self._applied[call.id] = change
        return change

    def _run(self, transaction: Transaction, statements: Sequence[Ready]) -> Counts:
        counts = Counts()
        for statement in statements:
            try:
                result = transaction.run(statement.text)
                if statement.tells:
                    for nodes, edges in result:
                        counts.node_places += nodes
                        counts.edge_places += edges
                counts.add(result.consume().counters)
            except Exception as error:
                if is_driver_error(error) and isinstance(problem := translated(error), QueryError):
                    raise self._told(problem, error, statement) from None
                raise
        return counts

    def _told(self, problem: QueryError, error: Exception, statement: Ready) -> QueryError:
        """Says where in the block it happened, with the place in what the model wrote."""
        if "Timed" in str(getattr(error, "code", "")):
            problem = QueryError("the statement took longer than its time; do less at once")
        elif statement.text != statement.written:
            problem = self._queries.explained(statement.written, problem.message)
        if statement.place:
            problem = QueryError(
                f"{statement.place}: {problem.message}; nothing of the block was written", problem.line, problem.column
            )
        return problem

    def query(self, statement: str, call: Call) -> Sequence[Row]:
        """Runs a reading statement in a session that cannot write."""
        return self._queries.run(statement, self._limited(call))

    def apply(self, change: GraphChange, call: Call) -> None:
        """Takes neutral elements in, as one transaction."""
        self._may_write()
        if call.id in self._applied or not change:
            return
        applying = Applying(self._record, change)
        self._applied[call.id] = self._transactions.apply(applying, self._limited(call))

    def snapshot(self) -> GraphSnapshot:
        """Reads the graph back from the store."""
        self._transactions.resync()
        return self._record.snapshot()

    def noted_calls(self) -> Collection[str]:
        """Gives the calls that are noted in the database; see :mod:`kgot_neo4j.lease`."""
        return self._transactions.noted()

    def load(self) -> None:
        """Reads what the database holds at the beginning."""
        self._transactions.resync()

    def cancel(self) -> None:
        """Ends this run's transactions on the server; their calls raise QueryError and change nothing."""
        self._transactions.cancels += 1
        self._queries.cancels += 1
        try:
            self._connection.terminate()
        except Exception as error:
            if not is_driver_error(error):
                raise
            raise translated(error) from None

    def close(self) -> None:
        """Releases the hold on the database and closes the connections; the graph stays. Idempotent."""
        lease, self._lease = self._lease, None
        try:
            if lease is not None:
                lease.release()
        except Exception as error:
            # The hold ends by itself.
            if not is_driver_error(error):
                raise
        finally:
            self._connection.close()

    def _limited(self, call: Call) -> Call:
        return replace(call, seconds=min(call.seconds, self._connection.settings.query_seconds))

    def _may_write(self) -> None:
        if self._lease is None:
            raise Refused("the graph was opened for reading only, or is closed")
        if self._lease.lost:
            raise Refused("another run has taken the database over; nothing was written")
