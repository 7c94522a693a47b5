"""The part of the backend suite that writes the dialect's own examples."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from kgot_core.contracts.backend import Feature
from kgot_core.contracts.dialect import Dialect
from kgot_core.errors import QueryError
from kgot_core.graph.elements import Edge, GraphChange, GraphSnapshot, Node
from kgot_core.graph.fold import TaskGraph, compare
from kgot_core.graph.soundness import faults
from kgot_core.testing.backend_driver import EMPTY, Driver
from kgot_core.testing.backend_querying import all_rows
from kgot_core.testing.graphs import differences
from kgot_core.testing.suite import Suite, check_clean

OpenGraph = Callable[..., Driver]


class StatementTests(Suite):
    """Writes, their changes, ids and errors."""

    def test_dialect_is_complete(self, graph: Driver) -> None:
        shown = graph.backend.dialect
        assert isinstance(shown, Dialect), "dialect is a kgot_core.contracts.dialect.Dialect"
        assert shown.language.strip(), "dialect.language names the language to the model"
        assert re.fullmatch(r"[a-z0-9_+-]+", shown.fence), "dialect.fence is one word, as after ``` in Markdown"
        assert len(shown.guide) > 40, "dialect.guide tells the model how to write and how to query"
        assert shown.write_examples, "dialect.write_examples needs at least one statement"
        assert shown.query_examples, "dialect.query_examples needs at least one question with its query"
        assert shown.invalid_example.strip(), "dialect.invalid_example needs a statement with an error"
        for text in (*shown.write_examples, *(example.query for example in shown.query_examples)):
            assert text.strip() and "```" not in text, "examples are bare statements: the core puts the fences"
        assert graph.backend.concurrency >= 1, "concurrency is at least 1"
        assert graph.backend.features <= frozenset(Feature), "features is a frozenset of Feature"

    def test_write_examples_build_one_graph(self, graph: Driver) -> None:
        assert graph.snapshot == EMPTY, "a new graph starts empty"
        for number, example in enumerate(graph.backend.dialect.write_examples, 1):
            before = graph.snapshot
            graph.write(example)
            assert compare(before, graph.snapshot), f"write example {number} changes nothing: {example}"
            assert not faults(graph.snapshot), f"after write example {number}: {faults(graph.snapshot)}"
        assert len(graph.snapshot.nodes) >= 2 and graph.snapshot.edges, (
            "the examples write two nodes and an edge at least"
        )

    def test_state_shows_nodes_as_statements_name_them(self, graph: Driver) -> None:
        graph.write_examples()
        shown = graph.backend.dialect
        written = "\n".join([*shown.write_examples, *(example.query for example in shown.query_examples)])
        for node in graph.snapshot.nodes:
            name = shown.name(node).strip('"')
            assert name and name in written, (
                f"the state shows a node as {name!r}, but no example writes it so; the model could not refer to it."
                " Set Node.key, or override Dialect.name"
            )

    def test_invalid_example_changes_nothing(self, graph: Driver) -> None:
        shown = graph.backend.dialect
        graph.write_examples()
        before = graph.snapshot
        both = f"{shown.write_examples[0]}\n{shown.invalid_example}"
        for text, run in (
            (shown.invalid_example, graph.write),
            (shown.invalid_example, graph.query),
            (both, graph.write),
        ):
            error = graph.refusal(run, text)
            assert error is not None, f"{run.__name__} must raise QueryError for: {text}"
            assert error.line >= 0 and error.column >= 0, "line and column count from 1, 0 is unknown"
            assert not compare(before, graph.snapshot), f"a {run.__name__} that fails must change nothing: {text}"

    def test_empty_statement_is_harmless(self, graph: Driver) -> None:
        for run in (graph.write, graph.query):
            try:
                result = run("  \n")
            except QueryError:
                continue
            except Exception as error:
                pytest.fail(f"{run.__name__} of an empty statement raises QueryError or does nothing, not: {error!r}")
            assert not result, f"{run.__name__} of an empty statement must give nothing: {result}"
        assert graph.snapshot == EMPTY, "an empty statement must change nothing"

    def test_change_is_the_difference_of_snapshots(self, graph: Driver) -> None:
        for number, example in enumerate(graph.backend.dialect.write_examples, 1):
            before = graph.snapshot
            change = graph.write(example)
            if change is not None:
                _check_change(change, before, graph.snapshot, f"write example {number}")

    def test_added_nodes_stand_before_edges(self, graph: Driver) -> None:
        for change in graph.write_examples():
            seen_edge = False
            for element in change.added if change is not None else ():
                assert not (seen_edge and isinstance(element, Node)), (
                    "GraphChange.added: every node stands before the edges"
                )
                seen_edge = seen_edge or isinstance(element, Edge)

    def test_equal_runs_give_equal_ids_and_rows(self, open_graph: OpenGraph) -> None:
        first = open_graph("first")
        first.write_examples()
        seen = (first.snapshot, all_rows(first))
        first.backend.close()
        second = open_graph("second")
        second.write_examples()
        assert not differences(seen[0], second.snapshot, keys=True), (
            "two runs that write the same must get the same ids and keys: number the elements yourself, never use the"
            f" store's ids: {differences(seen[0], second.snapshot, keys=True)}"
        )
        assert seen[1] == all_rows(second), "two runs that ask the same must get the same rows: no store's ids in them"

    def test_ids_stay(self, graph: Driver) -> None:
        seen: dict[str, tuple[object, ...]] = {}
        for example in graph.backend.dialect.write_examples:
            graph.write(example)
            for _ in range(2):
                now = {element.id: _identity(element) for element in graph.snapshot.elements()}
                for element_id, identity in seen.items():
                    assert now.get(element_id) == identity, (
                        f"the id {element_id} went to another element: ids must stay"
                    )
                seen = now

    def test_same_call_is_written_once(self, graph: Driver) -> None:
        example = graph.backend.dialect.write_examples[0]
        first = graph.write(example, "once")
        written = graph.snapshot
        again = graph.write(example, "once")
        assert not compare(written, graph.snapshot), "a write whose call.id was applied before must change nothing"
        if first is not None:
            assert again == first, (
                "a write whose call.id was applied before returns the same change again (its answer may have been lost)"
            )
        graph.empty()
        graph.write(example, "once")
        assert graph.snapshot == EMPTY, "a write whose call.id was applied before was applied again: remember call.id"
        graph.write(example, "another")
        assert graph.snapshot != EMPTY, "a write with a new call.id must be applied, whatever its text"

    def test_failed_call_may_be_tried_again(self, graph: Driver) -> None:
        shown = graph.backend.dialect
        graph.refusal(graph.write, shown.invalid_example, "retried")
        graph.write(shown.write_examples[0], "retried")
        assert graph.snapshot != EMPTY, "a call.id counts as applied only after a write that ended well"

    def test_errors_tell_nothing_of_the_store(self, graph: Driver) -> None:
        for run in (graph.write, graph.query):
            texts = []
            for _ in range(2):
                error = graph.refusal(run, graph.backend.dialect.invalid_example)
                if error is not None:
                    check_clean(str(error), f"{run.__name__} of the invalid example")
                    texts.append(str(error))
            assert len(set(texts)) <= 1, f"equal statements must get equal errors, they stand in prompts: {texts}"


def _check_change(change: GraphChange, before: GraphSnapshot, after: GraphSnapshot, what: str) -> None:
    """Checks that a change leads from one snapshot to the other, and tells nothing that did not happen."""
    folded = TaskGraph(before)
    folded.apply(change)
    lines = differences(after, folded.snapshot(), keys=True)
    assert not lines, f"the change that {what} returned does not lead to the next snapshot: {'; '.join(lines)}"
    real = compare(before, after)
    for part in ("added", "changed"):
        told = {element.id for element in getattr(change, part)}
        happened = {element.id for element in getattr(real, part)}
        assert told == happened, f"{what}: {part} names {sorted(told)}, but {sorted(happened)} were {part}"
    wrong = set(change.removed) - set(real.removed)
    assert not wrong, f"{what}: removed names {sorted(wrong)}, which are not gone or never were"


def _identity(element: Node | Edge) -> tuple[object, ...]:
    """What of an element a write of the examples hardly changes: its kind, and between which nodes an edge leads."""
    if isinstance(element, Edge):
        return (element.source, element.type, element.target)
    return ("node", element.key or element.properties.get("name", ""))
