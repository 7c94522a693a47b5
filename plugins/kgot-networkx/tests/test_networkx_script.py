"""Making scripts ready."""

from __future__ import annotations

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgot_core.errors import QueryError
from kgot_networkx.script import prepare


def ready(text: str, *, query: bool = False, subset: bool = False) -> str:
    return prepare(text, limit=100_000, query=query, subset=subset).code


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("G = nx.DiGraph()", "pass"),
        ("import networkx\nG = networkx.MultiDiGraph() # x\ny", "import networkx\npass # x\ny"),
        ("a = 1; G = Graph(); b = 2", "a = 1; pass; b = 2"),
        ("é = 1; G = nx.Graph(); b", "é = 1; pass; b"),
        ("G = nx.DiGraph(\n)\nb = 1", "pass \\\n \nb = 1"),
        ("G = nx.DiGraph(\n\n); b = 1", "pass \\\n \\\n; b = 1"),
    ],
)
def test_a_new_empty_graph_is_left_out(text, code):
    assert ready(text) == code
    ast.parse(code)


@pytest.mark.parametrize(
    "text",
    [
        "G = nx.DiGraph(G)",
        "H = nx.DiGraph()",
        "def f():\n    G = nx.DiGraph()",
        "G = f()",
        "G.add_node('G = nx.DiGraph()')",
    ],
)
def test_other_statements_stay_as_they_are(text):
    assert ready(text) == text


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("import networkx as nx", "pass"),
        ("import json, networkx as nx", "import json"),
        ("def f():\n    import networkx as nx\n    return 1", "def f():\n    pass\n    return 1"),
        ("del d['a']", "d.pop('a')"),
        ("if x: del d[k], e[0]", "if x: d.pop(k); e.pop(0)"),
        ("del d[1:2]", "del d[1:2]"),
        ("del name", "del name"),
    ],
)
def test_what_the_subset_lacks_is_written_otherwise(text, code):
    assert ready(text, subset=True) == code
    assert ready(text) == text


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("a + 1", "kg_last = (a + 1)"),
        ("x = 1; é + x", "x = 1; kg_last = (é + x)"),
        ("f(a,\n  b) # end", "kg_last = (f(a,\n  b)) # end"),
        ("rows = [1]", "rows = [1]\nkg_last = rows"),
        ("result = [1]", "result = [1]"),
        ("for a in b: a", "for a in b: a"),
    ],
)
def test_the_last_value_is_kept(text, code):
    assert ready(text, query=True) == code


def test_a_bracketed_last_value_is_kept():
    names: dict[str, int] = {"a": 1}
    exec(ready("x = 1\n(a +\n 1)  # end", query=True), names)  # noqa: S102
    assert names["kg_last"] == 2


def test_syntax_errors_have_a_position():
    with pytest.raises(QueryError) as caught:
        ready("x = 1\ny = 2 = 3")
    assert (caught.value.line, caught.value.column) == (2, 5)
    with pytest.raises(QueryError):
        ready("x = 1\0")


def test_long_tables_are_no_deep_expression():
    rows = ",\n".join(f'("name {number}", {{"n": -{number}, "text": "a (b) c"}})' for number in range(2_000))
    assert ready(f"G.add_nodes_from([{rows}])")


@given(st.text(alphabet="Gnx=.DiGraph()\n ;#'\"[]{}:,+-1aé\\\r\t", max_size=60), st.booleans(), st.booleans())
def test_any_text_is_ready_or_refused(text, query, subset):
    try:
        code = ready(text, query=query, subset=subset)
    except QueryError:
        return
    ast.parse(code)
