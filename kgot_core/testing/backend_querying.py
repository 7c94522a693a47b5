"""The part of the backend suite that asks: answers, rows, their limits, and that a query only reads."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Iterable, Mapping
from typing import Any, ClassVar

import pytest

from kgot_core.contracts.backend import Row
from kgot_core.errors import QueryError
from kgot_core.graph.elements import Node
from kgot_core.graph.facts.index import node_names
from kgot_core.graph.values import JsonValue
from kgot_core.testing.backend_driver import Driver
from kgot_core.testing.graphs import differences
from kgot_core.testing.suite import Suite

OpenGraph = Callable[..., Driver]


class QueryTests(Suite):
    """Queries and their rows."""

    several_rows: ClassVar[str]

    def test_query_examples_give_their_answers(self, graph: Driver) -> None:
        graph.write_examples()
        for example in graph.backend.dialect.query_examples:
            rows = graph.query(example.query)
            assert rows, f"the query for {example.question!r} gives no row"
            for row in rows:
                assert isinstance(row, Mapping) and all(isinstance(name, str) for name in row), (
                    "a row maps names to values"
                )
                _check_json(row)
            found = {text for row in rows for text in _texts(row)}
            assert example.answer in found, f"{example.question!r}: {example.answer!r} stands in no row: {list(rows)}"

    def test_basis_names_nodes(self, graph: Driver) -> None:
        graph.write_examples()
        known = {name for node in graph.snapshot.nodes for name in _names(graph, node)}
        for example in graph.backend.dialect.query_examples:
            assert example.basis, f"{example.question!r} needs a basis: names of the nodes that the answer rests on"
            for name in example.basis:
                assert name.strip('"') in known, (
                    f"the basis {name!r} of {example.question!r} is no node of the examples"
                )

    def test_query_cannot_change_the_graph(self, graph: Driver) -> None:
        for example in graph.backend.dialect.write_examples:
            before = graph.snapshot
            error = graph.refusal(graph.query, example)
            assert not differences(before, graph.snapshot, keys=True), f"query ran a write and kept it: {example}"
            assert error is not None, f"query must raise QueryError for a statement that writes: {example}"
            graph.write(example)
        assert graph.snapshot.edges, "a write after a refused query must work as if nothing had happened"

    def test_rows_are_limited(self, graph: Driver) -> None:
        graph.write_examples()
        queries = [example.query for example in graph.backend.dialect.query_examples]
        if self.several_rows:
            queries.append(self.several_rows)
            assert len(graph.query(self.several_rows)) > 1, f"several_rows has to give several: {self.several_rows}"
        most = 0
        for query in queries:
            most = max(most, len(graph.query(query)))
            rows = graph.query(query, rows=1)
            assert len(rows) == 1, f"call.rows is 1, but {len(rows)} rows came: cut the rows off, do not refuse"
        if most < 2:
            warnings.warn(
                "no query example gives two rows, so the row limit was not tested: set several_rows", stacklevel=1
            )

    def test_nothing_found_is_no_row(self, graph: Driver) -> None:
        nothing = False
        for stage in ("empty", "without edges"):
            if stage == "without edges":
                graph.write_examples()
                graph.change(removed=[edge.id for edge in graph.snapshot.edges])
            for example in graph.backend.dialect.query_examples:
                try:
                    rows = graph.query(example.query)
                except QueryError:
                    continue
                nothing = nothing or not rows
                for row in rows:
                    assert any(value not in (None, "", []) for value in row.values()), (
                        f"a row without a value stands for nothing found; give no row: {list(rows)}"
                    )
        assert nothing, (
            "no query example finds nothing in a graph that is empty or has no edges; an empty result is no row"
        )


def _names(graph: Driver, node: Node) -> set[str]:
    return {graph.backend.dialect.name(node).strip('"'), *node_names(node)}


def all_rows(graph: Driver) -> list[list[str]]:
    """Gives the rows of all query examples, sorted, for a query need not order."""
    examples = graph.backend.dialect.query_examples
    return [
        sorted(json.dumps(dict(row), sort_keys=True, default=str) for row in graph.query(example.query))
        for example in examples
    ]


def _check_json(row: Row) -> None:
    try:
        assert json.loads(json.dumps(dict(row), allow_nan=False)) == dict(row)
    except (TypeError, ValueError, AssertionError):
        pytest.fail(f"a row holds a value that JSON has not; turn it into text, a number, a list or a map: {row}")


def _texts(value: JsonValue | Row) -> Iterable[str]:
    """Gives every value in a row as text, as an answer may be written."""
    parts: Iterable[Any]
    if isinstance(value, Mapping):
        parts = value.values()
    elif isinstance(value, list):
        parts = value
    else:
        yield str(value).lower() if isinstance(value, bool) else str(value)
        if isinstance(value, float) and value.is_integer():
            yield str(int(value))
        return
    for part in parts:
        yield from _texts(part)
