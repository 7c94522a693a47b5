"""What becomes of labels, types, keys and values that scripts write, the same in both sandboxes."""

from __future__ import annotations

import datetime
import math

import pytest

from kgot_core.errors import QueryError


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ('G.add_edge("a", "b", type="T1")', "T1"),
        ('G.add_edge("a", "b", label="T2")', "T2"),
        ('G.add_edge("a", "b", relation="T3")', "T3"),
        ('G.add_edge("a", "b", relationship="T4")', "T4"),
        ('G.add_edge("a", "b", "T5")', "T5"),
        ('G.add_edge("a", "b", key="T6", year=1)', "T6"),
        ('G.add_edges_from([("a", "b", {"type": "T7"})])', "T7"),
        ('G.add_edges_from([("a", "b", "T8")])', "T8"),
        ('G.add_edges_from([("a", "b", "k", {"label": "T9"})])', "T9"),
        ('G.add_edge("a", "b")', "RELATED_TO"),
        ('G.add_edge("a", "b", type="")', "RELATED_TO"),
        ('G.add_edge("a", "b", type=7)', "7"),
        ('G.add_edge("a", "b", type=" has part ")', "has part"),
    ],
)
def test_the_type_of_an_edge(graph, code, kind):
    graph.write(code)
    assert [edge.type for edge in graph.snapshot.edges] == [kind]
    assert graph.query('result = [d["type"] for a, b, d in G.edges(data=True)]') == [{"result": kind}]


def test_a_type_besides_a_label_leaves_the_label_a_property(graph):
    graph.write('G.add_edge("a", "b", type="T", label="seen", relation="odd")')
    assert graph.edges == [("a", "T", "b", {"label": "seen", "relation": "odd"})]


@pytest.mark.parametrize(
    "form", ['label="X"', 'labels=["X"]', 'label=["X"]', 'label=" X "', 'label="X", labels=("X",)']
)
def test_one_label_in_any_form(graph, form):
    graph.write(f'G.add_node("a", {form}, name="a")')
    assert graph.nodes == {"a": (("X",), {})}
    assert graph.query('result = [d.get("label") for n, d in G.nodes(data=True)]') == [{"result": "X"}]


def test_several_labels_are_read_back(graph):
    graph.write('G.add_node("a", label="X", labels=["Y", "Z"], name="a")')
    assert graph.nodes["a"][0] == ("X", "Y", "Z")
    assert graph.query('result = G.nodes["a"]') == [{"label": "X", "labels": ["X", "Y", "Z"], "name": "a"}]
    assert not graph.write('G.add_node("a", label="X")')


def test_values_of_every_kind(graph):
    graph.write(
        "import datetime\n"
        'G.add_node("a", day=datetime.date(2021, 3, 4), moment=datetime.datetime(2021, 3, 4, 5, 6, 7),\n'
        '    tags={"x", "b"}, pair=(1, "two"), empty=[], nothing=None, yes=True, odd=float("nan"), big=2**80,\n'
        '    below=float("-inf"), text="", span=datetime.timedelta(hours=1), nested={"city": {"zip": 7}, "at": None})'
    )
    properties = graph.nodes["a"][1]
    assert math.isnan(properties.pop("odd"))
    assert properties == {
        "day": datetime.date(2021, 3, 4),
        "moment": datetime.datetime(2021, 3, 4, 5, 6, 7),
        "tags": ("b", "x"),
        "pair": (1, "two"),
        "empty": (),
        "yes": True,
        "big": 2**80,
        "below": -math.inf,
        "text": "",
        "span": "PT3600S",
        "nested.city.zip": 7,
    }
    assert not graph.write('for n, d in G.nodes(data=True):\n    d["big"] = d["big"]')
    # What is read back can be calculated with.
    assert graph.query('result = (G.nodes["a"]["day"].year, G.nodes["a"]["odd"] != G.nodes["a"]["odd"])') == [
        {"result": 2021},
        {"result": True},
    ]


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("object()", "an object"),
        ("lambda x: x", "function"),
        ("[[1]]", "a list with a list"),
        ("[None]", "None"),
        ("b'x'", "bytes"),
    ],
)
def test_a_value_without_a_place_is_refused_by_name(graph, value, said):
    if graph.sandbox == "monty" and value == "object()":
        value, said = "nx", "KgNetworkx"
    with pytest.raises(QueryError) as caught:
        graph.write(f'G.add_node("fine", n=1)\nG.add_node("The Lantern", made={value})')
    assert 'node "The Lantern"' in caught.value.message and 'property "made"' in caught.value.message
    assert said in caught.value.message
    assert graph.nodes == {}


def test_an_edge_property_without_a_place_is_refused_by_name(graph):
    with pytest.raises(QueryError, match='edge "a" to "b", property "made" cannot hold a list with a dict'):
        graph.write('G.add_edge("a", "b", made=[{}])')


def test_a_node_known_from_an_edge_only_gets_its_key_as_name(graph):  # D56
    change = graph.write(
        "G.add_node('The Lantern', label='film', name='The Lantern')\n"
        "G.add_edge('The Lantern', 'Directed by Ola Brandt', type='director')"
    )
    bare = change.added[1]
    assert bare.key == "Directed by Ola Brandt" and bare.properties == {"name": "Directed by Ola Brandt"}
    assert all(node.properties for node in graph.snapshot.nodes)


def test_a_new_node_without_a_name_gets_its_key_as_name(graph):
    change = graph.write('G.add_node("Vela", label="Ship", masts=3)\nG.add_node("Orm", name="Port of Orm")')
    assert [node.properties for node in change.added] == [{"name": "Vela", "masts": 3}, {"name": "Port of Orm"}]
    assert graph.query('result = [d["name"] for n, d in G.nodes(data=True)]') == [
        {"result": "Vela"},
        {"result": "Port of Orm"},
    ]
    graph.write('G.nodes["Orm"].pop("name")')
    assert graph.snapshot.nodes[1].properties == {}


def test_homonyms_are_never_merged(graph):  # D45
    graph.write('G.add_node("System Admin", label="Role", name="System Admin")')
    graph.write('G.add_node("system admin", label="Role", name="system admin")')
    with pytest.raises(QueryError) as caught:
        graph.write('G.add_node("Else", n=1)\nG.add_node("System Admin", label="Course", hours=3)')
    assert caught.value.line == 2
    assert '"System Admin (Course)"' in caught.value.message
    assert graph.nodes["System Admin"] == (("Role",), {}) and "Else" not in graph.nodes
    # The same label in another spelling is the same label; a correction is possible.
    graph.write('G.add_node("System Admin", label="ROLE", n=1)')
    assert graph.nodes["System Admin"] == (("Role",), {"n": 1})
    graph.write('G.nodes["System Admin"]["label"] = "Duty"')
    assert graph.nodes["System Admin"][0] == ("Duty",)


def test_keys_of_other_kinds_become_text(graph):
    graph.write(
        'G.add_node(5, label="N", a=1)\nG.add_edge(5, ("Rome", 1952), type="IN")\nG.add_node(2.5)\n'
        "import datetime\nG.add_node(datetime.date(2020, 1, 2), n=1)\nassert G.nodes[5]['a'] == 1"
    )
    assert list(graph.nodes) == ["5", "Rome, 1952", "2.5", "2020-01-02"]
    graph.write('G.add_edge(5, "Rome, 1952", type="SINCE")\nG.add_node("5", b=2)')
    assert graph.nodes["5"] == (("N",), {"a": 1, "b": 2})
    assert [edge[:3] for edge in graph.edges] == [("5", "IN", "Rome, 1952"), ("5", "SINCE", "Rome, 1952")]
    with pytest.raises(QueryError, match='"5", not 5'):
        graph.query("result = G.nodes[5]")


@pytest.mark.parametrize("key", ['""', '"  "'])
def test_an_empty_key_is_refused(graph, key):
    with pytest.raises(QueryError, match="empty text"):
        graph.write(f"G.add_node({key}, n=1)")


def test_a_map_as_value_can_be_read_back(graph):  # D13
    graph.write('G.add_node("Brandt Oy", label="Firm", sales={"y2021": 18788, "y2022": 5575})')
    assert graph.nodes["Brandt Oy"][1] == {"sales.y2021": 18788, "sales.y2022": 5575}
    assert graph.query('result = G.nodes["Brandt Oy"]["sales.y2022"]') == [{"result": 5575}]


def test_text_of_any_kind_survives(graph):
    graph.write('G.add_node(\'She said "go"\\nand \\\\left\', näme="東京 ☃ 🜁", tab="a\\tb")\nG.add_edge("ß", "ß", "é")')
    assert graph.nodes['She said "go"\nand \\left'] == ((), {"näme": "東京 ☃ 🜁", "tab": "a\tb"})
    assert graph.edges == [("ß", "é", "ß", {})]
