"""Whole runs with a scripted model: both solvers, networkx and both backends, one answer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import kgot_core
from kgot_core.contracts.task import Task
from kgot_core.plugins import PluginRegistry
from kgot_core.run.folder import read_records
from kgot_core.session.replay import replay_run
from kgot_core.sinks.memory import MemorySink
from kgot_core.testing.scripted_model import Asked, Say, ScriptedModel

QUESTION = "In which year was the Ulmet Bridge opened?"
WRITES = {
    "networkx": (
        'G.add_node("Ulmet Bridge", label="Bridge", opened=1911)\nG.add_node("Iris Holm", label="Engineer")\n'
        'G.add_edge("Iris Holm", "Ulmet Bridge", type="BUILT")'
    ),
    "sparql": (
        'INSERT DATA { :Ulmet_Bridge a :Bridge ; :name "Ulmet Bridge" ; :opened 1911 .\n'
        ' :Iris_Holm a :Engineer ; :name "Iris Holm" ; :BUILT :Ulmet_Bridge }'
    ),
}
QUERIES = {
    "networkx": 'result = [G.nodes["Ulmet Bridge"]["opened"]]',
    "sparql": "SELECT ?y { :Iris_Holm :BUILT/:opened ?y }",
}


class Script:
    """Answers each kind of request by what the request says."""

    def __init__(self, backend: str, solver: str) -> None:
        self._language = "networkx" if backend == "networkx" else "sparql"
        self._fence = "python" if backend == "networkx" else "sparql"
        self._basis = "Ulmet Bridge" if backend == "networkx" else ":Ulmet_Bridge"
        self._solver = solver
        self._written = False

    def __call__(self, asked: Asked) -> Any:
        tail = str(asked.messages[-1].content)
        if asked.tools:
            return Say("", [("ask_llm", {"question": "When was the Ulmet Bridge opened?"})])
        if "Can the task be answered completely" in tail:
            return self._vote()
        if "Write into the graph what the new information" in tail:
            self._written = True
            return f"```{self._fence} r1\n{WRITES[self._language]}\n```"
        if "You check whether a partial answer" in tail:
            return "NO"
        if "You give the final answer" in tail:
            return "VALUE: 1911\nIt was opened in 1911." if "1911" in tail else "NONE"
        if "Write one query" in tail:
            return f"```{self._fence}\n{QUERIES[self._language]}\n```"
        return "The Ulmet Bridge, built by Iris Holm, was opened in 1911."

    def _vote(self) -> str:
        if not self._written:
            return "ENHANCE\nThe year of the Ulmet Bridge is missing."
        if self._solver == "direct":
            return f"SOLVE\nIt is there.\n```\n1911\n```\nBASIS: {self._basis}"
        return f"SOLVE\nIt is there.\n```{self._fence}\n{QUERIES[self._language]}\n```"


async def solve(backend: str, solver: str, folder: Path, settings: dict[str, Any]) -> Any:
    session = kgot_core.open(
        {"backend": (backend,), "solver": (solver,), **settings},
        models={"graph": ScriptedModel(script=Script(backend, solver))},
        runs=None,
        env={},
        folder=folder,
    )
    async with session:
        return await session.solve(Task(QUESTION))


@pytest.mark.parametrize("solver", ["query", "direct"])
@pytest.mark.parametrize(
    "backend",
    [
        "networkx",
        "rdf",
        *(pytest.param(name, marks=pytest.mark.xdist_group("sparql")) for name in ("oxigraph", "fuseki", "rdf4j")),
    ],
)
async def test_the_same_knowledge_gives_the_same_answer(backend, solver, tmp_path, sparql_servers):
    settings: dict[str, Any] = {}
    if backend not in ("networkx", "rdf"):
        server = sparql_servers(backend)
        settings = {
            "backends.rdf-remote.query_url": server.query_url,
            "backends.rdf-remote.update_url": server.update_url,
        }
    answer = await solve("rdf-remote" if settings else backend, solver, tmp_path, settings)
    assert (answer.status, answer.text) == ("answered", "It was opened in 1911.")
    assert answer.how == f"voted {solver}"
    assert answer.evidence and "1911" in answer.evidence[0].text


@pytest.mark.parametrize("solver", ["query", "direct"])
async def test_a_run_is_repeated_from_its_record(solver: str, tmp_path: Path) -> None:
    """The prompts of a replay show elements as Turtle too: otherwise it would diverge from its record."""
    session = kgot_core.open(
        {"backend": ("rdf",), "solver": (solver,)},
        models={"graph": ScriptedModel(script=Script("rdf", solver))},
        runs=tmp_path / "runs",
        env={},
        folder=tmp_path,
    )
    async with session:
        answer = await session.solve(Task(QUESTION))
    registry = PluginRegistry()
    registry.load()
    sink = MemorySink()
    assert answer.folder is not None
    await replay_run(registry, answer.folder, env={}, sinks=[sink])
    recorded = [(record["step"], record["kind"]) for record in read_records(answer.folder)]
    assert sorted((record["step"], record["kind"]) for record in sink.records) == sorted(recorded)
