"""Which element of a graph is which in a later state of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from kgot_core.graph.elements import Edge, GraphSnapshot, Node
from kgot_core.graph.nearest import nearest

NODES = st.lists(
    st.builds(
        lambda label, name, n: Node("", (label,), {"name": name, "n": n}),
        st.sampled_from("LM"),
        st.sampled_from("abc"),
        st.integers(0, 1),
    ),
    max_size=6,
)
LINKS = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5), st.sampled_from("TU"), st.integers(0, 1)), max_size=8)


def graph(nodes: Sequence[Node], links: Sequence[Any], letter: str, turned: bool = False) -> GraphSnapshot:
    """Numbers nodes and edges, from the front or from the end."""
    names = [f"{letter}n{number}" for number in range(len(nodes))]
    made = [replace(node, id=name) for node, name in zip(nodes, names, strict=True)]
    edges = [
        Edge(f"{letter}e{number}", kind, names[source % len(names)], names[target % len(names)], {"n": n})
        for number, (source, target, kind, n) in enumerate(links if names else ())
    ]
    return GraphSnapshot(tuple(made[::-1] if turned else made), tuple(edges[::-1] if turned else edges))


@settings(max_examples=150, deadline=None)
@given(NODES, LINKS, NODES)
def test_what_stayed_is_found_with_equal_content_and_once_only(nodes, links, more):
    first, later = graph(nodes, links, "f"), graph([*nodes, *more], (), "l", turned=True)
    later = GraphSnapshot(later.nodes, graph(nodes, links, "l", turned=True).edges)
    found = nearest(first, later)
    assert len(set(found.values())) == len(found)
    mine = {node.id: node for node in first.nodes}
    other = {node.id: node for node in later.nodes}
    assert {found[name] for name in found if name in other} == set(mine)
    for name, partner in found.items():
        if name in other:
            assert (other[name].labels, other[name].properties["name"]) == (
                mine[partner].labels,
                mine[partner].properties["name"],
            )


def test_changed_elements_are_known_by_key_name_and_ends():
    first = GraphSnapshot(
        (
            Node("a", ("Hill",), {"name": "Alderkop", "height_m": 700}),
            Node("b", ("Hill",), {"name": "Birkfell"}),
            Node("c", ("Hill",), {"height_m": 1}, key=":Cairnmoor"),
            Node("d", (), {}),
        ),
        (Edge("e", "HIGHER_THAN", "a", "b", {"by": 1}), Edge("f", "NEAR", "b", "c"), Edge("g", "NEAR", "d", "c")),
    )
    later = GraphSnapshot(
        (
            Node("5", ("Peak",), {"height_m": 2}, key=":Cairnmoor"),
            Node("4", ("Hill",), {"name": "Dunmere"}),
            Node("3", ("Hill",), {"name": "Birkfell", "height_m": 450}),
            Node("2", ("Hill",), {"name": "Alderkop", "height_m": 701}),
        ),
        (Edge("9", "HIGHER_THAN", "2", "3", {"by": 251}), Edge("8", "NEAR", "3", "4"), Edge("7", "NEAR", "3", "5")),
    )
    assert nearest(first, later) == {"5": "c", "3": "b", "2": "a", "9": "e", "7": "f"}


def test_equal_nodes_are_told_apart_by_their_edges():
    twins = tuple(Node(name, ("T",), {}) for name in "ab")
    first = GraphSnapshot((*twins, Node("c", ("C",), {})), (Edge("e", "OF", "b", "c"),))
    later = GraphSnapshot(
        (Node("3", ("C",), {}), *(Node(name, ("T",), {}) for name in "12")),
        (Edge("9", "OF", "1", "3"),),
    )
    assert nearest(first, later) == {"3": "c", "1": "b", "2": "a", "9": "e"}
