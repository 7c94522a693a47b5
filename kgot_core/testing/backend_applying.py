"""The part of the backend suite that takes neutral elements in: what comes back, and what must be refused."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import ClassVar

import pytest

from kgot_core.contracts.backend import Feature
from kgot_core.graph.elements import Edge, GraphChange, GraphSnapshot, Node
from kgot_core.graph.fold import compare
from kgot_core.graph.soundness import faults
from kgot_core.testing.backend_driver import (
    EMPTY,
    FEATURE_GRAPHS,
    Driver,
    try_values,
    vocabulary,
)
from kgot_core.testing.backend_querying import all_rows
from kgot_core.testing.graphs import PLAIN_LISTS, PLAIN_VALUES, Vocabulary, differences, make_graph
from kgot_core.testing.suite import Suite, check_clean

OpenGraph = Callable[..., Driver]
SEEDS = range(16)


class ApplyTests(Suite):
    """Neutral elements in, the same neutral elements out."""

    refused_values: ClassVar[Mapping[str, str] | None]

    def test_generated_graphs_come_back(self, graph: Driver) -> None:
        words = vocabulary(graph)
        for seed in SEEDS:
            given = make_graph(seed, words)
            graph.empty()
            assert graph.snapshot == EMPTY, "apply must remove what GraphChange.removed names, edges of a node included"
            graph.apply(given)
            lines = differences(given, graph.snapshot)
            assert not lines, f"apply of make_graph({seed}, ...) must come back in the snapshot: {'; '.join(lines[:5])}"
            assert not faults(graph.snapshot), f"make_graph({seed}, ...): {faults(graph.snapshot)}"

    def test_every_value_is_held_or_refused(self, graph: Driver) -> None:
        found = try_values(graph, _kinds(graph)[0])
        lost = "; ".join(f"{name}: {what}" for name, what in found.lost.items())
        assert not lost, f"apply must keep a value with its type or raise QueryError, never change it silently: {lost}"
        plain = {*PLAIN_VALUES, *PLAIN_LISTS}
        for name, error in found.refused.items():
            assert name not in plain, f"every store holds a {name}, but it was refused: {error}"
            check_clean(str(error), f"refusing a {name}")
        if self.refused_values is not None:
            told, refused = set(self.refused_values), set(found.refused)
            assert told <= refused, f"refused_values names {sorted(told - refused)}, which the store does hold"
            assert refused <= told, f"the store refuses {sorted(refused - told)}, which refused_values does not name"

    @pytest.mark.parametrize("feature", list(Feature), ids=lambda feature: feature.name.lower())
    def test_feature_is_as_declared(self, graph: Driver, feature: Feature, caplog: pytest.LogCaptureFixture) -> None:
        given = _in_words(graph, feature)
        with caplog.at_level(logging.WARNING):
            error = graph.refusal(graph.apply, given)
        lines = differences(given, graph.snapshot)
        if feature in graph.backend.features:
            assert error is None, f"features has {feature.name}, but its graph was refused: {error}"
            assert not lines, f"features has {feature.name}, but its graph came back changed: {'; '.join(lines)}"
        elif error is not None:
            check_clean(str(error), f"refusing {feature.value}")
            assert graph.snapshot == EMPTY, "an apply that raises must change nothing"
        else:
            assert lines, f"features lacks {feature.name}, but the store holds it: declare it"
            names = {str(name) for element in given.elements() for name in (element.id, element.properties.get("name"))}
            assert any(name in record.getMessage() for record in caplog.records for name in names), (
                f"features lacks {feature.name}, and apply lost it silently: raise QueryError, or log a warning that"
                f" names the element: {'; '.join(lines)}"
            )

    def test_elements_are_replaced_and_removed(self, graph: Driver) -> None:
        label, (_, type_, _) = _kinds(graph)[0], _links(graph)[0]
        first, second = _node("x-first", label, year=1, old="gone"), _node("x-second", label, year=2)
        edge = Edge("x-edge", type_, "x-first", "x-second")
        graph.change(added=(first, second, edge))
        first = _node("x-first", label, year=3)
        graph.change(changed=(first,))
        lines = differences(GraphSnapshot((first, second), (edge,)), graph.snapshot)
        assert not lines, f"a changed element replaces the one with its id whole, its old properties go: {lines}"
        second = _node("x-second", label, year=4)
        graph.change(added=(second,))
        lines = differences(GraphSnapshot((first, second), (edge,)), graph.snapshot)
        assert not lines, f"an added element with a known id replaces that one and keeps its edges: {lines}"
        turned = Edge("x-edge", type_, "x-second", "x-first")
        graph.change(changed=(turned,))
        lines = differences(GraphSnapshot((first, second), (turned,)), graph.snapshot)
        assert not lines, f"a changed edge may lead elsewhere: {lines}"
        graph.change(removed=("x-second", "never-there"))
        lines = differences(GraphSnapshot((first,)), graph.snapshot)
        assert not lines, f"a removed node takes its edges with it, an unknown id is no error: {lines}"

    def test_same_call_is_applied_once(self, graph: Driver) -> None:
        given = GraphSnapshot((_node("x-first", _kinds(graph)[0]),))
        graph.apply(given, "once")
        graph.empty()
        graph.apply(given, "once")
        assert graph.snapshot == EMPTY, "an apply whose call.id was applied before must change nothing"

    def test_apply_is_all_or_nothing(self, graph: Driver) -> None:
        label, (_, type_, _) = _kinds(graph)[0], _links(graph)[0]
        graph.apply(GraphSnapshot((_node("x-first", label),)))
        before = graph.snapshot
        change = GraphChange(
            added=(_node("x-second", label), Edge("x-edge", type_, "x-second", "never-there")), removed=("x-first",)
        )
        error = graph.refusal(graph.backend.apply, change, graph.call())
        assert error is not None, "an edge to a node that is not there cannot be held: raise QueryError"
        check_clean(str(error), "refusing an edge without its node")
        assert not compare(before, graph.snapshot), "an apply that raises must change nothing: use one transaction"

    def test_brought_ids_are_never_given_again(self, graph: Driver) -> None:
        example = graph.backend.dialect.write_examples[0]
        graph.write(example)
        minted = [node.id for node in graph.snapshot.nodes]
        graph.empty()
        label = _kinds(graph)[0]
        graph.empty()
        brought = [_node(node_id, label, note=f"bystander {number}") for number, node_id in enumerate(minted)]
        brought += [_node(other, label, note="bystander") for node_id in minted for other in _following(node_id)]
        wanted = GraphSnapshot(tuple({node.id: node for node in brought}.values()))
        graph.apply(wanted)
        graph.write(example)
        kept = {node.id: node for node in graph.snapshot.nodes}
        for node in wanted.nodes:
            lines = differences(GraphSnapshot((node,)), GraphSnapshot((kept[node.id],) if node.id in kept else ()))
            assert not lines, f"a write gave an id that apply had brought to another element: {lines}"

    def test_restored_graph_is_the_same_graph(self, open_graph: OpenGraph) -> None:
        first = open_graph("first")
        first.write_examples()
        kept, rows = first.snapshot, all_rows(first)
        first.backend.close()
        second = open_graph("second")
        second.apply(kept)
        lines = differences(kept, second.snapshot, keys=True)
        assert not lines, (
            f"a snapshot that is applied to a new graph must give the same snapshot, keys included: {lines}"
        )
        assert all_rows(second) == rows, (
            "after apply of a snapshot the queries must find what they found in the first graph"
        )
        second.write(second.backend.dialect.write_examples[0])
        assert not faults(second.snapshot), f"a write after apply: {faults(second.snapshot)}"


def _node(node_id: str, label: str, **properties: str | int) -> Node:
    return Node(node_id, (label,), {"name": f"name of {node_id}", **properties})


def _following(node_id: str) -> list[str]:
    """Gives the ids that counting on would give."""
    bare = node_id.rstrip("0123456789")
    number = int(node_id[len(bare) :] or 0)
    return [f"{bare}{number + step}" for step in range(1, 13)]


def _kinds(graph: Driver) -> tuple[str, ...]:
    """Gives labels that the store takes."""
    return tuple(_words(graph).kinds)


def _links(graph: Driver) -> tuple[tuple[str | None, str, str | None], ...]:
    """Gives kinds of edges that the store takes, from and to the first label if there is such a kind."""
    words = _words(graph)
    fitting = [link for link in words.links if link[0] in (None, words.kinds[0]) and link[2] in (None, words.kinds[0])]
    return tuple(fitting or words.links)


def _words(graph: Driver) -> Vocabulary:
    if Feature.FREE_SCHEMA in graph.backend.features:
        return Vocabulary()
    words = vocabulary(graph)
    graph.empty()
    return words


def _in_words(graph: Driver, feature: Feature) -> GraphSnapshot:
    """Gives the feature's graph in labels and types that the store takes, unless these are what is tried."""
    given = FEATURE_GRAPHS[feature]
    if feature is Feature.FREE_SCHEMA or Feature.FREE_SCHEMA in graph.backend.features:
        return given
    kinds, (_, type_, _) = _kinds(graph), _links(graph)[0]
    nodes = [Node(node.id, kinds[: len(node.labels)] or kinds[:1], node.properties) for node in given.nodes]
    edges = [Edge(edge.id, type_, edge.source, edge.target, edge.properties) for edge in given.edges]
    return GraphSnapshot(tuple(nodes), tuple(edges))
