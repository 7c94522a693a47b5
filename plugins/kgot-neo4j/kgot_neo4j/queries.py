"""Reading statements: in READ mode, asked about with EXPLAIN first, with limits of time and rows."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from kgot_core.contracts.backend import Call, Row
from kgot_core.errors import QueryError
from kgot_core.graph.values import JsonValue
from kgot_neo4j.connection import Connection
from kgot_neo4j.cypher.names import RESERVED
from kgot_neo4j.faults import is_driver_error, may_pass, translated
from kgot_neo4j.record import Record
from kgot_neo4j.statements import NotReadable, Ready, ready_to_query
from kgot_neo4j.values import to_row

if TYPE_CHECKING:
    from neo4j import Transaction


class Queries:
    """Queries of one open graph; several threads may use it at once.

    Args:
        connection: The open connection.
        record: What the graph holds.
    """

    def __init__(self, connection: Connection, record: Record) -> None:
        self._connection = connection
        self._record = record
        self.cancels = 0

    def run(self, statement: str, call: Call) -> Sequence[Row]:
        """Runs a query; rows beyond the limit are cut, and the last one says so.

        Raises:
            QueryError: It fails, or would write.
            StoreUnavailable: The server is away.
        """
        try:
            ready = ready_to_query(statement, self._record.dotted)
        except NotReadable as error:
            raise self.explained(error.text, str(error)) from None
        until, pause, cancels = time.monotonic() + call.seconds, 0.05, self.cancels
        while True:
            try:
                return self._once(ready, call, max(until - time.monotonic(), 0.1))
            except Exception as error:
                if not is_driver_error(error):
                    raise
                if self.cancels != cancels:
                    raise QueryError("the query was cancelled") from None
                if not may_pass(error) or time.monotonic() + pause >= until:
                    problem = translated(error, call.seconds)
                    if isinstance(problem, QueryError) and ready.text != ready.written and problem.line:
                        problem = self.explained(ready.written, problem.message)
                    raise problem from None
            threading.Event().wait(pause)
            pause = min(pause * 2, 2.0)

    def _once(self, ready: Ready, call: Call, seconds: float) -> Sequence[Row]:
        with (
            self._connection.session(rows=call.rows + 1) as session,
            session.begin_transaction(**self._connection.limits(seconds)) as transaction,
        ):
            _only_reads(transaction, ready.text)
            result = transaction.run(ready.text)
            names = list(result.keys())
            rows: list[Row] = []
            for values in result:
                row = dict(zip(names, values.values(), strict=True))
                if any(_bookkeeping(value) for value in row.values()):
                    continue
                if len(rows) == call.rows:
                    return _cut(rows, call.rows)
                rows.append({name: to_row(_without_bookkeeping(value)) for name, value in row.items()})
            return rows

    def explained(self, text: str, otherwise: str) -> QueryError:
        """Asks the server what is wrong with a text, without running it.

        Args:
            text: The text as the model wrote it.
            otherwise: What to say where the server finds nothing wrong or does not answer.
        """
        try:
            with (
                self._connection.session() as session,
                session.begin_transaction(**self._connection.limits(10)) as transaction,
            ):
                transaction.run(f"EXPLAIN {text}").consume()
        except Exception as error:
            if not is_driver_error(error):
                raise
            problem = translated(error)
            if isinstance(problem, QueryError):
                shift = len("EXPLAIN ") if problem.line == 1 else 0
                return QueryError(problem.message, problem.line, max(problem.column - shift, 0))
        return QueryError(otherwise)


def _only_reads(transaction: Transaction, text: str) -> None:
    summary = transaction.run(f"EXPLAIN {text}").consume()
    if summary.query_type != "r":
        raise QueryError("a query may only read, not write")


def _bookkeeping(value: Any) -> bool:
    from neo4j.graph import Node

    if isinstance(value, Node):
        return RESERVED in value.labels
    return isinstance(value, str) and (value == RESERVED or value.startswith("_kgot_"))


def _without_bookkeeping(value: Any) -> Any:
    """Leaves it out of lists and maps, such as those that APOC gives of all labels."""
    if isinstance(value, list):
        return [_without_bookkeeping(item) for item in value if not _bookkeeping(item)]
    if isinstance(value, dict):
        kept = {name: item for name, item in value.items() if not _bookkeeping(name) and not _bookkeeping(item)}
        return {name: _without_bookkeeping(item) for name, item in kept.items()}
    return value


def _cut(rows: list[Row], limit: int) -> list[Row]:
    note: dict[str, JsonValue] = {
        "note": f"only the first {limit - 1:,} rows are shown; there are more: ask for less, or count them"
    }
    return [*rows[: limit - 1], note] if limit > 1 else rows
