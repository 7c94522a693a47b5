"""Runs that start from a given graph, go on with a kept one, or only ask."""

from __future__ import annotations

import asyncio
import json
import runpy
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import kgot_core
from kgot_core.contracts.backend import GraphBackend, OpenContext
from kgot_core.errors import Refused, UsageError
from kgot_core.graph.elements import Edge, GraphSnapshot, Node, snapshot_to_json
from kgot_core.plugins import PluginRegistry
from kgot_core.run.record.folder import read_records
from kgot_core.session.compare import difference
from kgot_core.session.replay import replay_run
from kgot_core.sinks.memory import MemorySink
from kgot_core.testing.memory_backend import MemoryBackend, MemoryStore

_story = runpy.run_path(str(Path(__file__).parents[1] / "fixtures" / "library" / "story.py"))
Story, quick, opened, NO_CONFIG = (_story[name] for name in ("Story", "quick", "opened", "NO_CONFIG"))
QUESTION, ANSWER, ENHANCE, SOLVE = (_story[name] for name in ("QUESTION", "ANSWER", "ENHANCE", "SOLVE"))
HILLS = GraphSnapshot(
    (
        Node("h1", ("Hill",), {"name": "Alderkop", "height_m": 700}, key="Alderkop"),
        Node("h2", ("Hill",), {"name": "Birkfell", "height_m": 450}, key="Birkfell"),
    ),
    (Edge("x1", "HIGHER_THAN", "h1", "h2"),),
)
ASK = {"strategy": "ask_graph"}


def hills_file(folder: Path) -> Path:
    file = folder / "hills.json"
    file.write_text(json.dumps(snapshot_to_json(HILLS)))
    return file


async def run(story: Any = None, settings: Mapping[str, Any] | None = None, **options: Any) -> Any:
    async with opened(story or quick(), settings, **options) as session:
        return await session.solve(QUESTION)


async def replayed(folder: Path) -> Any:
    """Runs a recorded run again, and gives the first difference."""
    registry = PluginRegistry()
    registry.load()
    sink = MemorySink()
    await replay_run(registry, folder, env={}, sinks=[sink])
    return difference(read_records(folder), sink.records)


def of(folder: Path, kind: str) -> list[dict[str, Any]]:
    return [record for record in read_records(folder) if record["kind"] == kind]


async def test_a_run_starts_from_a_file_and_says_so_in_its_evidence(tmp_path: Path) -> None:
    file = hills_file(tmp_path)
    answer = await run(graph=file, runs=tmp_path / "runs")
    assert (answer.text, answer.how, answer.iterations) == (ANSWER, "voted query", 0)
    assert answer.evidence and {(item.sources, item.iteration) for item in answer.evidence} == {(("graph",), 0)}
    (written,) = of(answer.folder, "graph_written")
    assert written["form"] == "elements" and len(written["change"]["added"]) == 3
    first = of(answer.folder, "model_called")[0]
    assert written["seq"] < first["seq"] and "Alderkop" in str(first["messages"])
    assert not of(answer.folder, "graph_state"), "the record holds the graph once"
    file.unlink()
    assert await replayed(answer.folder) is None


async def test_a_run_starts_from_the_end_of_another_and_extends_it(tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    first = await run(runs=runs)
    assert first.iterations == 1
    third = 'G.add_node("Cairnmoor", label="Hill", name="Cairnmoor", height_m=900)'
    decide = lambda prompt: SOLVE if "Cairnmoor" in prompt else ENHANCE  # noqa: E731
    story = quick(decide=decide, extract=f"```python r1\n{third}\n```")
    second = await run(story, graph="last", runs=runs)
    assert second.iterations == 1 and second.run != first.run
    given, written = of(second.folder, "graph_written")
    assert given["sources"] == ["graph"] and written["sources"] == ["1/enhance/tools/1"]
    (decided,) = (call for call in of(second.folder, "model_called") if call["step"].startswith("2/decide"))
    added = str(decided["messages"]).partition("Added to the graph:")[2]
    assert "Cairnmoor" in added and "Alderkop" not in added.partition("</round>")[0]
    assert await replayed(second.folder) is None


async def test_what_is_added_to_a_given_thing_keeps_both_origins() -> None:
    change = 'G.nodes["Alderkop"]["surveyed"] = 1911'
    decide = lambda prompt: SOLVE if "1911" in prompt else ENHANCE  # noqa: E731
    answer = await run(quick(decide=decide, extract=f"```python r1\n{change}\n```"), graph=HILLS)
    sources = {item.sources for item in answer.evidence}
    assert ("graph", "1/enhance/tools/1") in sources and ("graph",) in sources


async def test_a_graph_that_the_store_cannot_take_ends_the_run_before_the_first_request(tmp_path: Path) -> None:
    schema = tmp_path / "schema.toml"
    schema.write_text('[nodes.River]\n[edges.FLOWS_INTO]\nfrom = ["River"]\nto = ["River"]\n')
    story = quick()
    settings = {"graph.schema": str(schema)}
    answer = await run(story, settings, graph=hills_file(tmp_path), runs=tmp_path / "runs")
    assert answer.status == "failed" and not story.asked
    assert "the store cannot take the graph" in answer.reason and "hills.json" in answer.reason
    assert "Hill" in answer.reason and "\n" not in answer.reason
    assert await replayed(answer.folder) is None


@pytest.mark.parametrize("name", ["nowhere.json", "nowhere"])
async def test_a_graph_that_is_not_there_is_refused_before_the_run(name: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="nowhere"):
        await run(graph=tmp_path / name, runs=tmp_path / "runs")
    assert not (tmp_path / "runs").exists()


async def test_a_graph_that_is_not_sound_is_refused() -> None:
    with pytest.raises(UsageError, match=r"cannot be used: .*e1"):
        await run(graph=GraphSnapshot((), (Edge("e1", "R", "a", "b"),)))


async def test_a_store_that_keeps_nothing_says_what_to_do_instead() -> None:
    with pytest.raises(UsageError, match=r"networkx has no graph to go on with.*--graph RUN"):
        await run(keep_graph=True)


FACTS = "```facts r1\n(Hill: Alderkop) height_m = 700\n(Hill: Birkfell) height_m = 450\n```"
FIND = "```facts\nFIND ?name ?metres\n(Hill: ?name) height_m = ?metres\n```"


def in_facts(mark: str, extract: str = FACTS, **replies: Any) -> Any:
    """A story in the language of the backend in memory that solves once the mark is in the graph."""
    decide = lambda prompt: f"SOLVE\nIt is there.\n{FIND}" if mark in prompt else ENHANCE  # noqa: E731
    return quick(**{"decide": decide, "extract": extract, "retrieve": FIND, **replies})


class Stored:
    """A store that keeps graphs; it notes the scopes that were opened."""

    def __init__(self) -> None:
        self.store = MemoryStore()
        self.scopes: list[tuple[str, str]] = []
        self.runs: list[str] = []

    def __call__(self, context: OpenContext) -> GraphBackend:
        self.scopes.append((context.scope.name, context.scope.mode))
        self.runs.append(context.run)
        return MemoryBackend(context, self.store)


async def test_two_runs_on_one_kept_store() -> None:
    stored = Stored()
    first = await run(in_facts("Alderkop"), backend=stored, keep_graph=True)
    story = in_facts("Cairnmoor", "```facts r1\n(Hill: Cairnmoor) height_m = 900\n```")
    second = await run(story, backend=stored, keep_graph=True)
    assert (first.iterations, second.iterations) == (1, 1)
    assert stored.scopes == [("kept", "keep"), ("kept", "keep")] and stored.runs == [first.run, second.run]
    assert len(stored.store.graphs["kept"].nodes) == 3
    old = [item for item in second.evidence if "Alderkop" in item.text]
    assert old and all(item.sources == () and item.iteration == 0 for item in old)


async def test_the_kept_graph_is_the_one_that_is_named_and_a_given_one_is_taken_into_it(tmp_path: Path) -> None:
    stored = Stored()
    settings = {"graph.name": "hills"}
    runs: dict[str, Any] = {"backend": stored, "keep_graph": True, "runs": tmp_path}
    await run(in_facts("Alderkop"), settings, **runs)
    more = GraphSnapshot((*HILLS.nodes, Node("n1", ("Hill",), {"name": "Dunmere", "height_m": 120})))
    second = await run(in_facts("Dunmere"), settings, graph=more, **runs)
    assert second.iterations == 0 and [*stored.store.graphs] == ["hills"]
    assert sorted(str(node.properties["name"]) for node in stored.store.graphs["hills"].nodes) == [
        "Alderkop",
        "Birkfell",
        "Dunmere",
    ]
    assert await replayed(second.folder) is None


async def test_runs_on_one_kept_graph_come_one_after_another() -> None:
    stored = Stored()
    async with opened(in_facts("Alderkop"), backend=stored, keep_graph=True) as session:
        answers = await asyncio.gather(*(session.solve(f"{QUESTION} ({number})") for number in range(3)))
    assert sorted(answer.iterations for answer in answers) == [0, 0, 1]


async def test_asking_solves_at_once_without_tools(tmp_path: Path) -> None:
    story = quick()
    answer = await run(story, ASK, graph=hills_file(tmp_path), runs=tmp_path / "runs")
    assert (answer.status, answer.text, answer.how, answer.iterations) == ("answered", ANSWER, "forced query", 0)
    assert set(story.asked) == {"retrieve", "compute", "parse"}
    assert {item.sources for item in answer.evidence} == {("graph",)}
    (tools,) = of(answer.folder, "tools_opened")
    assert tools["specs"] == [] and tools["left_out"] == {}
    assert (answer.folder / "answer.json").is_file()
    assert await replayed(answer.folder) is None


async def test_asking_by_the_direct_solver() -> None:
    answer = await run(None, {**ASK, "solver": "direct"}, graph=HILLS)
    assert (answer.text, answer.how) == (ANSWER, "forced direct") and answer.evidence


async def test_asking_falls_back_to_reading_the_graph() -> None:
    story = quick(retrieve="```python\nresult = None\n```")
    answer = await run(story, ASK, graph=HILLS)
    assert (answer.text, answer.how) == (ANSWER, "fallback direct")


@pytest.mark.parametrize("said", ["MISSING", "I don't know.", "The graph does not say."])
async def test_what_the_graph_does_not_hold_has_no_solution(said: str) -> None:
    story = quick(retrieve="```python\nresult = None\n```", direct=said)
    answer = await run(story, ASK, graph=HILLS)
    assert answer.status == "no_solution" and answer.reason


async def test_an_empty_graph_is_not_asked() -> None:
    story = quick()
    answer = await run(story, ASK, graph=GraphSnapshot())
    assert (answer.status, answer.reason) == ("no_solution", "the graph is empty") and not story.asked


async def test_a_stored_graph_is_only_read() -> None:
    stored = Stored()
    await run(in_facts("Alderkop"), backend=stored, keep_graph=True)
    before = stored.store.graphs["kept"].snapshot()
    answer = await run(in_facts("Alderkop"), ASK, backend=stored, keep_graph=True)
    assert (answer.text, answer.how) == (ANSWER, "forced query")
    assert stored.scopes[-1] == ("kept", "read_only") and stored.store.graphs["kept"].snapshot() == before
    with pytest.raises(UsageError, match="only read"):
        await run(in_facts("Alderkop"), ASK, backend=stored, keep_graph=True, graph=HILLS)


async def test_a_solver_that_writes_while_asking_is_refused(tmp_path: Path) -> None:
    (tmp_path / "writing.py").write_text(
        "from kgot_core.contracts.solver import Solver\n"
        "from kgot_core.hookspecs import hookimpl\n"
        "from kgot_core.providers import SolverProvider\n"
        "class Writing(Solver):\n"
        '    form = "query"\n'
        "    async def solve(self, run, proposals):\n"
        "        await run.graph.write('w', 'G.clear()', ())\n"
        "@hookimpl\n"
        "def kgot_solvers():\n"
        '    return [SolverProvider(name="writing", summary="Writes.", open=lambda settings: Writing())]\n'
    )
    settings = {**ASK, "solver": "writing", "plugins.load": [str(tmp_path / "writing.py")]}
    answer = await run(None, settings, graph=HILLS)
    assert answer.status == "failed" and answer.reason == str(Refused("the graph of this run is only read"))


async def test_asking_needs_a_graph() -> None:
    with pytest.raises(UsageError, match="there is no graph to ask"):
        await run(None, ASK)


def test_solve_takes_a_graph_too() -> None:
    answer = kgot_core.solve(
        QUESTION,
        graph=HILLS,
        settings={"backend": "networkx", "sandbox": "monty", **ASK},
        models={"graph": quick().model()},
        runs=None,
        env=NO_CONFIG,
    )
    assert answer.text == ANSWER
