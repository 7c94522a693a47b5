"""Backends with one fault each in how they open, close and stop, with the test of the suite that is meant."""

from __future__ import annotations

import dataclasses
import runpy
import threading
import time
from pathlib import Path

from kgot_core.contracts.backend import GraphScope
from kgot_core.errors import QueryError
from kgot_core.graph.elements import GraphChange
from kgot_core.testing.memory_backend import ENDLESS, MemoryBackend

_backends = runpy.run_path(str(Path(__file__).with_name("backends.py")))


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


FAULTS = _backends["of_backends"](globals())
