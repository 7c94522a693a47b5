"""Runs that start from a graph, go on with a database, or ask it, on the real server."""

from __future__ import annotations

import math
import runpy
from pathlib import Path
from typing import Any

import pytest

from kgot_core.errors import UsageError
from kgot_core.graph.elements import Edge, GraphSnapshot, Node
from kgot_core.plugins import PluginRegistry
from kgot_core.run.record.folder import read_records
from kgot_core.session.compare import difference
from kgot_core.session.replay import replay_run
from kgot_core.sinks.memory import MemorySink

pytestmark = pytest.mark.xdist_group("neo4j")
STORY = runpy.run_path(str(Path(__file__).parents[3] / "tests" / "fixtures" / "library" / "story.py"))
GONE_ON = runpy.run_path(str(Path(__file__).parents[3] / "tests" / "fixtures" / "library" / "gone_on.py"))
ASK = {"strategy": "ask_graph"}
QUERY = "MATCH (h:Hill) RETURN h.name AS hill, h.height_m AS metres"
HILLS = GraphSnapshot(
    (
        Node("n1", ("Hill",), {"name": "Alderkop", "height_m": 700}),
        Node("n2", ("Hill",), {"name": "Birkfell", "height_m": 450}),
    ),
    (Edge("e1", "HIGHER_THAN", "n1", "n2"),),
)


def story(mark: str, *hills: tuple[str, int]) -> Any:
    """Writes hills, and solves once the mark is in the graph."""
    text = "\n".join(f"MERGE ({name}:Hill {{name: '{name}'}}) SET {name}.height_m = {m}" for name, m in hills)
    solve = f"SOLVE\nIt is there.\n```cypher\n{QUERY}\n```"
    return STORY["quick"](
        decide=lambda prompt: solve if mark in prompt else STORY["ENHANCE"],
        extract=f"```cypher r1\n{text}\n```",
        retrieve=f"```cypher\n{QUERY}\n```",
    )


@pytest.fixture
def keys(settings: Any, opened: Any) -> dict[str, Any]:
    """Settings of a run on the server, whose database is empty."""
    opened().backend.close()
    given = settings()
    return {
        "backend": "neo4j",
        "backends.neo4j.uri": given.uri,
        "backends.neo4j.password": given.password,
        "backends.neo4j.existing": "refuse",
    }


async def run(told: Any, settings: dict[str, Any], **options: Any) -> Any:
    async with STORY["opened"](told, settings, **options) as session:
        return await session.solve(STORY["QUESTION"])


async def test_runs_grow_a_database_and_ask_it(keys: dict[str, Any]) -> None:
    first = await run(story("Alderkop", ("Alderkop", 700), ("Birkfell", 450)), keys, keep_graph=True)
    assert (first.status, first.iterations) == ("answered", 1), first
    second = await run(story("Cairnmoor", ("Cairnmoor", 900)), keys, keep_graph=True)
    assert (second.status, second.iterations) == ("answered", 1) and len(second.evidence) == 3, second
    forgot = await run(story("-"), keys)
    assert forgot.status == "failed" and "--keep-graph" in forgot.reason
    asked = await run(story("-"), {**keys, **ASK}, keep_graph=True)
    assert (asked.status, asked.how, len(asked.evidence)) == ("answered", "forced query", 3)
    given = GraphSnapshot((Node("n1", ("Hill",), {"name": "Dunmere", "height_m": 120}), HILLS.nodes[1]))
    third = await run(story("Dunmere"), keys, keep_graph=True, graph=given)
    assert (third.status, third.iterations, len(third.evidence)) == ("answered", 0, 4), third
    again = await run(story("Dunmere"), {**keys, **ASK}, keep_graph=True)
    assert len(again.evidence) == 4


async def test_a_run_starts_from_a_graph_and_is_repeated_without_it(keys: dict[str, Any], tmp_path: Path) -> None:
    answer = await run(story("Alderkop"), keys, graph=HILLS, runs=tmp_path)
    assert (answer.status, answer.iterations) == ("answered", 0), answer
    assert {item.sources for item in answer.evidence} == {("graph",)}
    registry = PluginRegistry()
    registry.load()
    sink = MemorySink()
    await replay_run(registry, answer.folder, env={}, sinks=[sink])
    assert difference(read_records(answer.folder), sink.records) is None
    # What a run was only given, and did not keep, is no burden for the next one.
    asked = await run(story("-"), {**keys, **ASK}, graph=HILLS)
    assert (asked.status, asked.how) == ("answered", "forced query")


async def test_what_the_store_cannot_hold_is_named_before_the_first_request(keys: dict[str, Any]) -> None:
    told = story("-")
    graph = GraphSnapshot((Node("n1", ("Hill",), {"name": "Alderkop", "height_m": math.nan}),))
    answer = await run(told, keys, graph=graph)
    assert answer.status == "failed" and not told.asked
    assert answer.reason.startswith("the store cannot take the graph passed in code: ")
    assert "Alderkop" in answer.reason and "\n" not in answer.reason


async def test_a_name_for_a_graph_is_refused(keys: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match=r"whole database.*backends\.neo4j\.database=NAME"):
        await run(story("-"), {**keys, "graph.name": "hills"}, keep_graph=True)


@pytest.mark.parametrize("kind", ["given", "kept", "unrecorded"])
async def test_a_run_that_was_broken_off_goes_on(kind: str, keys: dict[str, Any], tmp_path: Path) -> None:
    await GONE_ON[kind](tmp_path, keys, story)
