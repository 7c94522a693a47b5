"""Backends with one fault each in how they take statements, with the test of the suite that is meant."""

from __future__ import annotations

import dataclasses
import runpy
from pathlib import Path
from typing import ClassVar

from kgot_core.errors import QueryError
from kgot_core.graph.elements import GraphChange, GraphSnapshot, Node
from kgot_core.testing.memory_backend import DIALECT, MemoryBackend

_backends = runpy.run_path(str(Path(__file__).with_name("backends.py")))


class NoGuide(MemoryBackend):
    meant = "test_dialect_is_complete"
    dialect = dataclasses.replace(DIALECT, guide="")


class ExampleThatDoesNothing(MemoryBackend):
    meant = "test_write_examples_build_one_graph"
    dialect = dataclasses.replace(DIALECT, write_examples=(*DIALECT.write_examples, DIALECT.write_examples[1]))


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


class TellsAddresses(MemoryBackend):
    meant = "test_errors_tell_nothing_of_the_store"

    def write(self, chain, call):
        try:
            return super().write(chain, call)
        except QueryError as error:
            raise QueryError(f"{error.message} in {object.__repr__(self)}", error.line) from None


FAULTS = _backends["of_backends"](globals())
