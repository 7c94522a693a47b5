"""Drives an open backend for the suite: numbers its calls, runs its examples, and finds out what it holds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import ParamSpec, TypeAlias

from kgot_core.contracts.backend import Call, Feature, GraphBackend, OpenContext, Row
from kgot_core.errors import QueryError
from kgot_core.graph.elements import Edge, Element, GraphChange, GraphSnapshot, Node
from kgot_core.graph.values import Value
from kgot_core.testing.graphs import (
    PLAIN_LISTS,
    PLAIN_VALUES,
    RARE_LISTS,
    RARE_VALUES,
    Vocabulary,
    differences,
)

OpenBackend: TypeAlias = Callable[[OpenContext], GraphBackend]
P = ParamSpec("P")
SECONDS = 30.0
EMPTY = GraphSnapshot()

_A, _B = Node("given-a", ("City",), {"name": "Sarn"}), Node("given-b", ("City",), {"name": "Orm"})
FEATURE_GRAPHS: Mapping[Feature, GraphSnapshot] = MappingProxyType(
    {
        Feature.SEVERAL_LABELS: GraphSnapshot((Node("given-a", ("City", "Port"), {"name": "Sarn"}),)),
        Feature.PARALLEL_EDGES: GraphSnapshot(
            (_A, _B),
            (
                Edge("given-1", "ROAD", "given-a", "given-b"),
                Edge("given-2", "ROAD", "given-a", "given-b"),
                Edge("given-3", "ROAD", "given-b", "given-a"),
            ),
        ),
        Feature.EDGE_PROPERTIES: GraphSnapshot(
            (_A, _B), (Edge("given-1", "ROAD", "given-a", "given-b", {"km": 12, "name": "Salt Road"}),)
        ),
        Feature.LIST_PROPERTIES: GraphSnapshot(
            (Node("given-a", ("City",), {"name": "Sarn", "twins": ("Orm", "Bell")}),)
        ),
        Feature.FREE_SCHEMA: GraphSnapshot(
            (
                Node("given-a", ("SuiteLabelOne",), {"name": "Sarn"}),
                Node("given-b", ("SuiteLabelTwo",), {"name": "Orm"}),
            ),
            (Edge("given-1", "SUITE_TYPE", "given-a", "given-b"),),
        ),
    }
)
"""A small graph that needs the feature."""


@dataclass
class Driver:
    """One open backend with calls that number themselves."""

    backend: GraphBackend
    prefix: str = "suite"
    calls: int = 0

    def call(self, id: str = "", *, seconds: float = SECONDS, rows: int = 1_000) -> Call:
        """Gives a call with a new id, or with a given one."""
        self.calls += 1
        return Call(f"{self.prefix}:{id or self.calls}", seconds, rows)

    def write(self, chain: str, id: str = "") -> GraphChange | None:
        """Writes one block."""
        return self.backend.write(chain, self.call(id))

    def query(self, statement: str, rows: int = 1_000) -> Sequence[Row]:
        """Queries."""
        return self.backend.query(statement, self.call(rows=rows))

    def apply(self, graph: GraphSnapshot, id: str = "") -> None:
        """Takes a whole graph in."""
        self.backend.apply(GraphChange(added=tuple(graph.elements())), self.call(id))

    def change(
        self,
        *,
        added: Sequence[Element] = (),
        changed: Sequence[Element] = (),
        removed: Sequence[str] = (),
        id: str = "",
    ) -> None:
        """Takes a change in."""
        self.backend.apply(GraphChange(tuple(added), tuple(changed), tuple(removed)), self.call(id))

    def empty(self, id: str = "") -> None:
        """Removes everything."""
        self.change(removed=[element.id for element in self.snapshot.elements()], id=id)

    @property
    def snapshot(self) -> GraphSnapshot:
        """The graph."""
        return self.backend.snapshot()

    def write_examples(self) -> list[GraphChange | None]:
        """Writes the dialect's examples in order."""
        return [self.write(example) for example in self.backend.dialect.write_examples]

    def refusal(self, function: Callable[P, object], *args: P.args, **named: P.kwargs) -> QueryError | None:
        """Gives the QueryError that a call ends with, ``None`` where it ends well."""
        try:
            function(*args, **named)
        except QueryError as error:
            return error
        return None


@dataclass
class Abilities:
    """What a backend really holds, found by trying: names of values and features.

    Attributes:
        held: They came back as they were.
        refused: They were refused, with the error.
        lost: They came back otherwise, with what differed.
    """

    held: dict[str, Value] = field(default_factory=dict)
    refused: dict[str, QueryError] = field(default_factory=dict)
    lost: dict[str, str] = field(default_factory=dict)


def try_values(driver: Driver, label: str | None) -> Abilities:
    """Takes nodes in, one for each value, and looks what becomes of it."""
    found = Abilities()
    lists = {**PLAIN_LISTS, **RARE_LISTS} if Feature.LIST_PROPERTIES in driver.backend.features else {}
    for name, value in {**PLAIN_VALUES, **RARE_VALUES, **lists}.items():
        node = Node("given-value", (label,) if label else (), {"name": "Sarn", "held": value})
        graph = GraphSnapshot((node,))
        driver.empty()
        if error := driver.refusal(driver.apply, graph):
            found.refused[name] = error
        elif lines := differences(graph, driver.snapshot):
            found.lost[name] = "; ".join(lines)
        else:
            found.held[name] = value
    driver.empty()
    return found


def holds(driver: Driver, feature: Feature) -> bool:
    """Tries whether a feature's graph comes back as it was."""
    graph = FEATURE_GRAPHS[feature]
    driver.empty()
    refused = driver.refusal(driver.apply, graph)
    kept = refused is None and not differences(graph, driver.snapshot)
    driver.empty()
    return kept


def vocabulary(driver: Driver) -> Vocabulary:
    """Finds what generated graphs may use: what the examples use where the schema is fixed, anything elsewhere."""
    features = driver.backend.features
    plain = Vocabulary(
        several_labels=Feature.SEVERAL_LABELS in features and holds(driver, Feature.SEVERAL_LABELS),
        parallel=Feature.PARALLEL_EDGES in features and holds(driver, Feature.PARALLEL_EDGES),
        edge_properties=Feature.EDGE_PROPERTIES in features and holds(driver, Feature.EDGE_PROPERTIES),
    )
    if Feature.FREE_SCHEMA in features:
        return replace(plain, values=try_values(driver, "City").held)
    driver.write_examples()
    snapshot = driver.snapshot
    labels = {node.id: node.labels for node in snapshot.nodes}
    links = {
        (source, edge.type, target): None
        for edge in snapshot.edges
        for source in labels[edge.source]
        for target in labels[edge.target]
    }
    kinds = tuple(dict.fromkeys(label for node in snapshot.nodes for label in node.labels))
    values = try_values(driver, kinds[0]).held
    return replace(plain, kinds=kinds, links=tuple(links), values=values)
