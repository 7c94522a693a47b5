"""Scripts that go wrong, run away, or attack: the graph, the host and the next script are unharmed."""

from __future__ import annotations

import os
import signal
import threading
from pathlib import Path

import pytest

from kgot_core.contracts.sandbox import CodeJob, CodeResult, Prelude, Sandbox, SandboxLimits, SandboxSession
from kgot_core.errors import QueryError, SandboxError, StoreUnavailable


@pytest.fixture
def filled(graph):
    graph.write('G.add_node("a", n=1)\nG.add_edge("a", "b", type="T")')
    return graph


def still_works(graph):
    assert graph.query('result = [G.nodes["a"]["n"], G.number_of_edges()]') == [{"result": 1}, {"result": 1}]
    assert graph.write('G.add_node("c", n=2)').size == 1
    assert set(graph.nodes) == {"a", "b", "c"}


def test_an_endless_loop_ends_by_its_time(filled):  # D22
    for run in (filled.write, filled.query):
        with pytest.raises(QueryError, match="longer than"):
            run("G.clear()\nwhile True:\n    pass", seconds=0.5)
    still_works(filled)


def test_memory_is_limited(filled):  # D22
    with pytest.raises(QueryError, match=r"(?i)memory|longer than"):
        filled.write('rows = []\nwhile True:\n    rows.append("x" * 10**6)\n    print(len(rows))', seconds=10)
    still_works(filled)


def test_endless_recursion_is_an_error_of_the_script(filled):  # D24
    with pytest.raises(QueryError, match="RecursionError") as caught:
        filled.write("def h(n): return h(n + 1)\nh(0)")
    assert len(str(caught.value)) < 2_000
    still_works(filled)


@pytest.mark.parametrize(
    "code", ["import sys\nprint('partial')\nsys.exit(3)", 'raise SystemExit("no data")', "exit(1)"]
)
def test_a_script_that_ends_itself_early_changes_nothing(filled, code):  # D26
    with pytest.raises(QueryError):
        filled.write('G.add_node("lost")\n' + code)
    still_works(filled)


def test_nobody_answers_input(filled):  # D26
    with pytest.raises(QueryError, match="EOF"):
        filled.query('result = input("how many? ")')
    still_works(filled)


def test_the_files_and_keys_of_the_host_are_out_of_reach(filled, monkeypatch):  # D25
    monkeypatch.setenv("OPENAI_API_KEY", "sk-planted-key")
    code = (
        "found = []\n"
        'try:\n    found.append(open("/etc/passwd").read())\n'
        "except Exception as error:\n    found.append(type(error).__name__)\n"
        'try:\n    import os\n    found.append(str(os.environ.get("OPENAI_API_KEY")))\nexcept Exception as error:\n'
        "    found.append(type(error).__name__)\nresult = [{'found': found}]"
    )
    told = str(filled.query(code))
    assert "root:" not in told and "planted" not in told
    still_works(filled)


def test_a_cancelled_write_raises_and_changes_nothing(filled):
    failures: list[BaseException] = []

    def run() -> None:
        try:
            filled.write('G.add_node("lost")\nprint("x", flush=True)\nwhile True:\n    pass', seconds=30)
        except BaseException as error:
            failures.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    for _ in range(100):
        filled.backend.cancel()
        thread.join(0.1)
        if not thread.is_alive():
            break
    assert not thread.is_alive()
    assert len(failures) == 1 and isinstance(failures[0], QueryError)
    still_works(filled)


def test_a_snapshot_can_be_taken_while_a_script_runs(filled):
    thread = threading.Thread(target=lambda: filled.query("x = 0\nwhile x < 2_000_000:\n    x += 1\nresult = x"))
    thread.start()
    assert len(filled.snapshot.nodes) == 2
    thread.join()


def test_too_long_and_too_deep_scripts_are_not_run(filled):
    with pytest.raises(QueryError, match="more than the 100,000"):
        filled.write("x = 1\n" * 20_000)
    for code in ("x = " + "-" * 50_000 + "1", "x = " + "lambda:" * 9_000 + "1", "x = " + "(" * 5_000 + ")" * 5_000):
        with pytest.raises(QueryError):
            filled.write(code)
    still_works(filled)


def children() -> set[int]:
    listed = [path.read_text() for path in Path("/proc/self/task").glob("*/children")]
    return {int(pid) for text in listed for pid in text.split()}


def test_a_killed_worker_is_replaced_and_filled_again(open_graph):
    before = children()
    graph = open_graph("bwrap")
    started = children() - before
    graph.write('G.add_node("a", n=1, tags=["x"])\nG.add_edge("a", "b", type="T")')
    assert started
    for pid in started:
        os.kill(pid, signal.SIGKILL)
    still_works(graph)
    graph.write('G.nodes["a"]["tags"].append("y")')
    assert graph.nodes["a"][1]["tags"] == ("x", "y")


def test_a_script_that_lies_about_its_change_is_refused(full):
    full.write('G.add_node("a", n=1)\nG.add_edge("a", "b", type="T")')
    before = full.snapshot
    for report in (
        "{'nodes': [['', [], {}]], 'pairs': []}",
        "{'nodes': [['x', [1], {}]], 'pairs': []}",
        "7",
        "{'nodes': [], 'pairs': [['a', 'zz', [[0, 'T', {}]]]]}",
        "{'nodes': [['x', [], {'p': {'@date': 'no'}}]], 'pairs': []}",
    ):
        with pytest.raises(QueryError):
            full.write(f"_kgot.report = lambda graph, everything: {report}")
        assert full.snapshot == before
    still_works(full)


def test_a_script_cannot_reach_the_worker_s_graph_behind_the_report(full):
    full.write('G.add_node("a", n=1)\nG.add_edge("a", "b", type="T")')
    full.write("_kgot.commit({'nodes': [['evil', [], {'n': 1}]], 'pairs': []}, 999)\n_kgot.version = 999")
    assert "evil" in str(full.nodes) or full.query('result = "evil" in G') == [{"result": False}]
    assert full.query("result = sorted(G.nodes)") == [{"result": key} for key in sorted(full.nodes)]


class LosableSession(SandboxSession):
    def __init__(self, inner: SandboxSession, losses: list[str]) -> None:
        self.inner, self.losses = inner, losses

    def run(self, job: CodeJob) -> CodeResult:
        if self.losses:
            raise SandboxError(self.losses.pop())
        return self.inner.run(job)

    def cancel(self) -> None:
        self.inner.cancel()

    def close(self) -> None:
        self.inner.close()


class LosableSandbox(Sandbox):
    """A real sandbox that is lost as often as told."""

    def __init__(self, inner: Sandbox) -> None:
        self.inner, self.python, self.about = inner, inner.python, inner.about
        self.name = "losable"
        self.losses: list[str] = []

    def open(self, prelude: Prelude, limits: SandboxLimits) -> SandboxSession:
        return LosableSession(self.inner.open(prelude, limits), self.losses)


@pytest.mark.parametrize("name", ["bwrap", "monty"])
def test_a_sandbox_that_comes_back_or_does_not(open_graph, sandbox_of, name):
    sandbox = LosableSandbox(sandbox_of(name))
    graph = open_graph(name, sandbox=sandbox)
    graph.write('G.add_node("a", n=1)\nG.add_edge("a", "b", type="T")')
    sandbox.losses += ["gone"]
    assert graph.query('result = G.nodes["a"]["n"]') == [{"result": 1}]
    sandbox.losses += ["gone"] * 2
    with pytest.raises(StoreUnavailable, match="gone"):
        graph.write('G.add_node("lost")')
    still_works(graph)
