"""A scripted model that writes what a real small one wrote, with all its kinds of fault, on the real store."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import pytest

from kgot_core.run.stages.extract import FACTS_NOTICE

QUESTION = "Who directed the film in which Nora Vale plays the keeper?"
PAGE = (
    "The Lantern is a film of 1952. It was directed by Ola Brandt. "
    'Nora Vale ("the Star") plays the keeper, Ida Moss his sister.'
)
# What every reply below has to leave in the graph, at the least.
WANTED = {("The Lantern", "Ola Brandt"), ("The Lantern", "Nora Vale")}

PLAIN = """I will add the nodes and edges to the graph.

```python
import networkx as nx
G = nx.MultiDiGraph()
G.add_node('The Lantern', label='film', name='The Lantern', year=1952)
G.add_edge('The Lantern', 'Ola Brandt', type='director')
G.add_edge('The Lantern', 'Nora Vale', type='starring')
print(G.nodes(data=True))
```
This code adds the film and its people."""
TEXT_IN_NAME = """```python r1
G.add_node("The Lantern", label="Film", name="The Lantern")
G.add_node("Directed by Ola Brandt", label="Director", name="Ola Brandt")
G.add_edge("The Lantern", "Directed by Ola Brandt", type="DIRECTED_BY")
G.add_edge("The Lantern", "Nora Vale", type="STARRING", role="the keeper")
```"""
NO_TYPE = """```python
G.add_node("The Lantern", label="Film", name="The Lantern")
G.add_node("Ola Brandt")
G.add_node("Nora Vale", name="Nora Vale")
G.add_edge("The Lantern", "Ola Brandt")
G.add_edge("The Lantern", "Nora Vale", "STARRING")
```"""
QUOTES = """```python r1
G.add_node('The Lantern', label='Film', name='The Lantern')
G.add_node('Nora Vale ('the Star')', label='Person', name='Nora Vale ('the Star')')
G.add_edge('The Lantern', 'Ola Brandt', type='DIRECTED_BY')
```"""
VARIABLES = """```python r1
film = G.add_node("The Lantern", label="Film")
G.add_edge(film, director, type="DIRECTED_BY")
```"""
CYPHER = """```cypher
MERGE (film:Film {title: "The Lantern"}) MERGE (star:Person {name: "Ola Brandt"})
MERGE (star:Person {name: "Nora Vale"})
MERGE (film)-[:STARRING]->(star)
```"""
JSON = """Here are the queries: {"queries": ["<cypher 1>", "<cypher 2>"]}

1. First the film.

```cypher
{"queries": ["MERGE (f:Film {title: 'The Lantern'})"]}
```
That is all."""
TRIPLES = """```json
[["The Lantern", "directed by", "Ola Brandt"], ["The Lantern", "starring", "Nora Vale"]]
```"""
SENTENCE = "The film The Lantern (1952) was directed by Ola Brandt and stars Nora Vale and Ida Moss."
FACTS = """Here are the facts:

```facts r1
(Film: The Lantern) year = 1952
(Film: The Lantern) -[DIRECTED_BY]-> (Ola Brandt)
(Film: The Lantern) -[STARRING role="the keeper"]-> (Person: Nora Vale)
(Film: The Lantern) -[STARRING]-> Ida Moss
The Lantern is a well known film.
(Label: name) -[RELATION k=v]-> (Label: name)
(Lighthouse: Skerry Point) height_m = 41, built = 1887
```"""
BARE_FACTS = """- (Film: The Lantern) -[DIRECTED_BY]-> (Person: Ola Brandt)
- (Film: The Lantern) -[STARRING]-> (Person: Nora Vale)
- (Person: Nora Vale) name = Nora Vale"""
PIPES = """The Lantern | directed by | Ola Brandt
The Lantern | starring | Nora Vale
The Lantern | released in | 1952"""


def _pairs(done: Any) -> set[tuple[str, str]]:
    return {(source, target) for source, _, target in done.edges}


async def _run(kit: ModuleType, extract: Any, facts: Any = FACTS, **more: Any) -> Any:
    return await kit.solve(
        question=QUESTION,
        backend="networkx",
        settings={"loop.max_iterations": 1, **more.pop("settings", {})},
        decide="ENHANCE\nThe graph says nothing about the Ostrel bell, so both its giver and the year are missing.",
        choose='```json\n{\n  "name": "ask_llm",\n  "arguments": {"question": "Who directed The Lantern?"}\n}\n```',
        ask_llm=PAGE,
        extract=extract,
        facts=facts,
        repair="The error says that the name is not defined. You should define it before you use it.",
        retrieve="```python\nresult = G.nodes['The Lantern']['director']\n```",
        direct="```\nOla Brandt\n```\nBASIS: Ola Brandt",
        parse="VALUE: Ola Brandt\nThe film was directed by Ola Brandt.",
        **more,
    )


@pytest.mark.parametrize("reply", [PLAIN, TEXT_IN_NAME, NO_TYPE], ids=["edges only", "relation in name", "no type"])
async def test_python_that_can_be_run_is_written_without_bare_nodes(kit: ModuleType, reply: str) -> None:
    done = await _run(kit, reply)
    assert _pairs(done) >= WANTED
    assert all(properties for properties in done.nodes.values())
    assert not done.notices and "facts" not in done.stages
    assert done.answer.status == "answered"


@pytest.mark.parametrize(
    "reply",
    [QUOTES, VARIABLES, CYPHER, JSON, SENTENCE, PLAIN[:200]],
    ids=["quotes", "undefined names", "another language", "json in a fence", "a sentence", "never closed"],
)
async def test_python_that_cannot_be_mended_ends_as_facts(kit: ModuleType, reply: str) -> None:
    done = await _run(kit, reply)
    assert _pairs(done) >= WANTED
    assert done.nodes["The Lantern"]["year"] == 1952
    assert "Skerry Point" not in done.nodes and "name" not in done.nodes and "Grebe Ostrand" not in done.nodes
    assert ("Ida Moss" in done.nodes) and done.notices == [FACTS_NOTICE]
    assert done.answer.status == "answered" and done.answer.text == "The film was directed by Ola Brandt."
    # Neither a bare node nor half a block is left of what failed.
    assert all(properties for properties in done.nodes.values())


async def test_a_reply_that_was_cut_off_and_then_shorter(kit: ModuleType) -> None:
    cut = kit.cut(f"{TEXT_IN_NAME}\n```python r1\nG.add_node('Ida Moss', label='Per")
    done = await _run(kit, cut, rest="```python r1\nG.add_node('Ida Moss', label='Person', name='Ida Moss')\n```")
    assert _pairs(done) >= WANTED and "Ida Moss" in done.nodes and not done.notices


@pytest.mark.parametrize(
    "facts", [FACTS, BARE_FACTS, PIPES, TRIPLES], ids=["faults", "bullets", "pipes", "json triples"]
)
async def test_facts_with_all_faults(kit: ModuleType, facts: str) -> None:
    done = await _run(kit, "", facts=facts, settings={"extract.form": "facts"})
    assert _pairs(done) >= WANTED, done.of("statement_dropped")
    assert done.answer.status == "answered"


async def test_a_copy_of_the_examples_writes_nothing(kit: ModuleType) -> None:
    from kgot_core.reading.blocks import read_blocks
    from kgot_core.run.prompting.prompts import Prompts
    from kgot_networkx.dialect import dialect

    statements = "\n".join(f"```python r1\n{text}\n```" for text in dialect("full").write_examples)
    example = "\n".join(block.text for block in read_blocks(Prompts().text("extract_facts")))
    done = await _run(kit, statements, facts=f"```facts r1\n{example}\n```")
    assert not done.nodes and done.answer.status == "no_solution"
    assert "repeats the prompt's example" in done.of("statement_dropped")[0]["error"]
    assert done.of("voted")[0]["counts"] == {}


async def test_a_run_ends_whatever_the_model_writes(kit: ModuleType) -> None:
    for text in (
        "",
        "```",
        "<think>",
        "SOLVE ENHANCE",
        "{",
        "NOTHING MISSING NONE NO",
        "lorem ipsum " * 400,
        "\x00\ud800",
    ):
        answers = dict.fromkeys(
            (
                "decide",
                "choose",
                "choose_again",
                "ask_llm",
                "extract",
                "facts",
                "rest",
                "repair",
                "retrieve",
                "direct",
                "compute",
                "mend_code",
                "parse",
            ),
            text,
        )
        done = await kit.solve(backend="networkx", settings={"loop.max_iterations": 2}, **answers)
        assert done.answer.status in ("answered", "no_solution"), (text, done.answer)
        assert done.answer.iterations <= 2
