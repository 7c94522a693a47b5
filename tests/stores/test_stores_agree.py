"""One task and one knowledge in every store: the same answer, the same graph."""

from __future__ import annotations

import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kgot_core.contracts.backend import Call, GraphScope, OpenContext
from kgot_core.graph.elements import GraphChange, GraphSnapshot, change_from_json
from kgot_core.graph.fold import TaskGraph
from kgot_core.sandboxes.providers import MONTY, MontySettings
from kgot_core.sinks.memory import MemorySink
from kgot_networkx.plugin import kgot_graph_backends

TESTS = Path(__file__).parents[1]
STORY = runpy.run_path(str(TESTS / "fixtures" / "library" / "story.py"))
LANGUAGES = {"networkx": "python", "neo4j": "cypher", "rdf": "sparql", "rdf-remote": "sparql"}
NOTE = 'the "old" hill – Ålder'
NODES = [
    (("Hill",), {"name": "Alderkop", "height_m": 700, "area_km2": 3.25, "wooded": True, "note": NOTE}),
    (("Hill",), {"name": "Birkfell", "height_m": 450}),
    (("River",), {"name": "Ilva"}),
]
EDGES = [("Alderkop", "HIGHER_THAN", "Birkfell", {"by_m": 250}), ("Ilva", "RISES_AT", "Alderkop", {})]


def in_networkx(snapshot: GraphSnapshot) -> GraphSnapshot:
    """Gives the graph as the store of NetworkX holds it."""
    (provider,) = kgot_graph_backends()
    backend = provider.open(provider.settings(), OpenContext(GraphScope("converted"), MONTY.open(MontySettings())))
    backend.apply(GraphChange(added=tuple(snapshot.elements())), Call("all"))
    found = backend.snapshot()
    backend.close()
    return found


def content(snapshot: GraphSnapshot) -> tuple[list[Any], list[Any]]:
    """Gives a graph without the ids and keys of its store."""
    names = {node.id: node.properties["name"] for node in snapshot.nodes}
    nodes = [(node.labels, dict(node.properties)) for node in snapshot.nodes]
    edges = [(names[edge.source], edge.type, names[edge.target], dict(edge.properties)) for edge in snapshot.edges]
    return sorted(nodes, key=repr), sorted(edges, key=repr)


@pytest.mark.parametrize("solver", ["query", "direct"])
@pytest.mark.parametrize("form", ["statements", "facts"])
@pytest.mark.parametrize(
    "backend",
    [
        "networkx",
        "rdf",
        pytest.param("rdf-remote", marks=pytest.mark.xdist_group("sparql")),
        pytest.param("neo4j", marks=pytest.mark.xdist_group("neo4j")),
    ],
)
async def test_the_same_knowledge_gives_the_same_answer_and_the_same_graph(
    backend: str, form: str, solver: str, settings_of: Callable[[str], dict[str, Any]]
) -> None:
    story, sink, graph = STORY["knowing"](LANGUAGES[backend], solver), MemorySink(), TaskGraph()
    told = {"backend": backend, "solver": solver, "extract.form": form, **settings_of(backend)}
    async with STORY["opened"](story, told, sinks=[sink]) as session:
        answer = await session.solve(STORY["QUESTION"])
    assert (answer.text, answer.status, answer.how) == (STORY["ANSWER"], "answered", f"voted {solver}")
    assert [item.element[-2:] for item in answer.evidence] == ["n1", "n2"]
    assert ["700" in item.text for item in answer.evidence] == [True, False]
    written = [record for record in sink.records if record["kind"] == "graph_written"]
    assert [record["error"] for record in written] == ["", ""]
    for record in written:
        graph.apply(change_from_json(record["change"]))
    assert content(graph.snapshot()) == (sorted(NODES, key=repr), sorted(EDGES, key=repr))
    assert content(in_networkx(graph.snapshot())) == content(graph.snapshot())
    assert not any(value in str(sink.records) for name, value in told.items() if name.endswith(".password"))
    assert "repair" not in story.asked and story.asked.count("extract") + story.asked.count("facts") == 2
