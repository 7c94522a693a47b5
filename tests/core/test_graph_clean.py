"""Duplicates in a graph are merged, and nothing that is said is lost."""

from __future__ import annotations

import itertools
from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st

from kgot_core.graph.clean import Merged, merge_duplicates, node_name
from kgot_core.graph.elements import Edge, GraphChange, Node
from kgot_core.graph.fold import TaskGraph

NAMES = ["System Admin", "system admin", "System  Admin ", "Auditor", "auditor.", "Clerk"]
facts = st.dictionaries(st.sampled_from(["level", "site"]), st.integers(0, 1), max_size=2)
nodes = st.lists(st.tuples(st.sampled_from(["Role", "Course"]), st.sampled_from(NAMES), facts), max_size=9)
edges = st.lists(
    st.tuples(st.integers(0, 8), st.integers(0, 8), st.sampled_from(["HAS", "has", "NEEDS"]), facts), max_size=9
)


def ids() -> Callable[[str], str]:
    numbers = itertools.count(1)
    return lambda kind: f"f{kind}{next(numbers)}"


def graph_of(
    named: list[tuple[str, str, dict[str, int]]], joined: list[tuple[int, int, str, dict[str, int]]]
) -> TaskGraph:
    made = [Node(f"n{place}", (label,), {"name": name, **more}) for place, (label, name, more) in enumerate(named)]
    ends = [(source % len(made), target % len(made), kind, more) for source, target, kind, more in joined if made]
    links = [Edge(f"e{place}", kind, f"n{one}", f"n{two}", more) for place, (one, two, kind, more) in enumerate(ends)]
    graph = TaskGraph()
    graph.apply(GraphChange(added=(*made, *links)))
    return graph


def merged(graph: TaskGraph) -> tuple[TaskGraph, Merged]:
    found = merge_duplicates(graph, ids())
    after = TaskGraph(graph.snapshot())
    after.apply(found.change)
    return after, found


def said(graph: TaskGraph) -> set[tuple[str, str, str, str]]:
    """All that nodes and edges say, without regard to spelling."""
    names = {node.id: f"{node.labels[0]} {node_name(node)}" for node in graph.nodes}
    of_nodes = {
        (names[node.id], "node", key, str(value))
        for node in graph.nodes
        for key, value in node.properties.items()
        if key != "name"
    }
    of_edges = {(names[edge.source], edge.type.casefold(), names[edge.target], "") for edge in graph.edges}
    return of_nodes | of_edges | {(name, "", "", "") for name in names.values()}


@given(nodes, edges)
def test_merging_loses_nothing_and_is_done_once(
    named: list[tuple[str, str, dict[str, int]]], joined: list[tuple[int, int, str, dict[str, int]]]
) -> None:
    graph = graph_of(named, joined)
    after, found = merged(graph)
    assert said(after) == said(graph)
    assert all(edge.source in {node.id for node in after.nodes} for edge in after.edges)
    assert set(found.change.removed) == set(found.reasons) and len(after) <= len(graph)
    assert not merged(after)[1].change


def test_spellings_of_one_role_become_one_and_the_course_of_that_name_stays_apart() -> None:
    named = [
        ("Role", "System Admin", {"level": 2}),
        ("Role", "system admin", {}),
        ("Role", "System  Admin ", {"site": 4}),
        ("Course", "System Admin", {}),
        ("Person", "Nora Vale", {}),
    ]
    graph = graph_of(named, [(4, 1, "HAS", {}), (4, 0, "HAS", {}), (4, 3, "TAKES", {})])
    after, found = merged(graph)
    assert [(node.labels[0], node.properties["name"]) for node in after.nodes] == [
        ("Role", "System Admin"),
        ("Course", "System Admin"),
        ("Person", "Nora Vale"),
    ]
    assert after.nodes[0].properties == {"name": "System Admin", "level": 2, "site": 4}
    assert sorted((edge.type, edge.target) for edge in after.edges) == [("HAS", "n0"), ("TAKES", "n3")]
    assert found.reasons["n1"] == found.reasons["n2"] == "it says the same as an older node"


def test_nodes_whose_values_contradict_stay_apart() -> None:
    graph = graph_of([("Lake", "Veder", {"depth": 61}), ("Lake", "veder", {"depth": 60})], [])
    assert not merge_duplicates(graph, ids()).change


def test_what_is_alike_is_merged_where_that_is_told() -> None:
    graph = graph_of(
        [("Quote", "to lay the ghosts", {}), ("Quote", "to lay a ghosts", {}), ("Quote", "a third", {})], []
    )
    found = merge_duplicates(
        graph, ids(), lambda one, other: "ghosts" in str(one.properties) and "ghosts" in str(other.properties)
    )
    assert found.change.removed == ("n1",) and found.reasons == {"n1": "it says nearly the same as an older node"}


def test_what_the_store_inferred_is_left_alone() -> None:
    graph = TaskGraph()
    graph.apply(
        GraphChange(added=(Node("n1", ("Lake",), {"name": "A"}), Node("n2", ("Lake",), {"name": "a"}, inferred=True)))
    )
    assert not merge_duplicates(graph, ids()).change
