"""Copies of the prompt's examples are recognised, and honest replies are not taken for them (case D58)."""

from __future__ import annotations

import importlib
from typing import Any

import pytest

from kgot_core.contracts.dialect import Dialect
from kgot_core.run.prompting.examples import (
    ENHANCE_REASON,
    copies_decision,
    copies_facts,
    copies_query,
    copies_write,
    decide_examples,
    invented_facts,
)
from kgot_core.run.prompting.prompts import Prompts


@pytest.fixture(
    params=[("kgot_networkx", ("full",)), ("kgot_neo4j", ()), ("kgot_rdf", ("http://kg.example/",))],
    ids=lambda item: item[0],
)
def dialect(request: pytest.FixtureRequest) -> Dialect:
    package, arguments = request.param
    found = pytest.importorskip(package)
    made: Dialect = importlib.import_module(f"{found.__name__}.dialect").dialect(*arguments)
    return made


@pytest.fixture
def python() -> Dialect:
    from kgot_networkx.dialect import dialect as networkx_dialect

    return networkx_dialect("full")


def test_the_examples_of_every_backend_are_recognised(dialect: Dialect) -> None:
    forms: tuple[Any, ...] = ("query", "direct")
    for form in forms:
        for example in decide_examples(dialect, form):
            assert copies_decision(example.reply, dialect)
            assert copies_decision(f"<think>Let me see.</think>\n{example.reply.upper()}", dialect)
    for text in dialect.write_examples:
        assert copies_write(text, dialect, "what the task says")
        assert copies_write(f"{text}\n", dialect, "")
    for shown in dialect.query_examples:
        assert copies_query(f"  {shown.query}\n", dialect)
        assert copies_decision(f"SOLVE\nIt is all there.\n```{dialect.fence}\n{shown.query}\n```", dialect)


@pytest.mark.parametrize(
    "reply",
    [
        f"ENHANCE\n{ENHANCE_REASON}",
        f"ENHANCE\nReason: {ENHANCE_REASON.lower()}",
        "ENHANCE\nThe graph says nothing about the Ostrel bell, so both its giver and the year are still missing.",
        "SOLVE\nWhat the task asks is held by North Tower and South Tower.\n```\n2\n```",
        "SOLVE\nThe height is there.\n```\n61\n```\nBASIS: North Tower | Quillmark Abbey",
    ],
)
def test_decisions_that_repeat_an_example(python: Dialect, reply: str) -> None:
    assert copies_decision(reply, python)


@pytest.mark.parametrize(
    "reply",
    [
        "ENHANCE\nThe graph says nothing about the river Ulmet, so both its length and its source are missing.",
        "ENHANCE\nThe year in which the bell of the cathedral was cast is missing.",
        "SOLVE\nWhat the task asks is held by the nodes Veder and Ulmet.\n```\n61\n```\nBASIS: Veder | Ulmet",
        "SOLVE\nThe heights are held by North Tower.\n```\n417\n```\nBASIS: North Tower | World Trade Center",
        "SOLVE\nIt is there.\n```\n2\n```\nBASIS: Skerry",
        'SOLVE\nAll is there.\n```python\ntowers = [d for _, d in G.nodes(data=True) if d.get("label") == "Tower"]\n'
        'result = [{"heights": [d.get("height_m") for d in towers]}]\n```',
        'SOLVE\nIt is there.\n```python\nresult = [\n    {"wheel": wheel, "size": G.nodes[wheel].get("size")}\n'
        '    for _, wheel, d in G.out_edges("The Car", data=True)\n    if d["type"] == "HAS_PART"\n]\n```',
        "SOLVE",
        "",
    ],
)
def test_honest_decisions(python: Dialect, reply: str) -> None:
    assert not copies_decision(reply, python)


@pytest.mark.parametrize(
    "statement",
    [
        'G.add_node("Quillmark Abbey", label="Building", built=1300)\nG.add_node("Odo Vantreck", label="Monk")',
        'G.add_edge("Odo Vantreck", "Quillmark Abbey", type="BUILT", years=12)',
    ],
)
def test_writes_that_speak_of_the_examples_things(python: Dialect, statement: str) -> None:
    assert copies_write(statement, python, "how deep is the lake?")
    assert not copies_write(
        statement.replace("years=12", "since=1200").replace("BUILT", "LEFT"),
        python,
        "odo vantreck left quillmark abbey",
    )


@pytest.mark.parametrize(
    "statement",
    [
        'G.add_node("North Tower", label="Tower", height_m=417)\n'
        'G.add_edge("World Trade Center", "North Tower", type="HAS_PART")',
        'G.add_node("Veder", label="Lake", depth_m=61)',
        'for name, height in [("Veder", 61), ("Orm", 58)]:\n    G.add_node(name, label="Lake", depth_m=height)\n'
        '    G.add_edge("Basin", name, type="HAS_PART")',
    ],
)
def test_honest_writes(python: Dialect, statement: str) -> None:
    assert not copies_write(statement, python, "how deep is the lake?")


def test_honest_queries(python: Dialect) -> None:
    for query in (
        'towers = [d for _, d in G.nodes(data=True) if d.get("label") == "Tower"]\nresult = [{"count": len(towers)}]',
        'result = [{"height": G.nodes["North Tower"].get("height_m")}]',
        "result = [{'n': len(G)}]",
    ):
        assert not copies_query(query, python)


def test_facts_about_invented_things_are_known_unless_the_task_names_them() -> None:
    prompt = Prompts().text("extract_facts")
    invented = invented_facts(prompt, "how deep is lake veder?")
    assert invented == {"skerry point", "odo marsh", "velby"}
    assert copies_facts("(Lighthouse: Skerry Point) height_m = 50", invented)
    assert copies_facts("(KEEPER: odo marsh) born = 1870", invented)
    assert not copies_facts("(Lighthouse: Cape Wrath) height_m = 41, built = 1887", invented)
    assert not copies_facts("(Keeper: Ada) -[TENDED from=1902, to=1919]-> (Lighthouse: Cape Wrath)", invented)
    assert invented_facts(prompt, "the result says that skerry point is lit") == {"odo marsh", "velby"}
