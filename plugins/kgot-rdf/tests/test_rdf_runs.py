"""Whole runs with a scripted model, on servers that tests/stores leaves out, and again from the record."""

from __future__ import annotations

import contextlib
import runpy
from pathlib import Path
from typing import Any

import pytest

from kgot_core.plugins import PluginRegistry
from kgot_core.run.record.folder import read_records
from kgot_core.session.replay import replay_run
from kgot_core.sinks.memory import MemorySink

STORY = runpy.run_path(str(Path(__file__).parents[3] / "tests" / "fixtures" / "library" / "story.py"))


COUNTED = """SOLVE
All is there.
```sparql
SELECT (COUNT(?e) AS ?n) (COUNT(DISTINCT ?i) AS ?m) { ?e a :Event ; :number ?i ; :OF :Day }
```"""


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


@pytest.mark.xdist_group("sparql")
@pytest.mark.parametrize("done", [True, False], ids=["after", "before"])
async def test_a_server_that_is_killed_in_the_middle_of_a_write(
    done: bool, tmp_path: Path, sparql: Any, sparql_servers: Any, front: Any
) -> None:
    """It is started again on the same folder; the write had been done or not, and the run cannot know which."""
    sparql_servers("oxigraph")
    port = sparql.free_port()
    with contextlib.ExitStack() as stack:

        def start() -> Any:
            return stack.enter_context(sparql.running("oxigraph", port, tmp_path))

        def killed() -> bool:
            updates = sum(path == "/update" for path, _ in proxy.seen)
            if updates == (9 if done else 8) and not restarted:
                proxy.behind.process.kill()
                proxy.behind.process.wait()
                restarted.append(None)
                if done:
                    proxy.behind = start()
                return done
            if restarted == [None] and updates == 9:
                # The write after the kill came to nobody; the one that repeats it finds the server there.
                proxy.behind = start()
            return False

        restarted: list[None] = []
        proxy = front(start())
        proxy.before_answer = killed
        events = [f"INSERT DATA {{ [] a :Event ; :number {number} ; :OF :Day }}" for number in range(20)]
        story = STORY["quick"](
            decide=lambda _: COUNTED if "extract" in story.asked else STORY["ENHANCE"],
            extract="\n".join(f"```sparql r1\n{event}\n```" for event in events),
        )
        sink = MemorySink()
        settings = {"query_url": proxy.query_url, "update_url": proxy.update_url, "keep": True}
        told = {"backend": "rdf-remote"} | {f"backends.rdf-remote.{key}": value for key, value in settings.items()}
        async with STORY["opened"](story, told, sinks=[sink]) as session:
            answer = await session.solve(STORY["QUESTION"])
        assert restarted and (answer.status, answer.text) == ("answered", STORY["ANSWER"])
        (asked,) = [record for record in sink.records if record["kind"] == "graph_queried"]
        assert asked["rows"] == [{"n": 20, "m": 20}]
        written = [record for record in sink.records if record["kind"] == "graph_written"]
        assert len(written) == 20 and not any(record["error"] for record in written)


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
