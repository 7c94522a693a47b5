"""A store whose graph was there already when its run went on: its elements keep the ids that the run knows them by."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from kgot_core.contracts.backend import Call, GraphBackend, Row
from kgot_core.graph.elements import Edge, Element, GraphChange, GraphSnapshot


class Renamed(GraphBackend):
    """Passes every call on, and translates ids both ways.

    Args:
        backend: The open store.
        ids: The run's ids by those that the store gives now.
        used: Ids that the run has known; none of them is given to another element.
        unrecorded: Ids of calls whose writes are done but not recorded. They are not done again, and what they did is
            told with the next write.
    """

    def __init__(
        self, backend: GraphBackend, ids: Mapping[str, str], used: Iterable[str], unrecorded: Iterable[str] = ()
    ) -> None:
        self.dialect = backend.dialect
        self.concurrency = backend.concurrency
        self.features = backend.features
        self._backend = backend
        self._outer = dict(ids)
        self._inner = {outer: inner for inner, outer in ids.items()}
        self._used = {*used, *self._inner}
        self._unrecorded = frozenset(unrecorded)
        self._behind = bool(self._unrecorded)
        self._lock = threading.Lock()

    def write(self, chain: str, call: Call) -> GraphChange | None:
        """Runs one block; see :class:`~kgot_core.contracts.backend.GraphBackend`."""
        change = None if call.id in self._unrecorded else self._backend.write(chain, call)
        with self._lock:
            # Only a comparison with the whole graph tells what the record lacks.
            behind, self._behind = self._behind, False
        return None if change is None or behind else self._told(change)

    def query(self, statement: str, call: Call) -> Sequence[Row]:
        """Runs a reading statement; rows hold no ids."""
        return self._backend.query(statement, call)

    def apply(self, change: GraphChange, call: Call) -> None:
        """Takes neutral elements in."""
        self._behind = False
        if call.id in self._unrecorded:
            return
        with self._lock:
            there = set(self._outer) if change.added else set()
            for element in change.added:
                if element.id not in self._inner:
                    self._pair(_free(element.id, there), element.id)
        self._backend.apply(
            GraphChange(
                tuple(map(self._inward, change.added)),
                tuple(map(self._inward, change.changed)),
                tuple(self._inner.get(element_id, element_id) for element_id in change.removed),
            ),
            call,
        )

    def snapshot(self) -> GraphSnapshot:
        """Gives the whole graph."""
        found = self._backend.snapshot()
        with self._lock:
            nodes = [replace(node, id=self._known(node.id)) for node in found.nodes]
            return GraphSnapshot(tuple(nodes), tuple(map(self._edge_outward, found.edges)))

    def noted_calls(self) -> Collection[str]:
        """Gives the calls that the store notes as done."""
        return self._backend.noted_calls()

    def cancel(self) -> None:
        """Ends running calls."""
        self._backend.cancel()

    def close(self) -> None:
        """Gives the store back."""
        self._backend.close()

    def _told(self, change: GraphChange) -> GraphChange:
        with self._lock:
            return GraphChange(
                tuple(map(self._outward, change.added)),
                tuple(map(self._outward, change.changed)),
                tuple(map(self._known, change.removed)),
            )

    def _outward(self, element: Element) -> Element:
        if isinstance(element, Edge):
            return self._edge_outward(element)
        return replace(element, id=self._known(element.id))

    def _edge_outward(self, edge: Edge) -> Edge:
        return replace(edge, id=self._known(edge.id), source=self._known(edge.source), target=self._known(edge.target))

    def _inward(self, element: Element) -> Element:
        inner = self._inner
        if isinstance(element, Edge):
            source, target = inner.get(element.source, element.source), inner.get(element.target, element.target)
            return replace(element, id=inner[element.id], source=source, target=target)
        return replace(element, id=inner[element.id])

    def _known(self, inner: str) -> str:
        """Gives the run's id of an element of the store, a new one where the run has not met it yet."""
        if inner not in self._outer:
            self._pair(inner, _free(inner, self._used))
        return self._outer[inner]

    def _pair(self, inner: str, outer: str) -> None:
        self._outer[inner] = outer
        self._inner[outer] = inner
        self._used.add(outer)


def _free(wanted: str, taken: set[str]) -> str:
    """Gives the wanted id where it is free, else the next one of its letter."""
    if wanted not in taken:
        return wanted
    letter = wanted.rstrip("0123456789") or "n"
    start = int(wanted[len(letter) :] or 0)
    return next(name for number in itertools.count(start + 1) if (name := f"{letter}{number}") not in taken)
