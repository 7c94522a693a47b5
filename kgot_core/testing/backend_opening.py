"""The part of the backend suite about scopes, threads, cancelling and closing."""

from __future__ import annotations

import contextlib
import threading
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import ClassVar

import pytest

from kgot_core.contracts.backend import GraphBackend
from kgot_core.errors import KgotError, QueryError, Refused, StoreError
from kgot_core.graph.elements import GraphChange, GraphSnapshot, Node
from kgot_core.graph.fold import TaskGraph, compare
from kgot_core.graph.same import unlike
from kgot_core.graph.soundness import faults
from kgot_core.testing.backend_driver import EMPTY, Driver
from kgot_core.testing.graphs import differences
from kgot_core.testing.suite import Suite, check_clean

OpenGraph = Callable[..., Driver]
_PAUSE = 0.02


class OpeningTests(Suite):
    """What holds from opening a graph to closing it."""

    keeps_graph: ClassVar[bool | None]
    endless: ClassVar[str]
    patience: ClassVar[float]

    def test_scopes_never_see_each_other(self, open_graph: OpenGraph) -> None:
        first = open_graph("one")
        try:
            second = open_graph("two")
        except Refused as error:
            check_clean(str(error), "refusing a second graph")
            return
        first.write_examples()
        kept = first.snapshot
        assert second.snapshot == EMPTY, "a graph must not see what is written in another scope"
        second.write_examples()
        second.empty()
        assert not differences(kept, first.snapshot, keys=True), "a graph must not change with another scope"
        second.backend.close()
        assert first.query(first.backend.dialect.query_examples[0].query), "closing one graph must not harm another"

    def test_kept_graph_is_there_again_or_gone(self, open_graph: OpenGraph) -> None:
        first = open_graph("kept")
        first.write_examples()
        before = first.snapshot
        first.backend.close()
        again = open_graph("kept", "keep")
        found = again.snapshot
        lines = [] if found == EMPTY else unlike(before, found, keys=True)
        assert not lines, f"a graph opened with keep is what it was, or empty, nothing in between: {lines}"
        if self.keeps_graph is not None:
            assert (found != EMPTY) is self.keeps_graph, f"keeps_graph is {self.keeps_graph}, but keep found {found}"
        again.empty()
        again.write_examples()
        lines = unlike(before, again.snapshot, keys=True)
        assert not lines, f"a graph opened with keep can be written like any other: {lines}"

    def test_new_starts_empty(self, open_graph: OpenGraph) -> None:
        first = open_graph("again")
        first.write_examples()
        first.backend.close()
        try:
            again = open_graph("again", "new")
        except Refused as error:
            check_clean(str(error), "refusing to start on what is there")
            return
        assert again.snapshot == EMPTY, "a graph opened with new starts empty, whatever its scope held before"
        assert again.write(again.backend.dialect.write_examples[0], "fresh") or again.snapshot != EMPTY, (
            "calls of an earlier run must not count as applied in a new graph"
        )

    def test_a_run_that_goes_on_has_the_same_graph(self, open_graph: OpenGraph) -> None:
        whole = open_graph("resumed")
        changes = [_change(whole, partial(whole.write, example)) for example in whole.backend.dialect.write_examples]
        changes.append(_change(whole, whole.empty))
        whole.write_examples()
        end = whole.snapshot
        whole.backend.close()
        again = open_graph("resumed", resume=True)
        assert again.snapshot == EMPTY, "opened with resume, a graph starts empty: the core fills it by apply"
        for change in changes:
            again.backend.apply(change, again.call())
        again.write_examples()
        difference = compare(end, again.snapshot)
        assert not difference, (
            "after each recorded change was taken in by apply, a write must do what it would have done without the"
            f" break, ids included (an id is never given again, also where its element was removed): {difference}"
        )

    def test_read_only_refuses_writes(self, open_graph: OpenGraph) -> None:
        first = open_graph("read")
        first.write_examples()
        kept = first.snapshot
        first.backend.close()
        reading = open_graph("read", "read_only")
        if not reading.snapshot.nodes:
            # Not kept: the core fills such a store with the graph that is to be read, unless only kept ones are read.
            with contextlib.suppress(Refused):
                reading.apply(kept)
        before = reading.snapshot
        for example in reading.backend.dialect.write_examples:
            try:
                reading.write(example)
            except StoreError as error:
                check_clean(str(error), "refusing a write")
            else:
                pytest.fail(f"a graph opened with read_only must raise Refused for a write: {example}")
        assert not compare(before, reading.snapshot), "a graph opened with read_only must not change"
        found = reading.query(reading.backend.dialect.query_examples[0].query)
        assert found or not before.nodes, "a graph opened with read_only is queried"

    def test_close_twice_then_a_clean_error(self, open_graph: OpenGraph) -> None:
        graph = open_graph()
        graph.write(graph.backend.dialect.write_examples[0])
        graph.backend.close()
        try:
            graph.backend.close()
        except Exception as error:
            pytest.fail(f"close is idempotent, but the second one raised: {error!r}")
        shown = graph.backend.dialect
        node = GraphSnapshot((Node("x-late", ("City",), {"name": "Late"}),))
        uses: dict[str, Callable[[], object]] = {
            "write": lambda: graph.write(shown.write_examples[-1]),
            "query": lambda: graph.query(shown.query_examples[0].query),
        }
        for name, use in uses.items():
            try:
                use()
            except KgotError as error:
                check_clean(str(error), f"{name} after close")
            except Exception as error:
                pytest.fail(f"{name} after close must raise StoreUnavailable, not {type(error).__name__}: {error}")
            else:
                pytest.fail(f"{name} after close must raise StoreUnavailable")
        for other in (lambda: graph.apply(node), lambda: graph.snapshot, graph.backend.cancel):
            try:
                other()
            except KgotError:
                pass
            except Exception as error:
                pytest.fail(f"after close only errors of kgot may be raised, not {type(error).__name__}: {error}")

    def test_calls_come_from_any_thread(self, graph: Driver) -> None:
        uses: tuple[Callable[[], object], ...] = (
            graph.write_examples,
            lambda: graph.query(graph.backend.dialect.query_examples[0].query),
            lambda: graph.snapshot,
            graph.empty,
        )
        for use in uses:
            with ThreadPoolExecutor(1) as thread:
                error = thread.submit(use).exception()
            assert error is None, (
                f"the core calls a backend on several threads, one after another; this failed: {error!r}"
            )
        assert graph.snapshot == EMPTY

    def test_as_many_calls_at_once_as_declared(self, graph: Driver) -> None:
        count = min(graph.backend.concurrency, 8)
        shown = graph.backend.dialect
        graph.write_examples()
        folded = TaskGraph(graph.snapshot)
        with ThreadPoolExecutor(count) as threads:
            queries = [threads.submit(graph.query, shown.query_examples[0].query) for _ in range(count)]
            writes = [threads.submit(graph.write, shown.write_examples[0], f"side by side {n}") for n in range(count)]
        errors = [done.exception() for done in queries] + [done.exception() for done in writes]
        for error in errors:
            assert error is None, f"concurrency is {graph.backend.concurrency}, but calls at once failed: {error!r}"
        assert not faults(graph.snapshot), f"after {count} writes at once: {faults(graph.snapshot)}"
        changes = [done.result() for done in writes]
        for change in changes:
            if change is not None:
                folded.apply(change)
        if None not in changes:
            same = {element.id for element in folded} == {element.id for element in graph.snapshot.elements()}
            assert same, "the changes of writes at once do not add up to the snapshot"

    def test_cancel_ends_a_running_call(self, open_graph: OpenGraph) -> None:
        graph = open_graph()
        graph.backend.cancel()
        graph.write_examples()
        before = graph.snapshot
        own = type(graph.backend).cancel is not GraphBackend.cancel
        if self.endless:
            # Without a cancel of its own a backend has to end calls by their own time limit.
            call = graph.call(seconds=60.0 if own else 0.3)
            outcome = _while_cancelling(graph, self.patience, lambda: graph.backend.query(self.endless, call))
            assert isinstance(outcome, StoreError), f"a cancelled call must raise QueryError, not: {outcome!r}"
            check_clean(str(outcome), "a cancelled call")
        else:
            warnings.warn("endless is not set, so cancel was tried on short statements only", stacklevel=1)
            outcome = _while_cancelling(
                graph, self.patience, lambda: [_tried(graph, text) for text in _queries(graph) * 20]
            )
            assert isinstance(outcome, list), f"a call that is cancelled ends well or with QueryError, not: {outcome!r}"
        assert not compare(before, graph.snapshot), "a cancelled query must change nothing"
        error = graph.refusal(graph.query, _queries(graph)[0])
        assert error is None, f"the call after a cancelled one must run as if nothing had happened, but: {error}"
        graph.write(graph.backend.dialect.write_examples[0])


def _queries(graph: Driver) -> list[str]:
    return [example.query for example in graph.backend.dialect.query_examples]


def _tried(graph: Driver, statement: str) -> bool:
    try:
        graph.query(statement)
    except QueryError:
        return False
    return True


def _while_cancelling(graph: Driver, patience: float, use: Callable[[], object]) -> object:
    """Gives what a call that is cancelled again and again returned or raised."""
    outcome: list[object] = []
    ended = threading.Event()

    def run() -> None:
        try:
            outcome.append(use())
        except Exception as error:
            outcome.append(error)
        ended.set()

    threading.Thread(target=run, daemon=True).start()
    for _ in range(int(patience / _PAUSE)):
        if ended.wait(_PAUSE):
            return outcome[0]
        graph.backend.cancel()
    pytest.fail(f"a call must end within a second of cancel(), it runs still after {patience:g} seconds")


def _change(graph: Driver, act: Callable[[], object]) -> GraphChange:
    before = graph.snapshot
    act()
    return compare(before, graph.snapshot)
