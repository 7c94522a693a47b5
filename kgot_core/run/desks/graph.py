"""An asynchronous handle on a synchronous backend: its own threads, limits, journal, and the folded state."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from kgot_core.contracts.backend import Call, GraphBackend, Row
from kgot_core.contracts.dialect import Dialect
from kgot_core.contracts.options import Origin
from kgot_core.errors import QueryError, Refused, StoreError, StoreUnavailable
from kgot_core.events import GraphQueried, GraphWritten, ValueReplaced
from kgot_core.graph.conflicts import Replaced, replaced_values
from kgot_core.graph.elements import GraphChange, change_from_json, change_to_json
from kgot_core.graph.fold import TaskGraph, compare
from kgot_core.graph.schema import GraphSchema, check_change
from kgot_core.graph.values import encode
from kgot_core.run.concurrency.turns import Turns
from kgot_core.run.desks.store import StoreCalls
from kgot_core.run.record.journal import Journal

AWAY = "the graph store is away"
FAILED = "the graph store failed"
GIVEN = "graph"
"""The source of elements that came with a given graph."""


class GraphDesk:
    """The run's graph, as the stages use it (see :class:`kgot_core.contracts.run.GraphHandle`)."""

    def __init__(
        self,
        journal: Journal,
        dialect: Dialect,
        state: TaskGraph,
        backend: GraphBackend | None,
        seconds: float,
        rows: int,
        schema: GraphSchema | None = None,
        calls: StoreCalls | None = None,
        reads_only: bool = False,
    ) -> None:
        self.dialect = dialect
        self.state = state
        self.concurrency = backend.concurrency if backend else 1
        self._calls = calls or StoreCalls(backend, seconds)
        self._journal = journal
        self._origins: dict[str, Origin] = {}
        self._seconds = seconds
        self._rows = rows
        self._schema = schema
        self._reads_only = reads_only
        self._unseen: dict[str, None] = {}
        self._conflicts: list[Replaced] = []
        # Where the core compares snapshots, a second write would be taken for a part of the first.
        self._reports_changes = False
        self._alone = asyncio.Lock()
        self._turns = Turns()

    async def write(self, step: str, chain: str, sources: Sequence[str]) -> GraphChange:
        """Runs one block as one transaction."""
        self._may_write()
        event = GraphWritten(form="statements", statement=chain, sources=tuple(sources))
        return await self._put(step, event, self._written(chain), alone=self._schema is not None)

    async def apply(self, step: str, change: GraphChange, sources: Sequence[str]) -> GraphChange:
        """Takes neutral elements in."""
        self._may_write()
        event = GraphWritten(form="elements", change=change_to_json(change), sources=tuple(sources))
        return await self._put(step, event, self._applied(change), alone=True)

    async def fill(self, step: str, digest: str, change: GraphChange | None, seconds: float) -> None:
        """Takes a given graph in, before the run's first request.

        Args:
            step: Place in the run.
            digest: What the record knows the given graph by; a replay has nothing else.
            change: Its elements, as a change of what is there; ``None`` where only the record can tell.
            seconds: Time limit.

        Raises:
            QueryError: An element cannot be held; nothing was changed.
            StoreError: The store is away, or the record ends before the graph was taken in.
        """
        event = GraphWritten(form="elements", sources=(GIVEN,))
        run = self._applied(change) if change is not None else _not_recorded
        await self._put(step, event, run, alone=True, asked={"graph": digest}, seconds=seconds)
        self.take_unseen()

    async def query(self, step: str, statement: str) -> Sequence[Row]:
        """Runs a reading statement."""

        async def make() -> GraphQueried:
            call = Call(f"{self._journal.run}:{step}", self._seconds, self._rows)
            try:
                rows = await self._calls.run(lambda backend: backend.query(statement, call))
            except StoreError as error:
                return GraphQueried(statement=statement, **_fault(error))
            return GraphQueried(statement=statement, rows=tuple(dict(row) for row in rows))

        event = await self._journal.call(GraphQueried, step, {"statement": statement}, make)
        if event.error:
            raise _error(event)
        return event.rows

    def mark_unsupported(self, element_id: str, names: Sequence[str]) -> None:
        """Notes the properties of an element whose values do not stand in its sources."""
        self._origins[element_id] = replace(self._origins[element_id], unsupported=tuple(names))

    def origin(self, element_id: str) -> Origin | None:
        """Tells where an element came from."""
        return self._origins.get(element_id)

    @property
    def touched(self) -> tuple[str, ...]:
        """Ids of the elements added, changed or removed in this round."""
        return tuple(self._unseen)

    def take_unseen(self) -> tuple[str, ...]:
        """Gives the ids of elements changed or removed since the last time, in the order of the changes."""
        unseen, self._unseen = tuple(self._unseen), {}
        return unseen

    def take_conflicts(self) -> tuple[Replaced, ...]:
        """Gives the values that were replaced by others since the last time."""
        conflicts, self._conflicts = tuple(self._conflicts), []
        return conflicts

    async def _put(
        self,
        step: str,
        event: GraphWritten,
        run: Callable[[Call], Callable[[GraphBackend], GraphChange | None]],
        alone: bool,
        asked: Mapping[str, Any] | None = None,
        seconds: float | None = None,
    ) -> GraphChange:
        iteration = _iteration_of(step)

        async def make() -> GraphWritten:
            call = Call(f"{self._journal.run}:{step}", seconds or self._seconds, self._rows)
            done = replace(event, iteration=iteration)
            try:
                change = await self._calls.run(run(call), seconds)
            except StoreError as error:
                return replace(done, **_fault(error))
            return replace(done, change=change_to_json(change or GraphChange()))

        if asked is None:
            asked = {"statement": event.statement, "change": dict(event.change), "sources": list(event.sources)}
        async with self._turns.take() as turn, self._place(alone):
            done = await self._journal.call(GraphWritten, step, asked, make)
            await turn()
            if done.error:
                raise _error(done)
            change = change_from_json(done.change)
            self._fold(change, Origin(event.sources, step, iteration))
            return change

    @contextlib.asynccontextmanager
    async def _place(self, alone: bool) -> AsyncIterator[None]:
        """Lets a call run alone, or beside others once the store is known to tell its changes."""
        async with self._alone:
            if alone or not self._reports_changes:
                yield
                return
        yield

    def _may_write(self) -> None:
        if self._reads_only:
            raise Refused("the graph of this run is only read")

    def _written(self, chain: str) -> Callable[[Call], Callable[[GraphBackend], GraphChange | None]]:
        def bind(call: Call) -> Callable[[GraphBackend], GraphChange | None]:
            def write(backend: GraphBackend) -> GraphChange | None:
                change = backend.write(chain, call)
                self._reports_changes = change is not None
                if change is None:
                    change = compare(self.state.snapshot(), backend.snapshot())
                self._check(change, backend, call)
                return change

            return write

        return bind

    def _applied(self, change: GraphChange) -> Callable[[Call], Callable[[GraphBackend], GraphChange | None]]:
        def bind(call: Call) -> Callable[[GraphBackend], GraphChange | None]:
            def apply(backend: GraphBackend) -> GraphChange | None:
                if self._schema and (problems := check_change(change, self.state, self._schema)):
                    raise QueryError("; ".join(problems))
                backend.apply(change, call)
                return compare(self.state.snapshot(), backend.snapshot())

            return apply

        return bind

    def _check(self, change: GraphChange, backend: GraphBackend, call: Call) -> None:
        """Takes a write back that the user's graph schema does not allow."""
        if self._schema is None or not (problems := check_change(change, self.state, self._schema)):
            return
        before = compare(backend.snapshot(), self.state.snapshot())
        try:
            backend.apply(before, replace(call, id=f"{call.id}:undo"))
        except QueryError as error:
            raise StoreError(f"a write that the graph schema does not allow could not be taken back: {error}") from None
        raise QueryError("; ".join(problems))

    def _fold(self, change: GraphChange, origin: Origin) -> None:
        for item in replaced_values(change, self.state):
            self._conflicts.append(item)
            before = self._origins.get(item.element_id)
            event = ValueReplaced(element=item.element_id, name=item.name, old=encode(item.old), new=encode(item.new))
            self._journal.emit(
                origin.step, replace(event, earlier=before.sources if before else (), sources=origin.sources)
            )
        removed = set(change.removed)
        edges = [edge.id for edge in self.state.edges if removed and {edge.source, edge.target} & removed]
        self.state.apply(change)
        for element in change.added:
            # What is put back after it was taken out still comes from where it came from.
            self._origins.setdefault(element.id, origin)
        for element in change.changed:
            first = self._origins.get(element.id, origin)
            sources = tuple(dict.fromkeys((*first.sources, *origin.sources)))
            self._origins[element.id] = replace(first, sources=sources)
        self._unseen |= dict.fromkeys(element.id for element in (*change.added, *change.changed))
        self._unseen |= dict.fromkeys((*change.removed, *edges))


def is_lost(event: GraphQueried | GraphWritten) -> bool:
    """Tells whether a call ended because of the store, not of its statement."""
    return event.error.startswith((f"{AWAY}: ", f"{FAILED}: "))


def _not_recorded(call: Call) -> Callable[[GraphBackend], GraphChange | None]:
    raise StoreError("the record ends before the graph was taken in that the run starts from", hint="run it anew")


def _fault(error: StoreError) -> dict[str, Any]:
    """Gives an error as events hold it, so that a repeated run meets it again."""
    if isinstance(error, QueryError):
        return {"error": error.message, "line": error.line, "column": error.column}
    return {"error": f"{AWAY if isinstance(error, StoreUnavailable) else FAILED}: {error}"}


def _error(event: GraphQueried | GraphWritten) -> StoreError:
    prefix, _, cause = event.error.partition(": ")
    if prefix == AWAY:
        return StoreUnavailable(cause)
    return StoreError(cause) if prefix == FAILED else QueryError(event.error, event.line, event.column)


def _iteration_of(step: str) -> int:
    head = step.partition("/")[0]
    return int(head) if head.isdigit() else 0
