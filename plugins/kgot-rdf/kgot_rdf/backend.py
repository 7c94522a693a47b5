"""The backend: the host's record of the graph decides, the store keeps the triples and runs SPARQL."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence

from kgot_core.contracts.backend import Call, GraphBackend, OpenContext, Row
from kgot_core.errors import QueryError, Refused, StoreUnavailable
from kgot_core.graph.elements import GraphChange, GraphSnapshot
from kgot_rdf.completion import complete
from kgot_rdf.dialect import dialect
from kgot_rdf.folding import Folded, Ids
from kgot_rdf.names import Names
from kgot_rdf.record import RdfRecord
from kgot_rdf.rows import to_rows
from kgot_rdf.settings import GraphSettings
from kgot_rdf.statement import Reader, check_hidden
from kgot_rdf.store import Store
from kgot_rdf.taking import take
from kgot_rdf.triples import Delta
from kgot_rdf.writing import evaluate, named

# More rows than asked for are read where they have to be sorted.
_MOST_ROWS = 20_000


class RdfBackend(GraphBackend):
    """An open graph.

    Args:
        settings: Limits and the default namespace.
        context: The scope.
    """

    def __init__(self, settings: GraphSettings, context: OpenContext) -> None:
        self._read_only = context.scope.mode == "read_only"
        self._notes = context.scope.mode == "keep"
        self.record = RdfRecord(Names(settings.namespace))
        self.dialect = dialect(settings.namespace)
        self._reader = Reader(settings.namespace, settings.statement_chars)
        self._applied: dict[str, GraphChange] = {}
        self._cancels = 0
        self._closed = False
        self._jobs = threading.Lock()
        self._records = threading.Lock()
        self._fills = True
        self._store: Store

    def use(self, store: Store, *, keep: bool, durable: bool, seconds: float) -> None:
        """Takes the store into use.

        Args:
            store: The store.
            keep: Go on with what is there.
            durable: It keeps the graph, so that one that is only read may not be filled either.
            seconds: Time limit for finding what can be inferred.

        Raises:
            Refused: What is there does not obey the shapes.
        """
        self._store = store
        self._fills = not (durable and self._read_only)
        if not keep:
            return
        try:
            found = list(store.kept())
            triples = named(found, self.record.new_resource)
            self.record.fold(complete(self.record, Delta(tuple(triples))))
        except QueryError as error:
            raise Refused(f"the graph that is kept cannot be gone on with: {error}") from None
        if triples != found:
            # Blank nodes have got names: the store has to know them by these.
            store.refill()
        inferred = Delta(tuple(store.kept_inferred()))
        try:
            store.commit(Delta(), inferred, seconds, self._take_derived)
        except QueryError as error:
            raise Refused(f"the graph that is kept cannot be used with these settings: {error}") from None

    def _take_derived(self, derived: Delta) -> None:
        self.record.fold(Delta(), derived)

    def write(self, chain: str, call: Call) -> GraphChange:
        """Runs one block of updates as one transaction; see :class:`~kgot_core.contracts.backend.GraphBackend`."""
        if self._read_only:
            raise Refused("the graph was opened for reading only")
        cancels, end = self._cancels, time.monotonic() + call.seconds
        with self._jobs:
            if call.id in self._applied:
                return self._applied[call.id]
            self._stop_if(cancels)
            update = self._reader.update(chain)
            for operation in update.operations:
                for built in (operation.delete, operation.insert):
                    if built is not None:
                        check_hidden(chain, built)
            delta = complete(self.record, evaluate(update, self.record, self._store, call.seconds))
            change = self._commit(delta, Delta(), Ids(), cancels, end, call) if delta else GraphChange()
            self._reader.learn(update.declared)
            self._applied[call.id] = change
            return change

    def query(self, statement: str, call: Call) -> Sequence[Row]:
        """Runs a SELECT, ASK, CONSTRUCT or DESCRIBE."""
        cancels = self._cancels
        with self._jobs:
            self._stop_if(cancels)
            query = self._reader.query(statement)
            check_hidden(statement, query.built)
            most = call.rows + 1 if query.ordered else max(call.rows + 1, _MOST_ROWS)
            table = self._store.query(query, most, call.seconds)
        return to_rows(table, self.record.names, call.rows, query.ordered)

    def apply(self, change: GraphChange, call: Call) -> None:
        """Takes neutral elements in."""
        if not self._fills:
            raise Refused("the graph was opened for reading only")
        cancels, end = self._cancels, time.monotonic() + call.seconds
        with self._jobs:
            if call.id in self._applied:
                return
            taken = take(self.record, change)
            stated = complete(self.record, taken.stated)
            self._applied[call.id] = self._commit(stated, taken.inferred, taken.ids, cancels, end, call)

    def snapshot(self) -> GraphSnapshot:
        """Gives the graph from the record, also while a statement runs."""
        with self._records:
            return self.record.snapshot()

    def noted_calls(self) -> Sequence[str]:
        """Gives the call whose write came last into a graph that is kept."""
        with self._jobs:
            return self._store.noted()

    def cancel(self) -> None:
        """Ends the running statement, and those that wait for it; their calls raise QueryError."""
        self._cancels += 1
        self._store.cancel()

    def close(self) -> None:
        """Gives the store back; calls that come later raise StoreUnavailable."""
        self._closed = True
        self._store.close()

    def _commit(self, delta: Delta, inferred: Delta, ids: Ids, cancels: int, end: float, call: Call) -> GraphChange:
        """Changes the store and the record, or neither."""
        self._stop_if(cancels)
        folded: list[Folded] = []
        with self._records:
            try:
                self._store.commit(
                    delta,
                    inferred,
                    end - time.monotonic(),
                    lambda derived: folded.append(self.record.fold(delta, derived, ids)),
                    call.id if self._notes else "",
                )
            except BaseException:
                for step in folded:
                    self.record.undo(step)
                raise
        return folded[0].change

    def _stop_if(self, cancels: int) -> None:
        """Ends a call that was cancelled since it began, or that comes after the graph was closed."""
        if self._closed:
            raise StoreUnavailable("the graph was closed")
        if self._cancels != cancels:
            raise QueryError("the statement was cancelled; nothing was changed")
