"""Whole runs with a scripted model, on servers that tests/stores leaves out, and again from the record."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import pytest

from kgot_core.plugins import PluginRegistry
from kgot_core.run.folder import read_records
from kgot_core.session.replay import replay_run
from kgot_core.sinks.memory import MemorySink

STORY = runpy.run_path(str(Path(__file__).parents[3] / "tests" / "fixtures" / "library" / "story.py"))


async def solve(backend: str, solver: str, settings: dict[str, Any], runs: Path | None = None) -> Any:
    told = {"backend": backend, "solver": solver, **settings}
    async with STORY["opened"](STORY["knowing"]("sparql", solver), told, runs=runs) as session:
        return await session.solve(STORY["QUESTION"])


@pytest.mark.xdist_group("sparql")
@pytest.mark.parametrize("solver", ["query", "direct"])
@pytest.mark.parametrize("name", ["fuseki", "rdf4j"])
async def test_a_run_on_a_server(name: str, solver: str, sparql_servers: Any) -> None:
    server = sparql_servers(name)
    settings = {"query_url": server.query_url, "update_url": server.update_url}
    answer = await solve("rdf-remote", solver, {f"backends.rdf-remote.{key}": url for key, url in settings.items()})
    assert (answer.status, answer.text, answer.how) == ("answered", STORY["ANSWER"], f"voted {solver}")
    assert "700" in answer.evidence[0].text and len(answer.evidence) == 2


@pytest.mark.parametrize("solver", ["query", "direct"])
async def test_a_run_is_repeated_from_its_record(solver: str, tmp_path: Path) -> None:
    """The prompts of a replay show elements as Turtle too: otherwise it would diverge from its record."""
    answer = await solve("rdf", solver, {}, tmp_path / "runs")
    registry = PluginRegistry()
    registry.load()
    sink = MemorySink()
    assert answer.folder is not None
    await replay_run(registry, answer.folder, env={}, sinks=[sink])
    recorded = [(record["step"], record["kind"]) for record in read_records(answer.folder)]
    assert sorted((record["step"], record["kind"]) for record in sink.records) == sorted(recorded)
