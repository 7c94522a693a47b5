"""The watched dictionaries: every way to change the graph is found, and costs no more than it changed."""

from __future__ import annotations

import copy
import runpy
from pathlib import Path
from typing import Any

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgot_networkx.jail.full import TaskGraph
from kgot_networkx.reading import read_report

_doubles = runpy.run_path(str(Path(__file__).with_name("doubles.py")))
Double, checked = _doubles["Double"], _doubles["checked"]


def one(statement: str) -> Any:
    code = compile(statement, "change", "exec")

    def change(graph: Any) -> Any:
        names = {"G": graph, "nx": nx, "copy": copy}
        exec(code, names)  # noqa: S102
        return names["G"]

    return change


@pytest.mark.parametrize(
    ("statement", "nodes", "pairs"),
    [
        ("G.add_node('e', x=1)", 1, 0),
        ("G.add_node('a', n=2)", 1, 0),
        ("G.add_nodes_from(['e', ('f', {'x': 1})], label='N')", 2, 0),
        ("G.nodes['a']['n'] = 2", 1, 0),
        ("G.nodes['a'].update(n=2)", 1, 0),
        ("d = G.nodes['a']; d |= {'n': 2}", 1, 0),
        ("del G.nodes['a']['n']", 1, 0),
        ("G.nodes['a'].pop('n')", 1, 0),
        ("G.nodes['a'].popitem()", 1, 0),
        ("G.nodes['a'].clear()", 1, 0),
        ("G.nodes['a'].setdefault('new', []).append(1)", 1, 0),
        ("G.nodes['a']['tags'].append('z')", 1, 0),
        ("G.nodes['a']['tags'] += ['z']", 1, 0),
        ("G.nodes['a']['tags'][0] = 'z'", 1, 0),
        ("del G.nodes['a']['tags'][0]", 1, 0),
        ("G.nodes['a']['tags'].sort(reverse=True)", 1, 0),
        ("dict(G.nodes['a'])['tags'].append('z')", 1, 0),
        ("next(iter(G.nodes(data=True)))[1]['tags'].extend('pq')", 1, 0),
        ("copy.copy(G.nodes['a'])['tags'].remove('x')", 1, 0),
        ("t = G.nodes['a']['tags']; G.nodes['b']['tags'] = t; t.append('z')", 2, 0),
        ("nx.set_node_attributes(G, {'b': {'x': 1}})", 1, 0),
        ("nx.set_node_attributes(G, 5, 'x')", 4, 0),
        ("G.remove_node('a')", 1, 2),
        ("G.remove_nodes_from(['c', 'nowhere'])", 1, 2),
        ("G.remove_node('d'); G.add_node('d', label='Other')", 1, 1),
        ("G.add_edge('a', 'b', type='T', w=9)", 0, 1),
        ("G.add_edge('a', 'b', type='T', w=1)", 0, 1),
        ("G.add_edge('b', 'c', relation='U')", 0, 0),
        ("G.add_edge('a', 'e')", 1, 1),
        ("G.add_edges_from([('a', 'c'), ('c', 'a', {'w': 1}), ('b', 'b', 'K')])", 0, 3),
        ("nx.add_path(G, ['a', 'c', 'e'], type='P')", 2, 2),
        ("G.add_weighted_edges_from([('a', 'd', 0.5)])", 0, 1),
        ("G.edges['a', 'b', 1]['w'] = 7", 0, 1),
        ("G.edges['a', 'b', 'T']['w'] = 7", 0, 1),
        ("G['a']['b'][0].update(w=5)", 0, 1),
        ("G['a']['b'][0]['marks'].append(3)", 0, 1),
        ("G.adj['a']['b'][0].clear()", 0, 1),
        ("G.pred['b']['a'][0]['w'] = 8", 0, 1),
        ("G.succ['a']['b'][1].pop('w')", 0, 1),
        ("for u, v, d in G.edges(data=True): d['seen'] = True", 0, 4),
        ("nx.set_edge_attributes(G, {('a', 'b', 0): {'w': 6}})", 0, 1),
        ("G.remove_edge('a', 'b')", 0, 1),
        ("G.remove_edge('a', 'b', 0)", 0, 1),
        ("G.remove_edge('b', 'c', 'U')", 0, 1),
        ("G.remove_edge('c', 'c')", 0, 1),
        ("G.remove_edges_from([('a', 'b', 0), ('d', 'a')])", 0, 2),
        ("nx.relabel_nodes(G, {'a': 'z'}, copy=False)", 2, 4),
        ("nx.contracted_nodes(G, 'b', 'd', copy=False)", 2, 2),
        ("G.graph['title'] = 'ignored'", 0, 0),
        ("H = G.copy(); H.add_node('e'); H.nodes['a']['n'] = 5", 0, 0),
        ("H = nx.Graph(G); H.add_node('e'); H.remove_node('a')", 0, 0),
        ("list(G.nodes(data=True)), nx.degree_centrality(G), G.reverse(), G.subgraph(['a'])", 0, 0),
    ],
)
def test_each_way_to_change_is_noted_at_its_own_size(statement, nodes, pairs):
    report = checked(one(statement))
    double = Double()
    change = read_report(double.record, report).change
    assert len(report["nodes"]) == nodes
    assert len(report["pairs"]) in (pairs, pairs + 1)
    assert bool(change) == (nodes + pairs > 0)


@pytest.mark.parametrize(
    "statement",
    [
        "G.clear()",
        "G.clear_edges()",
        "G._node['e'] = {}; G._adj['e'] = {}; G._pred['e'] = {}",
        "G._adj['a'].pop('b'); G._pred['b'].pop('a')",
        "G._adj['a']['b'] = {0: {'type': 'NEW'}}; G._pred['b']['a'] = G._adj['a']['b']",
        "G = nx.compose(G, nx.MultiDiGraph([('x', 'a')]))",
        "G = nx.relabel_nodes(G, {'a': 'z'})",
        "G = copy.deepcopy(G); G.nodes['a']['tags'].append('z')",
        "G = nx.MultiDiGraph(G); G.nodes['a']['tags'].append('z'); G.remove_node('b')",
        "G = G.subgraph(['a', 'b']).copy()",
        "G = G.reverse()",
        "G = nx.MultiDiGraph([('a', 'b'), ('a', 'b')])",
    ],
)
def test_unusual_ways_are_found_by_comparing(statement):
    assert read_report(Double().record, checked(one(statement))).change


@pytest.mark.parametrize(
    "statement",
    [
        "list.append(G.nodes['a']['tags'], 'z')",
        "dict.update(G.nodes['a'], n=7)",
        "import heapq; heapq.heappush(G.nodes['a']['tags'], 'a')",
    ],
)
def test_ways_that_pass_the_dictionaries_by_are_found_when_all_is_compared(statement):
    from kgot_networkx.script import prepare

    assert prepare(statement, limit=1000, query=False, subset=False).unusual
    double = Double()
    one(statement)(double.bench.graph)
    assert not double.bench.marks
    assert len(read_report(double.record, double.bench.report(double.bench.graph, True)).change.changed) == 1


def test_a_graph_without_parallel_edges_may_take_its_place():
    double = Double()
    graph = nx.DiGraph(double.bench.graph)
    graph.add_edge("d", "b", type="NEW")
    step = read_report(double.record, double.bench.report(graph, False))
    assert [getattr(element, "type", "") for element in step.change.added] == ["NEW"]
    assert len(step.change.removed) == 1


NAMES = st.sampled_from(["a", "b", "c", "d", "e", "f"])
VALUES = st.one_of(
    st.integers(-2, 2), st.text(max_size=3), st.none(), st.booleans(), st.lists(st.integers(0, 3), max_size=3)
)
DATA = st.dictionaries(st.sampled_from(["name", "n", "tags", "type", "w"]), VALUES, max_size=3).map(
    lambda data: {key: str(value) if key == "type" else value for key, value in data.items()}
)


def add_node(graph: Any, node: str, _: str, data: Any) -> None:
    graph.add_node(node, **data)


def add_edge(graph: Any, node: str, other: str, data: Any) -> None:
    graph.add_edge(node, other, **data)


def add_keyed(graph: Any, node: str, other: str, data: Any) -> None:
    graph.add_edge(node, other, str(data.get("n")), **data)


def remove_node(graph: Any, node: str, other: str, data: Any) -> None:
    graph.remove_nodes_from([node])


def remove_edge(graph: Any, node: str, other: str, data: Any) -> None:
    graph.remove_edges_from([(node, other)])


def change_node(graph: Any, node: str, other: str, data: Any) -> None:
    if node in graph:
        graph.nodes[node].update(data)
        for value in graph.nodes[node].values():
            if isinstance(value, list):
                value.append(1)


def change_edges(graph: Any, node: str, other: str, data: Any) -> None:
    for _, _, attributes in graph.edges(node if node in graph else None, data=True):
        attributes |= data


def relabel(graph: Any, node: str, other: str, data: Any) -> None:
    if node in graph and node != other and other not in graph:
        nx.relabel_nodes(graph, {node: other}, copy=False)


def forget(graph: Any, node: str, other: str, data: Any) -> None:
    if node in graph and graph.nodes[node]:
        graph.nodes[node].popitem()


STEPS = st.lists(
    st.tuples(
        st.sampled_from(
            [add_node, add_edge, add_keyed, remove_node, remove_edge, change_node, change_edges, relabel, forget]
        ),
        NAMES,
        NAMES,
        DATA,
    ),
    max_size=12,
)


@settings(max_examples=150, deadline=None)
@given(STEPS)
def test_random_changes_are_noted_as_a_full_comparison_finds_them(steps):
    def change(graph: Any) -> None:
        for function, node, other, data in steps:
            function(graph, node, other, copy.deepcopy(data))

    checked(change)


@settings(max_examples=60, deadline=None)
@given(STEPS)
def test_edges_are_those_of_an_ordinary_multigraph(steps):
    ours, plain = TaskGraph(), nx.MultiDiGraph()
    for function, node, other, data in steps:
        for graph in (ours, plain):
            function(graph, node, other, copy.deepcopy(data))
    assert list(ours.nodes(data=True)) == list(plain.nodes(data=True))
    assert list(ours.edges(keys=True, data=True)) == list(plain.edges(keys=True, data=True))


def test_a_failed_commit_leaves_a_state_that_no_job_accepts():
    double = Double()
    with pytest.raises(KeyError):
        double.bench.commit({"nodes": [["new", [], {}]]}, 2)
    with pytest.raises(RuntimeError, match="another state"):
        double.bench.begin(1)
