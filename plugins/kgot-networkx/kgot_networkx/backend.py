"""The backend: a graph that scripts read and write in the sandbox, and the host's record of it."""

from __future__ import annotations

import threading
from collections.abc import Sequence

from kgot_core.contracts.backend import Call, GraphBackend, OpenContext, Row
from kgot_core.contracts.sandbox import CodeResult
from kgot_core.errors import QueryError, Refused, StoreUnavailable
from kgot_core.graph.elements import GraphChange, GraphSnapshot
from kgot_networkx.dialect import dialect
from kgot_networkx.engine import open_engine
from kgot_networkx.plain import plain_change
from kgot_networkx.reading import read_report
from kgot_networkx.record import GraphRecord
from kgot_networkx.rows import read_rows
from kgot_networkx.script import Script, prepare
from kgot_networkx.settings import NetworkxSettings
from kgot_networkx.taking import take


class NetworkxBackend(GraphBackend):
    """An open graph. The record on the host decides; the sandbox is filled from it again whenever it was lost.

    Args:
        settings: Limits of scripts.
        context: The sandbox and the scope. The graph lives in memory, so every scope starts empty.
    """

    def __init__(self, settings: NetworkxSettings, context: OpenContext) -> None:
        self._settings = settings
        self._read_only = context.scope.mode == "read_only"
        self._subset = context.sandbox.python == "subset"
        self.dialect = dialect(context.sandbox.python)
        self._record = GraphRecord()
        self._applied: dict[str, GraphChange] = {}
        self._cancels = 0
        self._closed = False
        self._jobs = threading.Lock()
        self._records = threading.Lock()
        self._engine = open_engine(context.sandbox, settings, self._record.whole_state)

    def write(self, chain: str, call: Call) -> GraphChange:
        """Does what a script does to ``G``: one of plain statements is read, any other runs in the sandbox.

        See :class:`~kgot_core.contracts.backend.GraphBackend`.
        """
        if self._read_only:
            raise Refused("the graph was opened for reading only")
        cancels = self._cancels
        with self._jobs:
            if call.id in self._applied:
                return self._applied[call.id]
            self._stop_if(cancels)
            script = self._script(chain, query=False)
            change = self._read_write(script)
            if change is None:
                change = self._run_write(script, call, cancels)
            self._applied[call.id] = change
            return change

    def _read_write(self, script: Script) -> GraphChange | None:
        """Takes in what a script of plain statements does; ``None`` where it has to be run."""
        step = plain_change(self._record, script.steps) if script.steps else None
        if step is None:
            return None
        if step.change:
            with self._records:
                self._record.fold(step)
            self._engine.changed(self._record.state_of(step.change))
        return step.change

    def _run_write(self, script: Script, call: Call, cancels: int) -> GraphChange:
        report = self._engine.write(script, call)
        self._stop_if(cancels)
        try:
            step = read_report(self._record, report.change)
        except ValueError as error:
            # Not accepted: the worker's state is replaced before the next script.
            raise QueryError(f"the script damaged the graph's own bookkeeping: {error}") from None
        with self._records:
            self._record.fold(step)
        self._engine.accept(report.version)
        if script.elsewhere and not step.change:
            raise QueryError(f"nothing was written: G is the graph, but the script wrote into {script.elsewhere}")
        return step.change

    def query(self, statement: str, call: Call) -> Sequence[Row]:
        """Runs a script on a copy of the graph; one that changes it is refused."""
        cancels = self._cancels
        with self._jobs:
            self._stop_if(cancels)
            result = self._engine.query(self._script(statement, query=True), call)
            self._refuse_change(result)
        return read_rows(result, call.rows)

    def apply(self, change: GraphChange, call: Call) -> None:
        """Takes neutral elements in; the sandbox gets them with the next script."""
        with self._jobs:
            if call.id in self._applied:
                return
            with self._records:
                taken, state = take(self._record, change)
            self._engine.changed(state)
            self._applied[call.id] = taken

    def snapshot(self) -> GraphSnapshot:
        """Gives the graph from the record, also while a script runs."""
        with self._records:
            return self._record.snapshot()

    def cancel(self) -> None:
        """Ends the running script, and those that wait for it; their calls raise QueryError and change nothing."""
        self._cancels += 1
        self._engine.cancel()

    def close(self) -> None:
        """Ends the sandbox session; calls that come later raise StoreUnavailable."""
        self._closed = True
        self._engine.close()

    def _refuse_change(self, result: CodeResult) -> None:
        """Tells a query that wrote that it may not; what it wrote is gone already."""
        report = result.value.get("report") if isinstance(result.value, dict) else None
        try:
            changed = report is not None and bool(read_report(self._record, report).change)
        except ValueError:
            changed = True
        if changed:
            raise QueryError("a query may not change the graph, so nothing was kept; work on H = G.copy() instead")

    def _stop_if(self, cancels: int) -> None:
        """Ends a call that was cancelled since it began, or that comes after the graph was closed."""
        if self._closed:
            raise StoreUnavailable("the graph was closed")
        if self._cancels != cancels:
            raise QueryError("the script was cancelled; nothing was changed")

    def _script(self, text: str, *, query: bool) -> Script:
        return prepare(text, limit=self._settings.script_chars, query=query, subset=self._subset)
