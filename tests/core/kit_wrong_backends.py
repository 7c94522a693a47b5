"""Backends with one fault each, and the test of the suite that is meant for it; run by ``test_kit_backend_suite``."""

from __future__ import annotations

import dataclasses
import math
import threading
import time
from typing import ClassVar

import pytest

from kgot_core.contracts.backend import Feature, GraphScope
from kgot_core.errors import QueryError
from kgot_core.graph.elements import Edge, GraphChange, GraphSnapshot, Node
from kgot_core.graph.fold import TaskGraph
from kgot_core.testing.backend_suite import BackendSuite, OpenBackend
from kgot_core.testing.find_language import read_query, run_query
from kgot_core.testing.memory_backend import DIALECT, ENDLESS, MemoryBackend, MemoryStore


class Wrong(BackendSuite):
    """The suite on a backend with a fault."""

    endless = ENDLESS
    keeps_graph = True
    patience = 1.0
    backend: ClassVar[type[MemoryBackend]]

    @pytest.fixture
    def open_backend(self) -> OpenBackend:
        store = MemoryStore()
        return lambda context: self.backend(context, store)


def _without(change: GraphChange, keep) -> GraphChange:
    """Drops elements from what comes in, or replaces them."""
    kept = [[new for element in part if (new := keep(element)) is not None] for part in (change.added, change.changed)]
    return GraphChange(tuple(kept[0]), tuple(kept[1]), change.removed)


class NoGuide(MemoryBackend):
    meant = "test_dialect_is_complete"
    dialect = dataclasses.replace(DIALECT, guide="")


class ExampleThatDoesNothing(MemoryBackend):
    meant = "test_write_examples_build_one_graph"
    dialect = dataclasses.replace(DIALECT, write_examples=(*DIALECT.write_examples, DIALECT.write_examples[1]))


class WrongAnswer(MemoryBackend):
    meant = "test_query_examples_give_their_answers"
    dialect = dataclasses.replace(
        DIALECT,
        query_examples=(
            dataclasses.replace(DIALECT.query_examples[0], answer="1066"),
            DIALECT.query_examples[1],
        ),
    )


class RowsThatAreNotJson(MemoryBackend):
    meant = "test_query_examples_give_their_answers"

    def query(self, statement, call):
        return [{**row, "size": (1, 2)} for row in super().query(statement, call)]


class UnknownBasis(MemoryBackend):
    meant = "test_basis_names_nodes"
    dialect = dataclasses.replace(
        DIALECT,
        query_examples=(dataclasses.replace(DIALECT.query_examples[0], basis=("Loch",)), DIALECT.query_examples[1]),
    )


class ShowsOwnKeys(MemoryBackend):
    meant = "test_state_shows_nodes_as_statements_name_them"

    def snapshot(self):
        graph = super().snapshot()
        nodes = [dataclasses.replace(node, key=node.key or f"key of {node.id}") for node in graph.nodes]
        return GraphSnapshot(tuple(nodes), graph.edges)

    def write(self, chain, call):
        super().write(chain, call)


class HalfOfABlock(MemoryBackend):
    meant = "test_invalid_example_changes_nothing"

    def write(self, chain, call):
        for number, line in enumerate(chain.splitlines()):
            super().write(line, dataclasses.replace(call, id=f"{call.id}/{number}"))


class SwallowsMistakes(MemoryBackend):
    meant = "test_invalid_example_changes_nothing"

    def write(self, chain, call):
        try:
            return super().write(chain, call)
        except QueryError:
            return GraphChange()


class CrashesOnNothing(MemoryBackend):
    meant = "test_empty_statement_is_harmless"

    def write(self, chain, call):
        chain.split()[0]
        return super().write(chain, call)


class ForgetsEdgesInChange(MemoryBackend):
    meant = "test_change_is_the_difference_of_snapshots"

    def write(self, chain, call):
        change = super().write(chain, call)
        return GraphChange(tuple(e for e in change.added if isinstance(e, Node)), change.changed, change.removed)


class CallsChangedAdded(MemoryBackend):
    meant = "test_change_is_the_difference_of_snapshots"

    def write(self, chain, call):
        change = super().write(chain, call)
        return GraphChange((*change.changed, *change.added))


class EdgesFirst(MemoryBackend):
    meant = "test_added_nodes_stand_before_edges"

    def write(self, chain, call):
        change = super().write(chain, call)
        return GraphChange(change.added[::-1], change.changed, change.removed)


class IdsOfTheStore(MemoryBackend):
    meant = "test_equal_runs_give_equal_ids_and_rows"
    opened: ClassVar[list[object]] = []

    def __init__(self, context, store=None):
        super().__init__(context, store)
        self.opened.append(self)
        self._minted = 0 if context.resume else 1_000 * len(self.opened)


class NewIdsForChanged(MemoryBackend):
    """Replaces a node that changes by a new one."""

    meant = "test_ids_stay"

    def write(self, chain, call):
        for node in super().write(chain, call).changed:
            new = dataclasses.replace(node, id=self._new_id("n"))
            edges = [_moved(edge, node.id, new.id) for edge in self._graph.edges_of(node.id)]
            self._graph.apply(GraphChange((new, *edges), (), (node.id,)))


def _moved(edge, old, new):
    source, target = (new if end == old else end for end in (edge.source, edge.target))
    return dataclasses.replace(edge, source=source, target=target)


class WritesAgain(MemoryBackend):
    meant = "test_same_call_is_written_once"

    def write(self, chain, call):
        self._applied.pop(call.id, None)
        super().write(chain, call)


class ReturnsNothingTheSecondTime(MemoryBackend):
    meant = "test_same_call_is_written_once"

    def write(self, chain, call):
        known = call.id in self._applied
        change = super().write(chain, call)
        return GraphChange() if known else change


class KnowsBlocksByText(MemoryBackend):
    meant = "test_same_call_is_written_once"

    def write(self, chain, call):
        once = call.id.rpartition(":")[2] in ("once", "another")
        return super().write(chain, dataclasses.replace(call, id="text" + chain) if once else call)


class RemembersFailures(MemoryBackend):
    meant = "test_failed_call_may_be_tried_again"

    def write(self, chain, call):
        try:
            return super().write(chain, call)
        except QueryError:
            self._applied[call.id] = GraphChange()
            raise


class QueriesWrite(MemoryBackend):
    meant = "test_query_cannot_change_the_graph"

    def query(self, statement, call):
        if "FIND" not in statement and "(Lake:" in statement:
            super().write(statement, call)
        return super().query(statement, call)


class NoRowLimit(MemoryBackend):
    meant = "test_rows_are_limited"

    def query(self, statement, call):
        return super().query(statement, dataclasses.replace(call, rows=1_000))


class EmptyRow(MemoryBackend):
    meant = "test_nothing_found_is_no_row"

    def query(self, statement, call):
        return super().query(statement, call) or [dict.fromkeys(read_query(statement).wanted)]


class TellsAddresses(MemoryBackend):
    meant = "test_errors_tell_nothing_of_the_store"

    def write(self, chain, call):
        try:
            return super().write(chain, call)
        except QueryError as error:
            raise QueryError(f"{error.message} in {object.__repr__(self)}", error.line) from None


class LosesSelfLoops(MemoryBackend):
    meant = "test_generated_graphs_come_back"

    def apply(self, change, call):
        super().apply(_without(change, lambda e: None if isinstance(e, Edge) and e.source == e.target else e), call)


class LosesNodesWithoutLabel(MemoryBackend):
    meant = "test_generated_graphs_come_back"

    def apply(self, change, call):
        super().apply(_without(change, lambda e: dataclasses.replace(e, labels=("Thing",)) if _bare(e) else e), call)


def _bare(element):
    return isinstance(element, Node) and not element.labels


def _with_values(element, function):
    return dataclasses.replace(element, properties={k: function(v) for k, v in element.properties.items()})


class WholeFractionsBecomeNumbers(MemoryBackend):
    meant = "test_every_value_is_held_or_refused"

    def apply(self, change, call):
        def plain(value):
            return int(value) if isinstance(value, float) and math.isfinite(value) and value.is_integer() else value

        super().apply(_without(change, lambda e: _with_values(e, plain)), call)


class RefusesTruth(MemoryBackend):
    meant = "test_every_value_is_held_or_refused"

    def apply(self, change, call):
        if any(value is True for element in change.added for value in element.properties.values()):
            raise QueryError("truth cannot be held")
        super().apply(change, call)


class LosesSecondLabels(MemoryBackend):
    meant = "test_feature_is_as_declared[several_labels]"

    def apply(self, change, call):
        super().apply(_without(change, _one_label), call)


def _one_label(element):
    return dataclasses.replace(element, labels=element.labels[:1]) if isinstance(element, Node) else element


class LosesUndeclaredLabels(LosesSecondLabels):
    features = frozenset(Feature) - {Feature.SEVERAL_LABELS}


class LosesEdgeProperties(MemoryBackend):
    meant = "test_feature_is_as_declared[edge_properties]"
    features = frozenset(Feature) - {Feature.EDGE_PROPERTIES}

    def apply(self, change, call):
        def bare(element):
            return dataclasses.replace(element, properties={}) if isinstance(element, Edge) else element

        super().apply(_without(change, bare), call)

    def write(self, chain, call):
        return super().write(chain.replace(" since=1802", ""), call)


class JoinsParallelEdges(MemoryBackend):
    meant = "test_feature_is_as_declared[parallel_edges]"

    def apply(self, change, call):
        seen = {}

        def once(element):
            place = (element.source, element.type, element.target) if isinstance(element, Edge) else element.id
            return element if seen.setdefault(place, element.id) == element.id else None

        super().apply(_without(change, once), call)


class MergesProperties(MemoryBackend):
    meant = "test_elements_are_replaced_and_removed"

    def apply(self, change, call):
        def merged(element):
            old = self._graph.get(element.id)
            return dataclasses.replace(element, properties={**(old.properties if old else {}), **element.properties})

        super().apply(GraphChange(change.added, _without(change, merged).changed, change.removed), call)


class AppliesAgain(MemoryBackend):
    meant = "test_same_call_is_applied_once"

    def apply(self, change, call):
        self._applied.pop(call.id, None)
        super().apply(change, call)


class AppliesHalf(MemoryBackend):
    meant = "test_apply_is_all_or_nothing"

    def apply(self, change, call):
        try:
            super().apply(change, call)
        except QueryError:
            self._graph.apply(GraphChange(removed=change.removed))
            raise


class TakesDanglingEdges(MemoryBackend):
    meant = "test_apply_is_all_or_nothing"

    def apply(self, change, call):
        with self._lock:
            self._check_open()
            if call.id not in self._applied:
                self._applied[call.id] = change
                self._graph.apply(change)
                self._count(change)


class MintsTakenIds(MemoryBackend):
    meant = "test_brought_ids_are_never_given_again"

    def __init__(self, context, store=None):
        super().__init__(context, store)
        self._resumed = context.resume

    def _count(self, change):
        if self._resumed:
            super()._count(change)

    def _new_id(self, letter):
        self._minted += 1
        return f"{letter}{self._minted}"


class QueriesSeeOnlyWrites(MemoryBackend):
    meant = "test_restored_graph_is_the_same_graph"

    def __init__(self, context, store=None):
        super().__init__(context, store)
        self._seen = TaskGraph(self._graph.snapshot())

    def write(self, chain, call):
        change = super().write(chain, call)
        self._seen.apply(change)
        return change

    def query(self, statement, call):
        if statement == ENDLESS or self._closed:
            return super().query(statement, call)
        return run_query(read_query(statement), self._seen, call.rows, lambda: None)


class OneGraphForAll(MemoryBackend):
    meant = "test_scopes_never_see_each_other"

    def __init__(self, context, store=None):
        name = context.scope.name.rpartition("-")[2]
        if name in ("one", "two"):
            context = dataclasses.replace(context, scope=GraphScope("all", "new" if name == "one" else "keep"))
        super().__init__(context, store)


class KeepsHalf(MemoryBackend):
    meant = "test_kept_graph_is_there_again_or_gone"

    def __init__(self, context, store=None):
        super().__init__(context, store)
        if context.scope.mode == "keep":
            self._graph.apply(GraphChange(removed=tuple(edge.id for edge in self._graph.edges)))


class KeepsAlways(MemoryBackend):
    meant = "test_new_starts_empty"

    def __init__(self, context, store=None):
        mode = "keep" if context.scope.mode == "new" and not context.resume else context.scope.mode
        scope = dataclasses.replace(context.scope, mode=mode)
        super().__init__(dataclasses.replace(context, scope=scope), store)


class NumbersAnewWhenResumed(MemoryBackend):
    meant = "test_a_run_that_goes_on_has_the_same_graph"

    def _count(self, change):
        """Forgets which ids there were."""


class WritesWhenReadOnly(MemoryBackend):
    meant = "test_read_only_refuses_writes"

    def __init__(self, context, store=None):
        super().__init__(context, store)
        self._read_only = False


class DiesAfterClose(MemoryBackend):
    meant = "test_close_twice_then_a_clean_error"

    def _check_open(self):
        if self._closed:
            raise AttributeError("'NoneType' object has no attribute 'execute'")


class ClosesOnce(MemoryBackend):
    meant = "test_close_twice_then_a_clean_error"

    def close(self):
        if self._closed and not getattr(self, "_told", False):
            self._told = True
            raise ValueError("closed already")
        super().close()


class OneThreadOnly(MemoryBackend):
    meant = "test_calls_come_from_any_thread"

    def snapshot(self):
        self._owner = getattr(self, "_owner", threading.get_ident())
        if self._owner != threading.get_ident():
            raise RuntimeError("created in another thread")
        return super().snapshot()

    def __init__(self, context, store=None):
        super().__init__(context, store)
        self.snapshot()


class NotSideBySide(MemoryBackend):
    meant = "test_as_many_calls_at_once_as_declared"
    concurrency = 4

    def __init__(self, context, store=None):
        super().__init__(context, store)
        self._together = threading.Barrier(2)

    def write(self, chain, call):
        if "side by side" in call.id:
            # Waits for the other write, as two transactions that meet would.
            self._together.wait(5)
            raise QueryError("deadlock")
        return super().write(chain, call)


class IgnoresCancel(MemoryBackend):
    meant = "test_cancel_ends_a_running_call"

    def cancel(self):
        """Does nothing, though it says it would."""

    def query(self, statement, call):
        if statement == ENDLESS:
            self._query_until(time.monotonic() + 12)
            return []
        return super().query(statement, call)

    def _query_until(self, end):
        while time.monotonic() < end and not self._closed:
            threading.Event().wait(0.05)


class StaysCancelled(MemoryBackend):
    meant = "test_cancel_ends_a_running_call"

    def query(self, statement, call):
        if self._cancels > 1:
            raise QueryError("cancelled")
        return super().query(statement, call)


FAULTS = {
    name: thing
    for name, thing in list(globals().items())
    if isinstance(thing, type) and issubclass(thing, MemoryBackend) and hasattr(thing, "meant")
}
for name, thing in FAULTS.items():
    globals()[f"Test{name}"] = type(f"Test{name}", (Wrong,), {"backend": thing, "__module__": __name__})
