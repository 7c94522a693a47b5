"""What queries give, the same in both sandboxes."""

from __future__ import annotations

import pytest

from kgot_core.errors import QueryError
from kgot_networkx.jail.rows import kg_rows
from kgot_networkx.jail.values import kg_node

SETUP = (
    'G.add_node("Vela", label="Ship", name="Vela", masts=3)\nG.add_node("Orm", label="Port", name="Orm")\n'
    'G.add_node("Sarn", label="Port", name="Sarn")\n'
    'G.add_edge("Vela", "Orm", type="SAILED_TO", year=1871)\nG.add_edge("Vela", "Sarn", type="SAILED_TO", year=1872)'
)


@pytest.fixture
def harbour(graph):
    graph.write(SETUP)
    return graph


@pytest.mark.parametrize(
    ("code", "rows"),
    [
        ('result = [{"a": 1}, {"a": 2}]', [{"a": 1}, {"a": 2}]),
        ('result = {"a": 1, 2: (3, None)}', [{"a": 1, "2": [3, None]}]),
        ("result = [1, 'x', (2, 3)]", [{"result": 1}, {"result": "x"}, {"result": [2, 3]}]),
        ("result = 7", [{"result": 7}]),
        ("result = 0", [{"result": 0}]),
        ("result = False", [{"result": False}]),
        ('result = "Vela"', [{"result": "Vela"}]),
        ("result = None", []),
        ("result = []", []),
        ("result = {}", []),
        ('result = ""', []),
        ("result = set()", []),
        ('result = {"b", "a"}', [{"result": "a"}, {"result": "b"}]),
        ("result = (n for n in [1, 2])", [{"result": 1}, {"result": 2}]),
        ("result = {3: 1}.keys()", [{"result": 3}]),
        ("result = dict(a=1).items()", [{"result": ["a", 1]}]),
        ("result = map(str, [1])", [{"result": "1"}]),
        ("result = range(2)", [{"result": 0}, {"result": 1}]),
        ('result = [float("nan"), float("inf"), 1.5]', [{"result": "nan"}, {"result": "inf"}, {"result": 1.5}]),
        (
            "import datetime\nresult = {'d': datetime.date(2020, 1, 2), 't': [datetime.datetime(2020, 1, 2, 3, 4)]}",
            [{"d": "2020-01-02", "t": ["2020-01-02T03:04:00"]}],
        ),
        ("result = [{1, 2}, {'a': {'b': {3}}}]", [{"result": [1, 2]}, {"a": {"b": [3]}}]),
        ("result = {('a', 1): 2}", [{"a, 1": 2}]),
        ("result = G.nodes", [{"result": "Vela"}, {"result": "Orm"}, {"result": "Sarn"}]),
        ("result = G", [{"nodes": ["Vela", "Orm", "Sarn"], "edges": [["Vela", "Orm"], ["Vela", "Sarn"]]}]),
        ('result = G.nodes["Vela"]', [{"label": "Ship", "name": "Vela", "masts": 3}]),
        ("result = G.edges", [{"result": ["Vela", "Orm", 0]}, {"result": ["Vela", "Sarn", 0]}]),
        ('result = G["Vela"]["Orm"]', [{"0": {"type": "SAILED_TO", "year": 1871}}]),
        (
            'result = G.out_edges("Vela", data="year")',
            [{"result": ["Vela", "Orm", 1871]}, {"result": ["Vela", "Sarn", 1872]}],
        ),
        ('result = list(G.successors("Vela"))', [{"result": "Orm"}, {"result": "Sarn"}]),
        ('result = list(G.predecessors("Orm"))', [{"result": "Vela"}]),
        ('result = list(G.in_edges("Orm", keys=True))', [{"result": ["Vela", "Orm", 0]}]),
        ("result = G.degree", [{"result": ["Vela", 2]}, {"result": ["Orm", 1]}, {"result": ["Sarn", 1]}]),
        (
            'result = (G.degree("Vela"), G.in_degree("Vela"), G.out_degree["Vela"])',
            [{"result": 2}, {"result": 0}, {"result": 2}],
        ),
        (
            "result = (len(G), len(G.nodes), G.number_of_nodes(), G.number_of_edges(), len(G.edges))",
            [{"result": n} for n in (3, 3, 3, 2, 2)],
        ),
        (
            'result = ["Vela" in G, "x" in G.nodes, G.has_node("Orm"), G.has_edge("Orm", "Vela")]',
            [{"result": v} for v in (True, False, True, False)],
        ),
        ('result = [n for n in G if G.nodes[n].get("label") == "Port"]', [{"result": "Orm"}, {"result": "Sarn"}]),
        ('result = dict(G.nodes(data=True))["Orm"]["name"]', [{"result": "Orm"}]),
        ('result = [u for u, v, k, d in G.edges(keys=True, data=True) if d["year"] > 1871]', [{"result": "Vela"}]),
        ('result = G.get_edge_data("Vela", "Orm", 0)["year"]', [{"result": 1871}]),
        ('result = nx.shortest_path(G, "Vela", "Sarn")', [{"result": "Vela"}, {"result": "Sarn"}]),
        ('result = nx.has_path(G, "Orm", "Sarn")', [{"result": False}]),
        ('result = nx.shortest_path_length(nx.Graph(G), "Orm", "Sarn")', [{"result": 2}]),
        (
            'result = sorted(nx.descendants(G, "Vela")) + sorted(nx.ancestors(G, "Orm"))',
            [{"result": n} for n in ("Orm", "Sarn", "Vela")],
        ),
        ("result = len(list(nx.weakly_connected_components(G)))", [{"result": 1}]),
        ('result = list(nx.all_simple_paths(G, "Vela", "Orm"))', [{"result": ["Vela", "Orm"]}]),
        ("result = nx.degree_centrality(G)", [{"Vela": 1.0, "Orm": 0.5, "Sarn": 0.5}]),
        ('result = nx.get_node_attributes(G, "masts")', [{"Vela": 3}]),
        ('result = list(G.subgraph(["Vela", "Orm"]).edges())', [{"result": ["Vela", "Orm"]}]),
    ],
)
def test_rows(harbour, code, rows):
    assert harbour.query(code) == rows


@pytest.mark.parametrize(
    ("code", "rows"),
    [
        ("5 * 6", [{"result": 30}]),
        (
            '[d["name"] for _, d in G.nodes(data=True)\n  if d["label"] == "Port"]',
            [{"result": "Orm"}, {"result": "Sarn"}],
        ),
        ("x = 1; x + 1", [{"result": 2}]),
        ('ships = [n for n, d in G.nodes(data=True) if d["label"] == "Ship"]', [{"result": "Vela"}]),
        ('print("Orm")\nprint("Sarn")', [{"result": "Orm\nSarn"}]),
        ('def find():\n    return ["Vela"]\nfind()', [{"result": "Vela"}]),
        ('result = [1]\nprint("ignored")', [{"result": 1}]),
        ('x = "é"; "é" + x # the last one', [{"result": "éé"}]),
    ],
)
def test_a_script_without_result(harbour, code, rows):
    assert harbour.query(code) == rows


@pytest.mark.parametrize("code", ["for n in G: pass", "", "# nothing", "def f():\n    return 1", "None"])
def test_a_script_that_gives_nothing_is_told_so(harbour, code):
    with pytest.raises(QueryError, match="no result"):
        harbour.query(code)


HARMLESS = (
    "G = nx.DiGraph()\nresult = 1",
    "G = None\nresult = 1",
    'H = G.copy()\nH.remove_node("Vela")\nresult = len(list(H.nodes))',
    'G.add_node("Vela", masts=3)\nG.add_edge("Vela", "Orm", type="SAILED_TO", year=1871)\nresult = 1',
    'result = [n for n in G if n == "G.clear()"]',
)
WRITING = (
    "G.clear()\nresult = len(list(G.nodes))",
    'G.remove_node("Vela")\nresult = 1',
    'G.nodes["Vela"]["masts"] = 9\nG.add_edge("a", "b")\nresult = 1',
    "for n, d in G.nodes(data=True):\n    d.clear()\nresult = 1",
    'for n in G: G.nodes[n]["hit"] = 1\nresult = [{"count": 3}]',
    'old = G\nG = old.copy()\nold.add_node("x")\nresult = 1',
    'G.add_edge("Vela", "Orm", type="NEW")',
)


def unchanged(harbour, before):
    assert harbour.snapshot == before
    assert harbour.query('result = [len(list(G.nodes)), G.nodes["Vela"]["masts"], G.number_of_edges()]') == [
        {"result": 3},
        {"result": 3},
        {"result": 2},
    ]
    # Nor does anything hide in the next write.
    assert not harbour.write('G.add_node("Vela", name="Vela")')
    assert harbour.write('G.add_node("next")').added[0].id


@pytest.mark.parametrize("code", WRITING)
def test_a_query_that_writes_is_refused(harbour, code):  # D15
    before = harbour.snapshot
    with pytest.raises(QueryError, match="may not change the graph"):
        harbour.query(code)
    unchanged(harbour, before)


@pytest.mark.parametrize("code", HARMLESS)
def test_a_query_may_do_what_it_likes_with_copies(harbour, code):
    before = harbour.snapshot
    harbour.query(code)
    unchanged(harbour, before)


def test_values_that_differ_from_themselves_are_no_change(graph):
    graph.write('G.add_node("a", odd=float("nan"), many=[float("nan")])')
    assert graph.query('result = [d["odd"] for n, d in G.nodes(data=True)]') == [{"result": "nan"}]
    assert not graph.write("for n, d in G.nodes(data=True): d.update(d)")


def test_rows_are_cut_and_the_cut_is_said(graph):
    rows = graph.query("result = [{'n': i} for i in range(50)]", rows=5)
    assert rows[:4] == [{"n": 0}, {"n": 1}, {"n": 2}, {"n": 3}]
    assert len(rows) == 5 and "first 4 rows" in rows[4]["note"]
    assert graph.query("result = [1, 2]", rows=1) == [{"result": 1}]
    assert len(graph.query("result = list(range(5))", rows=5)) == 5


def test_a_result_without_end_is_cut_where_generators_are_lazy(full):
    assert len(full.query("import itertools\nresult = (i for i in itertools.count())", rows=3)) == 3


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("result = [list(range(300_000))]", "more than 200,000 values"),
        ("x = []\nx.append(x)\nresult = [x]", "nested more than 20 levels"),
    ],
)
def test_a_result_that_is_too_much_is_told_so(graph, code, said):
    with pytest.raises(QueryError, match=said):
        graph.query(code)


def test_last_line_keeps_its_number_when_it_fails(harbour):
    with pytest.raises(QueryError) as caught:
        harbour.query('x = 1\n\n[n for n in G\n if G.nodes[n]["tonnage"] > 1]')
    assert caught.value.line in (3, 4) and "tonnage" in caught.value.message


def test_measures_that_a_multigraph_lacks_name_the_way_out(full):
    full.write(SETUP)
    with pytest.raises(QueryError, match=r"nx\.Graph\(G\)"):
        full.query("result = nx.clustering(G)")
    assert full.query("result = nx.clustering(nx.Graph(G))") == [{"Vela": 0, "Orm": 0, "Sarn": 0}]


def test_numpy_types_become_plain_values():
    np = pytest.importorskip("numpy")
    rows = kg_rows({"a": np.float64(0.5), "b": np.arange(2), "c": [np.int64(3)]}, None, 9)["rows"]
    assert rows == [{"a": 0.5, "b": [0, 1], "c": [3]}]
    assert kg_rows(np.array([1, 2]), None, 9)["rows"] == [{"result": [1, 2]}]
    assert kg_node(np.int64(7), {"a": np.float32(0.5), "b": np.array([1, 2]), "c": np.bool_(True)}, False) == [
        "7",
        [],
        {"a": 0.5, "b": [1, 2], "c": True},
    ]


def test_what_the_subset_lacks_is_said(subset):
    with pytest.raises(QueryError, match="shortest_path"):
        subset.query("result = nx.pagerank(G)")
    with pytest.raises(QueryError, match=r"networkx|shortest_path"):
        subset.query("from networkx.algorithms import community\nresult = 1")
    with pytest.raises(QueryError, match=r"[Mm]odules"):
        subset.query("import statistics\nresult = 1")


def test_usual_slips_work_in_the_subset_too(subset):
    subset.write(SETUP + '\nimport networkx as nx\ndel G.nodes["Vela"]["masts"]')
    assert subset.nodes["Vela"] == (("Ship",), {})
    assert subset.query(
        'import json, networkx as nx\nx = {"a": 1, "b": 2}\ndel x["a"], x["b"]\nresult = [x, json.dumps(x)]'
    ) == [
        {},
        {"result": "{}"},
    ]
