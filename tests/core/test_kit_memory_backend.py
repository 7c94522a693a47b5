"""The backend in memory keeps the contract, and finds what its graph holds."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

import pytest

from kgot_core.contracts.backend import Call, GraphScope, OpenContext
from kgot_core.errors import QueryError
from kgot_core.graph.elements import Edge, GraphChange, Node
from kgot_core.graph.fold import TaskGraph
from kgot_core.sandboxes.providers import MONTY
from kgot_core.testing.backend_suite import BackendSuite, OpenBackend
from kgot_core.testing.memory_backend import DIALECT, ENDLESS, MemoryBackend, MemoryStore


class TestKeeping(BackendSuite):
    keeps_graph = True
    refused_values: ClassVar[dict[str, str]] = {}
    endless = ENDLESS

    @pytest.fixture
    def open_backend(self) -> OpenBackend:
        store = MemoryStore()
        return lambda context: MemoryBackend(context, store)


class TestForgetting(BackendSuite):
    keeps_graph = False
    endless = ENDLESS
    reuse = True

    @pytest.fixture
    def open_backend(self) -> OpenBackend:
        return MemoryBackend


class Narrow(MemoryBackend):
    """Holds lakes and rivers that flow, and refuses everything else that a store may lack."""

    features = frozenset()
    dialect = dataclasses.replace(
        DIALECT, write_examples=tuple(chain.replace(" since=1802", "") for chain in DIALECT.write_examples)
    )

    def apply(self, change, call):
        graph = TaskGraph(self.snapshot())
        graph.apply(change)
        labels = {node.id: node.labels for node in graph.nodes}
        places = [(edge.source, edge.target) for edge in graph.edges]
        lists = any(isinstance(value, tuple) for element in graph for value in element.properties.values())
        if any(kinds not in (("Lake",), ("River",)) for kinds in labels.values()) or len(set(places)) < len(places):
            raise QueryError("lakes and rivers only, and one edge between two")
        if lists or any(edge.properties or edge.type != "FLOWS_INTO" for edge in graph.edges):
            raise QueryError("no lists, and flowing only")
        if any(labels.get(edge.target) != ("Lake",) for edge in graph.edges if edge.target in labels):
            raise QueryError("a lake only is flown into")
        super().apply(change, call)


class TestNarrow(BackendSuite):
    keeps_graph = False
    endless = ENDLESS

    @pytest.fixture
    def open_backend(self) -> OpenBackend:
        return Narrow


@pytest.fixture
def find():
    backend = MemoryBackend(OpenContext(GraphScope("test"), MONTY.open(MONTY.settings())))
    nodes = (
        Node("a", ("City", "Port"), {"name": "Orm", "year": 1200, "share": float("nan"), "names": ("Orm", "Orma")}),
        Node("b", ("City",), {"name": "Sarn", "year": 1200}),
        Node("c", (), {"title": "Log (old)"}),
    )
    edges = (Edge("e", "ROAD", "a", "b"), Edge("f", "ROAD", "b", "b"), Edge("g", "SEA", "a", "b"))
    backend.apply(GraphChange(added=(*nodes, *edges)), Call("given"))
    return lambda statement, rows=100: backend.query(statement, Call("q", rows=rows))


@pytest.mark.parametrize(
    ("statement", "rows"),
    [
        ("FIND ?c\n(City: ?c)", [{"c": "Orm"}, {"c": "Sarn"}]),
        ("find ?c\n(Port: ?c)", [{"c": "Orm"}]),
        ("FIND ?a\n(?a)", [{"a": "Orm"}, {"a": "Sarn"}, {"a": "Log (old)"}]),
        ("FIND ?b ?t\n(Orm) -[?t]-> (?b)", [{"b": "Sarn", "t": "ROAD"}, {"b": "Sarn", "t": "SEA"}]),
        ("FIND ?b\n(?b) -[ROAD]-> (?b)", [{"b": "Sarn"}]),
        ("FIND ?a\n(?a) year = ?y\n(Sarn) year = ?y", [{"a": "Orm"}, {"a": "Sarn"}]),
        ("FIND ?a\n(?a) year = 1200\n\n(?a) -[SEA]-> (?b)", [{"a": "Orm"}]),
        ("FIND ?s ?n\n(?a) share = ?s\n(?a) names = ?n", [{"s": "nan", "n": ["Orm", "Orma"]}]),
        ("FIND ?c\n(Ship: ?c)", []),
    ],
)
def test_find(find, statement, rows):
    assert find(statement) == rows


@pytest.mark.parametrize(
    ("statement", "line"),
    [
        ("", 1),
        ("(City: Orm)", 1),
        ("FIND\n(?a)", 1),
        ("FIND ?a ?b\n(?a)", 1),
        ("FIND ?a\n(?a)\n(?a) ->", 3),
        ("FIND ?a", 1),
    ],
)
def test_what_is_no_query_is_told_with_its_line(find, statement, line):
    with pytest.raises(QueryError) as error:
        find(statement)
    assert error.value.line == line


def test_rows_are_cut(find):
    assert find("FIND ?a\n(?a)", rows=2) == [{"a": "Orm"}, {"a": "Sarn"}]
