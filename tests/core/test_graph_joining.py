"""A whole graph taken into another one."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgot_core.graph.elements import Edge, GraphSnapshot, Node
from kgot_core.graph.fold import TaskGraph
from kgot_core.graph.joining import join
from kgot_core.graph.soundness import faults
from kgot_core.testing.graphs import Vocabulary, differences, make_graph


def numbers() -> Callable[[str], str]:
    counter = itertools.count(1)
    # As the ids of the graphs themselves, so that they meet.
    return lambda kind: f"{kind}{next(counter)}"


def joined(given: GraphSnapshot, graph: GraphSnapshot) -> TaskGraph:
    state = TaskGraph(graph)
    state.apply(join(given, state, numbers()))
    return state


THERE = GraphSnapshot(
    (
        Node("n1", ("City",), {"name": "Porto", "people": 231_000}),
        Node("n2", ("River",), {"name": "Douro"}, key="http://kg.example/Douro"),
        Node("n3", ("Film",), {"name": "Porto"}),
    ),
    (Edge("e1", "LIES_ON", "n1", "n2", {"bank": "north"}),),
)


def test_what_both_hold_becomes_one_and_given_values_hold() -> None:
    given = GraphSnapshot(
        (Node("x", ("City", "Port"), {"name": " PORTO", "people": 232_000, "founded": -275}),),
    )
    state = joined(given, THERE)
    assert len(state.nodes) == 3
    porto = state.node("n1")
    assert porto is not None and porto.labels == ("City", "Port")
    assert (porto.properties["people"], porto.properties["founded"]) == (232_000, -275)


def test_a_key_counts_before_a_name() -> None:
    named = Node("a", ("River",), {"name": "Douro"})
    keyed = Node("b", ("River",), {"length_km": 897}, key="http://kg.example/Douro")
    state = joined(GraphSnapshot((named, keyed)), THERE)
    douro = state.node("n2")
    assert douro is not None and douro.properties == {"name": "Douro", "length_km": 897}
    assert state.node("a") == named


def test_things_of_another_kind_stay_apart_and_ids_that_meet_are_given_anew() -> None:
    given = GraphSnapshot(
        (Node("n1", ("Wine",), {"name": "Porto"}), Node("n9", ("City",), {"name": "Porto"})),
        (Edge("e1", "COMES_FROM", "n1", "n9"), Edge("e2", "LIES_ON", "n9", "n1", {"bank": "north"})),
    )
    state = joined(given, THERE)
    assert len(state.nodes) == 4 and len(state.edges) == 3 and not faults(state.snapshot())
    (wine,) = (node for node in state.nodes if node.labels == ("Wine",))
    assert {(edge.type, edge.source, edge.target) for edge in state.edges} == {
        ("LIES_ON", "n1", "n2"),
        ("COMES_FROM", wine.id, "n1"),
        ("LIES_ON", "n1", wine.id),
    }


def test_two_given_things_never_become_one() -> None:
    twins = GraphSnapshot(tuple(Node(name, ("City",), {"name": "Porto"}) for name in ("a", "b")))
    assert len(joined(twins, THERE).nodes) == 4


@pytest.mark.parametrize("properties", [{}, {"note": "x"}])
def test_nameless_things_are_known_by_all_they_hold(properties: dict[str, str]) -> None:
    graph = GraphSnapshot((Node("n1", ("Event",), properties),))
    assert len(joined(GraphSnapshot((Node("m", ("Event",), properties),)), graph).nodes) == 1
    assert len(joined(GraphSnapshot((Node("m", ("Event",), {"note": "y"}),)), graph).nodes) == 2


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000), st.integers(0, 10_000))
def test_any_graph_taken_into_any_other(first: int, second: int) -> None:
    one, two = make_graph(first, Vocabulary()), make_graph(second, Vocabulary())
    assert not differences(joined(one, GraphSnapshot()).snapshot(), one)
    state = joined(one, two)
    assert not faults(state.snapshot())
    assert {node.id for node in two.nodes} <= {node.id for node in state.nodes}
    assert len(state.nodes) >= max(len(one.nodes), len(two.nodes))
    before = len(state)
    state.apply(change := join(one, state, numbers()))
    assert len(state) == before and not change.added, "what was taken in is not taken in again"
