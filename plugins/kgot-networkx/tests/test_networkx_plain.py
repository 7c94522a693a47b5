"""Writes of plain statements: read instead of run, with the outcome that the sandbox would give."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import networkx as nx
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from kgot_core.contracts.backend import GraphScope, OpenContext
from kgot_core.contracts.sandbox import CodeJob, CodeResult, Prelude, Sandbox, SandboxLimits, SandboxSession
from kgot_core.errors import QueryError
from kgot_core.graph.elements import Edge, GraphChange, Node
from kgot_core.graph.values import Iri
from kgot_networkx.backend import NetworkxBackend
from kgot_networkx.jail.full import Workbench
from kgot_networkx.plain import plain_change
from kgot_networkx.reading import read_report
from kgot_networkx.record import GraphRecord
from kgot_networkx.script import prepare
from kgot_networkx.settings import NetworkxSettings

BASE = {
    "nodes": [
        ["a", ["L"], {"name": "a", "tags": ["x", "y"], "n": 1}],
        ["b", ["L"], {"name": "b", "day": {"@date": "2020-01-02"}}],
        ["5", [], {"name": "5"}],
        ["5, c", ["M"], {"name": "pair"}],
    ],
    "pairs": [
        ["a", "b", [[0, "T", {"n": 1}], [1, "T", {"n": 2}], [3, "U", {}]]],
        ["b", "b", [[0, "LOOP", {"n": 3}]]],
        ["5", "a", [[0, "T", {}]]],
    ],
}


def filled_record() -> GraphRecord:
    record = GraphRecord()
    record.fold(read_report(record, BASE))
    return record


def read(code: str) -> GraphChange | None:
    """Gives what is read from a script; ``None`` where it has to be run."""
    record = filled_record()
    steps = prepare(code, limit=100_000, query=False, subset=False).steps
    step = plain_change(record, steps) if steps else None
    return None if step is None else step.change


def run(code: str) -> GraphChange:
    """Gives what running a script does."""
    record, bench = filled_record(), Workbench()
    bench.commit(BASE, 1)
    names = {"G": bench.begin(1), "nx": nx}
    exec(prepare(code, limit=100_000, query=False, subset=False).code, names)  # noqa: S102
    return read_report(record, bench.report(names["G"], False)).change


PLAIN = [
    'G.add_node("c", label="L", n=1)',
    'G.add_node("a", n=2)\nG.add_node("a", tags=["z"], label="l")',
    'G.add_node("c", labels=["L", "M"], nested={"x": {"y": 1}, "z": None}, pair=(1, "two"), some={"q", "p"})',
    'G.add_node("c", **{"born in": 1900}, low=-1.5e300, infinite=1e999, huge=0x' + "f" * 40 + ")",
    'G.add_node(node_for_adding="c", key=1)',
    'G.add_nodes_from(["c", ("d", {"n": 1}), ("e", "f")], label="N")',
    'G.add_edge("a", "b", type="T", n=1)',
    'G.add_edge("a", "b", type="T", n=1)\nG.add_edge("a", "b", type="T", n=1)',
    'G.add_edge("a", "b", "U", n=1)\nG.add_edge("a", "b", key=1, n=7)\nG.add_edge("a", "b", "NEW")',
    'G.add_edge("new", "newer", relation="R", label="x")\nG.add_edge("newer", "new")',
    'G.add_edges_from([("a", "a"), ("a", "c", {"type": "K"}), ("a", "c", "J"), ("a", "c", 4, {"n": 1})], w=1)',
    'G.nodes["a"]["n"] = 2\nG.nodes["b"]["label"] = "Other"\nG.nodes["b"]["new"] = None',
    'G.add_node("c")\nG.nodes["c"]["n"] = 2',
    'G.add_node(5, n=1)\nG.add_edge(5, (5, "c"), type="T")\nG.add_node("5", n=2)\nG.add_node(True)',
    'import networkx as nx\n"""A note."""\nG = nx.DiGraph()  # new\nG.add_node("c")\npass',
    'G.add_node("zwölf ☃", text="a\\"b\\\\c\\n")',
]


@pytest.mark.parametrize("code", PLAIN)
def test_plain_statements_are_read_and_do_what_running_them_does(code):
    assert read(code) == run(code)


@pytest.mark.parametrize(
    "code",
    [
        "",
        'print("hello")',
        'x = "c"\nG.add_node(x)',
        'G.add_node("c" + "d")',
        'G.add_node(f"c{1}")',
        'for n in ("c", "d"):\n    G.add_node(n)',
        'G.add_node("c", n=2**80)',
        'G.add_node("c", day=datetime.date(2020, 1, 1))',
        'import datetime\nG.add_node("c")',
        "import os, networkx as nx\nG.add_node('c')",
        'import networkx as G\nG.add_node("c")',
        'H = nx.DiGraph()\nG.add_node("c")',
        'G = nx.Graph(G)\nG.add_node("c")',
        'G.remove_node("a")',
        "G.clear()",
        'G.nodes["a"].update(n=2)',
        'G.nodes["nowhere"]["n"] = 2',
        'G.nodes["a"]["tags"][0] = "z"',
        'G.nodes["a"]["n"] += 1',
        'G.nodes["a"]["n"], x = 1, 2',
        'G.add_node("c").add_node("d")',
        'G.__class__("c")',
        'G.add_node.__call__("c")',
        'G.add_node(__import__("os").getcwd())',
        'G.add_node(*["c"])',
        'G.add_node("c", n=1, **{"n": 2})',
        'G.add_node("c", **{1: 2})',
        'G.add_node("c", "d")',
        "G.add_node()",
        "G.add_node(None)",
        'G.add_node("")',
        'G.add_node(["c"])',
        'G.add_node("c", n=b"x")',
        'G.add_node("c", n=1j)',
        'G.add_node("c", n=...)',
        'G.add_node("c", n=[[1]])',
        'G.add_node("c", n="\\ud800")',
        'G.add_node("c", n=0x' + "f" * 5_000 + ")",
        'G.add_node("a", label="Other")',
        'G.add_edge("a", "c", type=["T"])',
        'G.add_edges_from([("a", "c", 1, {}, 2)])',
        'G.add_edges_from([("a",)])',
        'G.add_edges_from({("a", "c"): 1})',
        'G.add_node("c")\n1 / 0',
        'if True:\n    G.add_node("c")',
        'G.add_node("c"); exec("1")',
        "\n".join(f'G.add_node("c{number}")' for number in range(1_500)),
        "G.add_node('c', n=" + "-" * 900 + "1)",
    ],
)
def test_whatever_is_to_be_run_or_fails_is_left_to_the_sandbox(code):
    assert read(code) is None


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


class Counting(Sandbox):
    """A real sandbox whose jobs are counted."""

    def __init__(self, real: Sandbox) -> None:
        self.real, self.jobs = real, 0
        self.name, self.python, self.about = real.name, real.python, real.about

    def open(self, prelude: Prelude, limits: SandboxLimits) -> SandboxSession:
        outer, session = self, self.real.open(prelude, limits)

        class Session(SandboxSession):
            def run(self, job: CodeJob) -> CodeResult:
                outer.jobs += 1
                return session.run(job)

            def cancel(self) -> None:
                session.cancel()

            def close(self) -> None:
                session.close()

        return Session()


@pytest.mark.parametrize("name", ["bwrap", "monty"])
def test_no_job_is_run_for_a_plain_write_and_scripts_find_what_it_wrote(name, open_graph, sandbox_of):
    counting = Counting(sandbox_of(name))
    graph = open_graph(name, sandbox=counting)
    graph.reads = True
    for number in range(3):
        graph.write(f'G.add_node("n{number}", label="N", n={number})\nG.add_edge("n{number}", "n0", type="T")')
    assert counting.jobs == 0
    assert graph.query('result = sorted((n, d["n"], G.number_of_edges(n, "n0")) for n, d in G.nodes(data=True))') == [
        {"result": [f"n{number}", number, 1]} for number in range(3)
    ]
    change = graph.write('for n, d in list(G.nodes(data=True)):\n    d["n"] += 10')
    assert [node.properties["n"] for node in change.changed] == [10, 11, 12]
    graph.write('G.nodes["n1"]["n"] = 5\nG.add_edge("n1", "n2", "U")')
    assert graph.query('result = [G.nodes["n1"]["n"], G.has_edge("n1", "n2", "U")]') == [
        {"result": 5},
        {"result": True},
    ]
    jobs = counting.jobs
    with pytest.raises(QueryError, match="already a node") as caught:
        graph.write('G.add_node("new")\nG.add_node("n1", label="Other")')
    assert caught.value.line == 2 and counting.jobs > jobs
    assert set(graph.nodes) == {"n0", "n1", "n2"}


def test_an_address_that_a_plain_write_leaves_alone_stays_one(sandbox_of: Callable[[str], Sandbox]):
    backend = NetworkxBackend(NetworkxSettings(), OpenContext(GraphScope("test"), sandbox_of("bwrap")))
    try:
        from kgot_core.contracts.backend import Call

        home = Iri("https://vela.example/")
        backend.apply(GraphChange((Node("n1", ("Ship",), {"home": home}, "Vela"),)), Call("1"))
        backend.write('G.add_node("Vela", masts=3)', Call("2"))
        backend.write(
            'G.add_edge("Vela", "Orm", type="SAILED_TO")\nG.nodes["Orm"]["home"] = G.nodes["Vela"]["home"]', Call("3")
        )
        first, second = backend.snapshot().nodes
        assert first.properties == {"home": home, "masts": 3}
        assert second.properties["home"] == home
        assert [type(edge) for edge in backend.snapshot().edges] == [Edge]
    finally:
        backend.close()


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
