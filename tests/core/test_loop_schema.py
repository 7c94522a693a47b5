"""A schema that the user gives: told to the model, and held for statements and facts alike."""

from __future__ import annotations

import json
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

SCHEMA = {"nodes": {"Lake": ["depth_m"], "River": []}, "edges": {"FEEDS": {"from": "Lake", "to": "River"}}}
GOOD = (
    '```python r1\nG.add_node("Veder", label="Lake", name="Veder", depth_m=61)\nG.add_node("Ulmet", label="River")\n'
    'G.add_edge("Veder", "Ulmet", type="FEEDS")\n```'
)
BAD = GOOD.replace('"River"', '"Rivers"')
FACTS = (
    "```facts r1\n(Lake: Veder) depth_m = 61\n(Lake: Veder) -[FEEDS]-> (Stream: Ulmet)\n"
    "(Lake: Veder) colour = blue\n```"
)


@pytest.fixture
def schema(tmp_path: Path) -> dict[str, Any]:
    path = tmp_path / "schema.json"
    path.write_text(json.dumps(SCHEMA))
    return {"graph.schema": str(path), "loop.max_iterations": 1}


async def test_statements_of_a_wrong_type_go_back_with_the_message(kit: ModuleType, schema: dict[str, Any]) -> None:
    done = await kit.solve(
        backend="networkx", settings=schema, decide=kit.ENHANCE, extract=BAD, repair=GOOD, retrieve="no"
    )
    rules = done.at("decide")[0].request.messages[0].text
    assert (
        "<allowed_types>\nnode Lake with depth_m\nnode River\nedge FEEDS from Lake to River\n</allowed_types>" in rules
    )
    assert "(Rivers: Ulmet): the label Rivers is not allowed; use River" in done.at("repair")[0].tail
    assert done.edges == [("Veder", "FEEDS", "Ulmet")] and set(done.nodes) == {"Veder", "Ulmet"}
    refused, written = done.of("graph_written")
    assert refused["error"] and not refused["change"] and not written["error"]


async def test_facts_of_a_wrong_type_cost_only_themselves_and_go_back(kit: ModuleType, schema: dict[str, Any]) -> None:
    done = await kit.solve(
        backend="networkx",
        settings={**schema, "extract.form": "facts"},
        decide=kit.ENHANCE,
        facts=FACTS,
        refused=kit.turns(
            "```facts\n(Lake: Veder) -[FEEDS]-> (River: Ulmet)\n(Lake: Veder) colour = grey\n```", "NOTHING"
        ),
    )
    first, second = (asked.tail for asked in done.at("refused"))
    assert (
        "(Lake: Veder) -[FEEDS]-> (Stream: Ulmet)\n  refused:" in first and "the label Stream is not allowed" in first
    )
    assert "the property colour is not allowed" in first and "depth_m = 61" not in first
    assert (
        'colour = "grey"' in second and "FEEDS" not in second.partition("<refused_facts>")[2].partition("<request>")[0]
    )
    assert done.edges == [("Veder", "FEEDS", "Ulmet")] and done.nodes["Veder"] == {"name": "Veder", "depth_m": 61}
    assert all(record["sources"] == ["1/enhance/tools/1"] for record in done.of("graph_written"))


async def test_facts_that_stay_wrong_are_passed_over(kit: ModuleType, schema: dict[str, Any]) -> None:
    settings = {**schema, "extract.form": "facts"}
    same = "(Lake: Veder) colour = blue"
    done = await kit.solve(settings=settings, decide=kit.ENHANCE, facts=same, refused=same)
    assert done.stages.count("refused") == 1 and not done.nodes
    assert [record["statement"] for record in done.of("statement_dropped")] == ['(Lake: Veder) colour = "blue"']
    other = await kit.solve(
        settings=settings,
        decide=kit.ENHANCE,
        facts=same,
        refused=lambda asked: f"(Lake: Veder) colour = blue{asked.number}",
    )
    assert other.stages.count("refused") == 3
    none = await kit.solve(settings={**settings, "loop.max_query_fixing_retry": 0}, decide=kit.ENHANCE, facts=same)
    assert none.stages.count("refused") == 0 and len(none.of("statement_dropped")) == 1
