"""What writing scripts do to the graph, the same in both sandboxes."""

from __future__ import annotations

import pytest

from kgot_core.errors import QueryError, Refused, StoreUnavailable
from kgot_core.graph.elements import Edge, Node
from kgot_core.graph.fold import TaskGraph


def test_nodes_edges_and_their_ids(graph):
    change = graph.write(
        'G.add_node("Vela", label="Ship", name="Vela", masts=3)\n'
        'G.add_node("Orm", labels=["Port", "Town"], name="Orm")\n'
        'G.add_edge("Vela", "Orm", type="SAILED_TO", year=1871)'
    )
    first, second, edge = change.added
    assert isinstance(first, Node) and (first.labels, first.key) == (("Ship",), "Vela")
    assert first.properties == {"name": "Vela", "masts": 3}
    assert isinstance(second, Node) and second.labels == ("Port", "Town")
    assert isinstance(edge, Edge) and (edge.type, edge.properties) == ("SAILED_TO", {"year": 1871})
    assert (edge.source, edge.target) == (first.id, second.id)
    assert first.id.startswith("n") and edge.id.startswith("e")


def test_ids_stay_and_only_the_change_is_told(graph):
    added = graph.write('for name in ("a", "b", "c"):\n    G.add_node(name, label="Letter", name=name)').added
    change = graph.write('G.add_node("b", colour="red")\nG.remove_node("c")')
    assert [node.id for node in change.changed] == [added[1].id]
    assert change.changed[0].properties == {"name": "b", "colour": "red"}
    assert change.removed == (added[2].id,) and not change.added
    assert graph.write('G.add_node("c", label="Letter")').added[0].id not in {node.id for node in added}


def test_folding_the_changes_gives_the_snapshot(graph):
    told = TaskGraph()
    for code in (
        'G.add_edge("a", "b", type="T", w=1)\nG.add_edge("a", "b", type="T", w=2)\nG.add_edge("b", "b", type="LOOP")',
        'G.remove_edge("a", "b", 0)\nG.add_node("a", x=[1, 2])',
        'G.remove_node("b")\nG.add_edge("c", "a", "KEYED")',
    ):
        told.apply(graph.write(code))
    assert told.snapshot() == graph.snapshot


def test_a_write_with_a_known_id_is_not_run_again(graph):
    call = graph.call()
    first = graph.backend.write('G.add_node("once", n=1)', call)
    assert graph.backend.write('G.add_node("once", n=2)', call) == first
    assert graph.nodes == {"once": ((), {"n": 1})}


def test_a_read_only_graph_refuses_writes_and_is_filled_by_apply(open_graph):
    graph = open_graph("monty", "read_only")
    graph.apply(Node("x", ("Ship",), {"name": "Vela"}))
    with pytest.raises(Refused):
        graph.write('G.add_node("a")')
    assert graph.query("result = list(G.nodes)") == [{"result": "Vela"}]


def test_two_graphs_do_not_see_each_other(graph, open_graph):
    other = open_graph(graph.sandbox)
    graph.write('G.add_node("a", n=1)')
    other.write('G.add_node("b", n=1)')
    assert (list(graph.nodes), list(other.nodes)) == (["a"], ["b"])
    assert other.query("result = list(G.nodes)") == [{"result": "b"}]


def test_a_closed_graph_says_so(open_graph):
    graph = open_graph("bwrap")
    graph.backend.close()
    graph.backend.close()
    with pytest.raises(StoreUnavailable):
        graph.write('G.add_node("a")')


def test_parallel_edges_are_kept(graph):
    graph.write(
        'G.add_edge("a", "b", type="WON", year=1999)\nG.add_edge("a", "b", type="WON", year=2005)\n'
        'G.add_edge("a", "b", type="LOST", year=1999)\nG.add_edge("b", "a", type="WON", year=1999)\n'
        'G.add_edge("a", "a", type="IS")\n'
        'G.add_edge("a", "b", type="PAID")\nG.add_edge("a", "b", type="PAID")'
    )
    assert len(graph.edges) == 7
    assert graph.query('result = [{"edges": G.number_of_edges("a", "b")}]') == [{"edges": 5}]


def test_an_edge_that_is_stated_again_is_not_doubled(graph):
    code = 'G.add_edge("a", "b", type="PAID", sum=3)\nG.add_edge("a", "b", type="PAID", sum=3)'
    graph.write(code)
    assert not graph.write(code)
    assert not graph.write('G.add_edges_from([("a", "b", {"relation": "PAID", "sum": 3})])')
    graph.write(code + "\n" + 'G.add_edge("a", "b", type="PAID", sum=3)')
    assert len(graph.edges) == 3


def test_an_edge_is_found_by_its_type(graph):
    graph.write('G.add_edge("a", "b", type="KNOWS", since=1)\nG.add_edge("a", "b", type="LIKES")')
    graph.write('G.edges["a", "b", "KNOWS"]["since"] = 2\nG["a"]["b"]["LIKES"]["much"] = True')
    assert graph.edges == [("a", "KNOWS", "b", {"since": 2}), ("a", "LIKES", "b", {"much": True})]
    graph.write('assert G.has_edge("a", "b", "LIKES")\nG.add_edge("a", "b", "KNOWS", since=3)')
    graph.write('G.remove_edge("a", "b", "LIKES")')
    assert graph.edges == [("a", "KNOWS", "b", {"since": 3})]


def test_boilerplate_does_not_wipe_the_graph(graph):
    graph.write('G.add_node("kept", n=1)')
    change = graph.write(
        'import networkx as nx\nG = nx.DiGraph()  # new\nG.add_node("added", n=2)\nG.add_edge("kept", "added")'
    )
    assert not change.removed and list(graph.nodes) == ["kept", "added"]
    with pytest.raises(QueryError, match="would drop the whole graph"):
        graph.write('def build():\n    H = nx.MultiDiGraph()\n    H.add_node("x")\n    return H\nG = build()')
    with pytest.raises(QueryError, match="G must stay"):
        graph.write("G = nx.Graph(G)")
    with pytest.raises(QueryError, match="G must stay"):
        graph.write("G = 5")
    assert list(graph.nodes) == ["kept", "added"]
    graph.write("G.clear()")
    assert graph.nodes == {}


def test_a_script_that_writes_into_a_graph_of_its_own_is_told_so(graph):
    with pytest.raises(QueryError, match="wrote into kg"):
        graph.write('import networkx as nx\nkg = nx.DiGraph()\nkg.add_node("lost", n=1)')
    assert graph.write('kg = nx.DiGraph()\nkg.add_node("a")\nG.add_node("kept", n=1)').size == 1


def test_a_new_g_that_was_made_from_the_old_one(graph):
    graph.write('G.add_edge("a", "b", type="T", n=1)\nG.add_node("c", tags=[1])')
    first = graph.snapshot
    change = graph.write(
        'H = G.copy()\nH.add_edge("b", "d", type="T")\nH.remove_node("c")\nH.nodes["a"]["x"] = 1\nG = H'
    )
    assert [getattr(element, "key", "edge") for element in change.added] == ["d", "edge"]
    assert [node.key for node in change.changed] == ["a"]
    assert change.removed == (first.nodes[2].id,)
    assert graph.edges == [("a", "T", "b", {"n": 1}), ("b", "T", "d", {})]


def test_functions_comprehensions_recursion_and_imports(graph):  # D24
    graph.write(
        "import re, json, math\nfrom collections import Counter\n"
        "base = 2\ndef f(n): return 1 if n == 0 else base * f(n - 1)\n"
        'def put(name, **properties):\n    for part in re.split("[,.]", name):\n'
        '        G.add_node(part, label="P", **properties)\n'
        'put("x,y.z", power=f(5), root=math.sqrt(4))\n'
        '[G.add_edge(a, b, type="NEXT") for a, b in [("x", "y"), ("y", "z")]]\n'
        'G.nodes["x"]["counts"] = [f"{k}{v}" for k, v in sorted(Counter("abb").items())]'
    )
    assert graph.nodes["x"][1] == {"power": 32, "root": 2.0, "counts": ("a1", "b2")}
    assert [edge[:3] for edge in graph.edges] == [("x", "NEXT", "y"), ("y", "NEXT", "z")]


def test_a_chain_that_comes_again_adds_nothing(graph):  # D14
    code = (
        'G.add_node("Porto", label="City")\nG.add_node("Portugal", label="Country")\n'
        'G.add_edge("Porto", "Portugal", type="IN")'
    )
    assert graph.write(code).size == 3
    assert not graph.write(code)
    assert (len(graph.nodes), len(graph.edges)) == (2, 1)


def test_a_failed_write_changes_nothing(graph):
    graph.write('G.add_node("a", tags=["x"], n=1)\nG.add_edge("a", "b", type="T")')
    before = graph.snapshot
    for code in (
        'G.add_node("c")\nG.nodes["a"]["tags"].append("y")\n1 / 0',
        'G.clear()\nraise ValueError("no")',
        'G.remove_node("a")\nG.nodes["a"]["n"] = 2',
        'G.add_node("c", n=1)\nG.add_edge("a", "b", bad={1: object})'
        if graph.sandbox == "bwrap"
        else "G.clear()\nx = y",
    ):
        with pytest.raises(QueryError):
            graph.write(code)
        assert graph.snapshot == before
    assert graph.query('result = G.nodes["a"]["tags"]') == [{"result": "x"}]
    assert graph.write('G.add_node("c", n=1)').size == 1


def test_the_error_names_line_and_cause(graph):
    with pytest.raises(QueryError) as caught:
        graph.write('x = 1\n\nG.add_node("a", year=int("MCM"))')
    assert caught.value.line == 3 and "ValueError" in caught.value.message
    with pytest.raises(QueryError) as caught:
        graph.write("x = 1\ny = (2,\n")
    assert caught.value.line == 2 and caught.value.column and "SyntaxError" in caught.value.message


def test_chains_that_say_nothing_change_nothing(graph):
    for code in ("", "# nothing to write", "x = 1", 'print("hello")', '"""G.add_node(1)"""'):
        assert not graph.write(code)
    assert graph.nodes == {}
