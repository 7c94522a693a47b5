"""Writes of plain statements: read instead of run, with the outcome that the sandbox would give."""

from __future__ import annotations

import runpy
from collections.abc import Callable
from pathlib import Path

import pytest

from kgot_core.contracts.backend import GraphScope, OpenContext
from kgot_core.contracts.sandbox import CodeJob, CodeResult, Prelude, Sandbox, SandboxLimits, SandboxSession
from kgot_core.errors import QueryError
from kgot_core.graph.elements import Edge, GraphChange, Node
from kgot_core.graph.values import Iri
from kgot_networkx.backend import NetworkxBackend
from kgot_networkx.settings import NetworkxSettings

_both = runpy.run_path(str(Path(__file__).with_name("read_and_run.py")))
read, run = _both["read"], _both["run"]

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
