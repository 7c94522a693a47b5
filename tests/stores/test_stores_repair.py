"""Statements that a real store refuses go back with its words, and the repaired ones arrive once."""

from __future__ import annotations

import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kgot_core.graph.elements import change_from_json
from kgot_core.graph.fold import TaskGraph
from kgot_core.sinks.memory import MemorySink

STORY = runpy.run_path(str(Path(__file__).parents[1] / "fixtures" / "library" / "story.py"))
NEO4J = pytest.mark.xdist_group("neo4j")
SPARQL = pytest.mark.xdist_group("sparql")
TWICE = (
    'MERGE (film:Film {title: "The Lantern"}) MERGE (star:Person {name: "Nora Vale"}) '
    'MERGE (star:Person {name: "Ida Moss"}) MERGE (film)-[:STARRING]->(star)'
)
ONCE = TWICE.replace('(star:Person {name: "Ida', '(s2:Person {name: "Ida') + " MERGE (film)-[:STARRING]->(s2)"
FILM = "MERGE (f:Film {title: 'The Lantern'})"
ACTOR = "MERGE (a1:Actor {name: 'Nora Vale'})"
STARRING = "MERGE (f)-[:STARRING]->(a1)"
COMMA = 'INSERT DATA { :Lantern rdf:type :Film; :title "The Lantern"; :starring :NoraVale :IdaMoss; :year :1952; }'
QUOTE = 'INSERT DATA { <http://kg.example/q1> <http://kg.example/text> "He said "go"\nand left\\." . }'
BLANK = 'INSERT DATA { _:f a :Film ; :name "The Lantern" } ; INSERT DATA { _:f :starring :Nora }'
ALL_SPARQL = [
    # Blocks of the first reply; which one goes back; the error; its repair; nodes and edges at the end.
    pytest.param(
        [COMMA], 0, f"column {COMMA.index(':IdaMoss') + 1}", COMMA.replace("Vale :Ida", "Vale, :Ida"), 4, 3, id="D55"
    ),
    pytest.param([QUOTE], 0, "line 1, column", QUOTE.replace('"go"', '\\"go\\"'), 1, 0, id="D19"),
    pytest.param(["SELECT ?s { ?s :p ?o }"], 0, "nothing was written", "INSERT DATA { :a :p 1 }", 1, 0, id="D20"),
    pytest.param(
        ["INSERT DATA { ex:Turku ex:pop 200000 }"],
        0,
        "the prefix ex: is not declared",
        "INSERT DATA { :Turku :pop 200000 }",
        1,
        0,
        id="D17",
    ),
    pytest.param([BLANK], 0, "_:f of an earlier operation", BLANK.replace("_:f", ":f"), 2, 1, id="D53"),
]
ALL_CYPHER = [
    pytest.param([TWICE], 0, "Variable `star` already declared", ONCE, 3, 2, id="D54"),
    pytest.param([FILM, ACTOR, STARRING], 2, "f and a1 are not bound", f"{FILM} {ACTOR} {STARRING}", 2, 1, id="D53"),
    pytest.param(
        ["CALL apoc.merge.node(['City'],{name:'Turku'}) YIELD node RETURN node"],
        0,
        "the procedure apoc.merge.node is not available here",
        "MERGE (c:City {name: 'Turku'})",
        1,
        0,
        id="D16",
    ),
    pytest.param(
        ["MERGE (g:Game {name: 'the boys' hut})"],
        0,
        "Invalid input",
        'MERGE (g:Game {name: "the boys\' hut"})',
        1,
        0,
        id="D09",
    ),
    pytest.param(
        ["MERGE (a:Tag {t: 'x;y'}); MERGE (c:Tag {t: })"],
        0,
        "statement 2",
        "MERGE (a:Tag {t: 'x;y'}); MERGE (c:Tag {t: 'z'})",
        2,
        0,
        id="D11",
    ),
]


async def check(
    settings: dict[str, Any],
    language: str,
    blocks: list[str],
    at: int,
    error: str,
    repaired: str,
    nodes: int,
    edges: int,
) -> None:
    story: Any = None
    prompts: list[str] = []

    def repair(prompt: str) -> str:
        prompts.append(prompt)
        return f"```{language}\n{repaired}\n```"

    def decide(prompt: str) -> str:
        return "SOLVE\nIt is there.\n```\n250 metres\n```\nBASIS: x" if "extract" in story.asked else STORY["ENHANCE"]

    told = "\n".join(f"```{language} r1\n{block}\n```" for block in blocks)
    story, sink, graph = STORY["quick"](extract=told, repair=repair, decide=decide), MemorySink(), TaskGraph()
    told_settings = {"solver": "direct", "extract.form": "statements", "loop.max_iterations": 2, **settings}
    async with STORY["opened"](story, told_settings, sinks=[sink]) as session:
        await session.solve(STORY["QUESTION"])
    for record in sink.records:
        if record["kind"] == "graph_written" and not record["error"]:
            graph.apply(change_from_json(record["change"]))
    assert len(prompts) == 1 and error in prompts[0] and blocks[at] in prompts[0]
    assert (len(graph.nodes), len(graph.edges)) == (nodes, edges)


@pytest.mark.parametrize("backend", ["rdf", pytest.param("rdf-remote", marks=SPARQL)])
@pytest.mark.parametrize(("blocks", "at", "error", "repaired", "nodes", "edges"), ALL_SPARQL)
async def test_sparql(
    backend: str,
    settings_of: Callable[[str], dict[str, Any]],
    blocks: Any,
    at: Any,
    error: Any,
    repaired: Any,
    nodes: Any,
    edges: Any,
) -> None:
    settings = {"backend": backend, **settings_of(backend)}
    await check(settings, "sparql", blocks, at, error, repaired, nodes, edges)


@NEO4J
@pytest.mark.parametrize(("blocks", "at", "error", "repaired", "nodes", "edges"), ALL_CYPHER)
async def test_cypher(
    settings_of: Callable[[str], dict[str, Any]],
    blocks: Any,
    at: Any,
    error: Any,
    repaired: Any,
    nodes: Any,
    edges: Any,
) -> None:
    settings = {"backend": "neo4j", **settings_of("neo4j")}
    await check(settings, "cypher", blocks, at, error, repaired, nodes, edges)
