"""Backends with one fault each in how they take changes in, with the test of the suite that is meant."""

from __future__ import annotations

import dataclasses
import math
import runpy
from pathlib import Path

from kgot_core.contracts.backend import Feature
from kgot_core.errors import QueryError
from kgot_core.graph.elements import Edge, GraphChange, Node
from kgot_core.graph.fold import TaskGraph
from kgot_core.testing.find_language import read_query, run_query
from kgot_core.testing.memory_backend import ENDLESS, MemoryBackend

_backends = runpy.run_path(str(Path(__file__).with_name("backends.py")))


def _without(change: GraphChange, keep) -> GraphChange:
    """Drops elements from what comes in, or replaces them."""
    kept = [[new for element in part if (new := keep(element)) is not None] for part in (change.added, change.changed)]
    return GraphChange(tuple(kept[0]), tuple(kept[1]), change.removed)


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


FAULTS = _backends["of_backends"](globals())
