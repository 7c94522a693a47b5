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


CASES = [
    pytest.param(backend, language, *case.values, id=f"{case.id}-{backend}", marks=pytest.mark.xdist_group(group))
    for backend, language, group, cases in (
        ("rdf", "sparql", "rdf", ALL_SPARQL),
        ("rdf-remote", "sparql", "sparql", ALL_SPARQL),
        ("neo4j", "cypher", "neo4j", ALL_CYPHER),
    )
    for case in cases
]


@pytest.mark.parametrize(("backend", "language", "blocks", "at", "error", "repaired", "nodes", "edges"), CASES)
async def test_a_refused_statement_goes_back_once_and_its_repair_arrives(
    settings_of: Callable[[str], dict[str, Any]],
    backend: str,
    language: str,
    blocks: list[str],
    at: int,
    error: str,
    repaired: str,
    nodes: int,
    edges: int,
) -> None:
    prompts: list[str] = []

    def repair(prompt: str) -> str:
        prompts.append(prompt)
        return f"```{language}\n{repaired}\n```"

    def decide(prompt: str) -> str:
        solve = "SOLVE\nIt is there.\n```\n250 metres\n```\nBASIS: x"
        return solve if "extract" in story.asked else str(STORY["ENHANCE"])

    extract = "\n".join(f"```{language} r1\n{block}\n```" for block in blocks)
    story, sink, graph = STORY["quick"](extract=extract, repair=repair, decide=decide), MemorySink(), TaskGraph()
    told = {"backend": backend, "solver": "direct", "extract.form": "statements", "loop.max_iterations": 2}
    async with STORY["opened"](story, {**told, **settings_of(backend)}, sinks=[sink]) as session:
        await session.solve(STORY["QUESTION"])
    for record in sink.records:
        if record["kind"] == "graph_written" and not record["error"]:
            graph.apply(change_from_json(record["change"]))
    assert len(prompts) == 1 and error in prompts[0] and blocks[at] in prompts[0]
    assert (len(graph.nodes), len(graph.edges)) == (nodes, edges)
