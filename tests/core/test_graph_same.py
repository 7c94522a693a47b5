"""Two graphs are the same up to identifiers, or what differs is said."""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgot_core.graph.elements import Edge, GraphSnapshot, Node
from kgot_core.graph.same import same_graph, unlike
from kgot_core.graph.values import LangText
from kgot_core.testing.graphs import RARE_LISTS, RARE_VALUES, Vocabulary, make_graph

WORDS = Vocabulary(values={**RARE_VALUES, **RARE_LISTS})


def renamed(graph: GraphSnapshot, chance: random.Random) -> GraphSnapshot:
    """Gives a graph other ids and another order."""
    names = [node.id for node in graph.nodes]
    chance.shuffle(names)
    ids = {node.id: f"x{names.index(node.id)}" for node in graph.nodes}
    nodes = [Node(ids[node.id], node.labels[::-1], dict(reversed(node.properties.items()))) for node in graph.nodes]
    edges = [
        Edge(f"y{chance.random()}", edge.type, ids[edge.source], ids[edge.target], edge.properties)
        for edge in graph.edges
    ]
    chance.shuffle(nodes)
    chance.shuffle(edges)
    return GraphSnapshot(tuple(nodes), tuple(edges))


def bare(*pairs: str, count: int) -> GraphSnapshot:
    """Gives a graph of equal nodes and equal edges."""
    edges = tuple(Edge(f"e{number}", "T", pair[0], pair[1]) for number, pair in enumerate(pairs))
    return GraphSnapshot(tuple(Node(letter) for letter in "abcdefgh"[:count]), edges)


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 10_000), st.randoms(use_true_random=False))
def test_other_ids_and_another_order_make_no_other_graph(seed, chance):
    graph = make_graph(seed, WORDS)
    assert unlike(graph, renamed(graph, chance)) == []


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=9), st.randoms(use_true_random=False))
def test_equal_nodes_are_told_apart_by_how_they_are_joined(pairs, chance):
    graph = bare(*("abcdef"[first] + "abcdef"[second] for first, second in pairs), count=6)
    assert same_graph(graph, renamed(graph, chance))


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (bare("ab", "bc", "ca", "de", "ef", "fd", count=6), bare("ab", "bc", "cd", "de", "ef", "fa", count=6)),
        (bare("ab", "ba", "cd", "dc", count=4), bare("ab", "bc", "cd", "da", count=4)),
        (bare("ab", "cb", count=4), bare("ab", "bc", count=4)),
        (bare("aa", "bc", count=3), bare("ab", "ca", count=3)),
    ],
)
def test_what_only_the_whole_shows_is_seen(first, second):
    (line,) = unlike(first, second)
    assert line == "both graphs have the same nodes and edges, joined in other ways"


def test_a_thousand_equal_leaves_are_no_puzzle():
    nodes = tuple(Node(str(number)) for number in range(1_001))
    edges = tuple(Edge(f"e{number}", "T", str(number), "0") for number in range(1, 1_001))
    assert same_graph(GraphSnapshot(nodes, edges), renamed(GraphSnapshot(nodes, edges), random.Random(1)))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (Node("a", ("Hill",)), Node("a", ("Hill", "Peak"))),
        (Node("a", (), {"x": 1}), Node("a", (), {"x": 1.0})),
        (Node("a", (), {"x": 1}), Node("a", (), {"x": True})),
        (Node("a", (), {"x": ("a", "b")}), Node("a", (), {"x": ("b", "a")})),
        (Node("a", (), {"x": ("a",)}), Node("a", (), {"x": "a"})),
        (Node("a", (), {"x": ""}), Node("a")),
        (Node("a", inferred=True), Node("a")),
    ],
)
def test_what_differs_is_named(one, other):
    lines = unlike(GraphSnapshot((one,)), GraphSnapshot((other,)))
    assert [line.split(" graph has node")[0] for line in lines] == ["only the first", "only the second"]


def test_edges_that_differ_are_named_with_both_ends():
    nodes = (Node("a", (), {"name": "Alderkop"}), Node("b", (), {"name": "Birkfell"}))
    lines = unlike(GraphSnapshot(nodes, (Edge("e", "NEAR", "a", "b"),)), GraphSnapshot(nodes))
    assert len(lines) == 1 and "Alderkop" in lines[0] and "Birkfell" in lines[0] and "NEAR" in lines[0]


def test_equal_values_are_equal_and_keys_count_on_request():
    first = GraphSnapshot((Node("a", (), {"x": math.nan, "y": LangText("chat", "fr-CA")}, ":chat"),))
    second = GraphSnapshot((Node("b", (), {"y": LangText("chat", "fr-ca"), "x": -math.nan}, "<urn:chat>"),))
    assert same_graph(first, second)
    assert len(unlike(first, second, keys=True)) == 2
