"""Random plain statements, and calls with anything in them: read as they run, or left to be run."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st

from kgot_core.errors import QueryError

_both = runpy.run_path(str(Path(__file__).with_name("read_and_run.py")))
read, run = _both["read"], _both["run"]
KEYS = st.sampled_from(["a", "b", "c", "d", "5", 5, (5, "c"), True, 1, 2.5])
VALUES = st.one_of(
    st.integers(-2, 2),
    st.floats(allow_nan=False),
    st.text(max_size=3),
    st.none(),
    st.booleans(),
    st.lists(st.integers(0, 3), max_size=3),
    st.sets(st.sampled_from("pqr")),
    st.dictionaries(st.sampled_from("xy"), st.integers(0, 1), max_size=2),
)
DATA = st.dictionaries(st.sampled_from(["name", "n", "tags", "label", "type", "born in"]), VALUES, max_size=3).map(
    lambda data: {key: f"L{value}"[:2] if key in ("type", "label") else value for key, value in data.items()}
)


def _node(key: Any, other: Any, edge: Any, data: Any) -> str:
    return f"G.add_node({key!r}, **{data!r})"


def _nodes(key: Any, other: Any, edge: Any, data: Any) -> str:
    return f"G.add_nodes_from([{key!r}, ({other!r}, {data!r})], n=0)"


def _edge(key: Any, other: Any, edge: Any, data: Any) -> str:
    return f"G.add_edge({key!r}, {other!r}, {edge!r}, **{data!r})"


def _edges(key: Any, other: Any, edge: Any, data: Any) -> str:
    return f"G.add_edges_from([({key!r}, {other!r}, {edge!r}, {data!r}), ({other!r}, {key!r})], type='T')"


def _set(key: Any, other: Any, edge: Any, data: Any) -> str:
    return f"G.nodes[{key!r}]['n'] = {list(data.values())!r}"


STATEMENTS = st.builds(
    lambda make, key, other, edge, data: make(key, other, edge, data),
    st.sampled_from([_node, _nodes, _edge, _edges, _set]),
    KEYS,
    KEYS,
    st.sampled_from([None, 0, 1, "T", "U"]),
    DATA,
)


@settings(max_examples=300, deadline=None)
@given(st.lists(STATEMENTS, min_size=1, max_size=5))
def test_any_plain_script_does_what_running_it_does(statements):
    code = "\n".join(statements)
    change = read(code)
    try:
        wanted = run(code)
    except Exception:
        assert change is None
    else:
        assert change is None or repr(change) == repr(wanted)


SCALARS = ["5", '"a"', '"b"', "None", "True", "-1.5", "1e999", 'b"x"', "1+2j", "x", '-"a"', "set()", "...", '"\\ud800"']
EXPRESSIONS = st.recursive(
    st.sampled_from(SCALARS),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(lambda parts: f"[{', '.join(parts)}]"),
        st.lists(inner, max_size=3).map(lambda parts: f"({''.join(part + ', ' for part in parts)})"),
        st.lists(st.tuples(inner, inner), max_size=2).map(lambda parts: f"{{{', '.join(map(': '.join, parts))}}}"),
    ),
    max_leaves=4,
)
CALLS = st.one_of(
    st.tuples(
        st.sampled_from(["add_node", "add_edge", "add_nodes_from", "add_edges_from"]),
        st.lists(EXPRESSIONS, max_size=3),
        st.lists(st.tuples(st.sampled_from(["*", "**", "n=", "key=", "label="]), EXPRESSIONS).map("".join), max_size=2),
    ).map(lambda call: f"G.{call[0]}({', '.join([*call[1], *call[2]])})"),
    st.tuples(EXPRESSIONS, EXPRESSIONS, EXPRESSIONS).map(lambda parts: "G.nodes[{}][{}] = {}".format(*parts)),
)


@given(CALLS)
@example('G.add_node("a", **5)')
@example('G.add_edge("a", "b", **None)')
def test_whatever_stands_in_a_call_is_read_as_it_runs_or_left_to_be_run(code):
    try:
        change = read(code)
    except QueryError:  # it is no Python
        return
    if change is not None:
        assert change == run(code)
