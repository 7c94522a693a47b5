"""How what tools brought gets into the graph: statements, facts, and the way from one to the other."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import pytest

from kgot_core.run.stages.extract import FACTS_NOTICE

ONE = {"loop.max_iterations": 1}
FACTS = "```facts r1\n(Lake: Veder) depth_m = 61\n(Lake: Veder) -[FEEDS]-> (River: Ulmet)\n```"
BAD = "```words r1\nMAKE lake\n```"


async def run_once(kit: ModuleType, extract: Any, **more: Any) -> Any:
    return await kit.solve(settings={**ONE, **more.pop("settings", {})}, decide=kit.ENHANCE, extract=extract, **more)


def dropped(done: Any) -> list[tuple[str, str]]:
    return [(record["statement"], record["error"]) for record in done.of("statement_dropped")]


async def test_blocks_are_written_each_by_itself_and_equal_ones_once(kit: ModuleType) -> None:
    store = kit.Words()
    lake, river = f"```words r1\n{kit.LAKE}\n```", '```words r1\nNODE River "Ulmet"\n```'
    text = f"First the lake.\n{lake}\nThen:\n{river}\n```words\n{kit.LAKE}\n\n```"
    done = await run_once(kit, text, backend=store)
    assert store.written == [kit.LAKE, 'NODE River "Ulmet"']
    assert [record["step"] for record in done.of("graph_written")] == [
        "1/enhance/extract/statements/reply/1/run-0",
        "1/enhance/extract/statements/reply/2/run-0",
    ]
    assert '"Ulmet" :River' in done.at("retrieve")[0].tail


async def test_a_block_that_fails_is_mended_and_keeps_its_source(kit: ModuleType) -> None:
    text = '```words task\nNODE Lake Veder\n```\n```words r1\nNODE River "Ulmet"\n```'
    done = await run_once(kit, text, repair=f"Sorry.\n```words\n{kit.LAKE}\n```")
    assert done.stages.count("repair") == 1
    tail = done.at("repair")[0].tail
    assert '<failed_statement purpose="write">\nNODE Lake Veder\n</failed_statement>' in tail
    assert "line 1, column 1: unknown statement 'NODE'" in tail
    good = [record for record in done.of("graph_written") if not record["error"]]
    assert [record["sources"] for record in good] == [["1/enhance/tools/1"], ["task"]]
    assert done.nodes.keys() == {"Ulmet", "Veder"} and not dropped(done) and not done.notices


async def test_a_block_that_needs_a_mended_one_is_run_again_before_it_is_mended(kit: ModuleType) -> None:
    text = '```words\nNODE Lake Veder\n```\n```words\nEDGE "Veder" IS "Veder"\n```'
    done = await run_once(kit, text, repair=f"```words\n{kit.LAKE}\n```")
    assert done.stages.count("repair") == 1
    assert done.edges == [("Veder", "IS", "Veder")]


async def test_in_auto_a_block_beyond_repair_leads_to_facts_for_the_rest_of_the_run(kit: ModuleType) -> None:
    done = await kit.solve(
        settings={"loop.max_iterations": 3},
        decide=kit.ENHANCE,
        choose=lambda asked: kit.calls(kit.call("ask_llm", question=f"Question {asked.number}")),
        extract=f'{BAD}\n```words r1\nNODE River "Ulmet"\n```',
        repair="```words\nMAKE it\n```",
        facts=kit.turns(FACTS, "```facts r1\n(River: Ulmet) length_km = 200\n```", "NOTHING"),
    )
    assert [stage for stage in done.stages if stage in ("extract", "facts")] == ["extract", "facts", "facts", "facts"]
    assert done.notices == [FACTS_NOTICE]
    assert dropped(done) == [("MAKE it", "line 1, column 1: unknown statement 'MAKE'")]
    assert done.nodes == {"Ulmet": {"name": "Ulmet", "length_km": 200}, "Veder": {"name": "Veder", "depth_m": 61}}
    assert done.edges == [("Veder", "FEEDS", "Ulmet")]
    assert "Lake Veder is 61 metres deep." in done.at("facts")[0].tail
    forms = [record["form"] for record in done.of("graph_written") if not record["error"]]
    assert forms == ["statements", "elements", "elements"]


async def test_with_statements_alone_a_block_beyond_repair_is_passed_over(kit: ModuleType) -> None:
    done = await run_once(kit, f"{BAD}\n```words\n{kit.LAKE}\n```", settings={"extract.form": "statements"})
    assert "facts" not in done.stages and not done.notices
    assert len(dropped(done)) == 1 and done.nodes.keys() == {"Veder"}


async def test_with_facts_no_statement_is_asked_for(kit: ModuleType) -> None:
    done = await run_once(kit, "not asked", facts=FACTS, settings={"extract.form": "facts"})
    assert "extract" not in done.stages and not done.notices
    assert done.edges == [("Veder", "FEEDS", "Ulmet")]
    assert done.answer.how == "forced query" and done.answer.status == "answered"


@pytest.mark.parametrize("form", ["auto", "statements"])
@pytest.mark.parametrize(
    "text",
    [
        FACTS,
        FACTS.replace("facts r1", ""),
        FACTS.replace("facts r1", "text"),
        FACTS.strip("`").replace("facts r1\n", ""),
    ],
)
async def test_facts_where_statements_were_asked_are_understood(kit: ModuleType, text: str, form: str) -> None:
    done = await run_once(kit, text, settings={"extract.form": form})
    assert done.edges == [("Veder", "FEEDS", "Ulmet")]
    assert "repair" not in done.stages and "facts" not in done.stages and not done.notices


async def test_of_facts_where_statements_were_asked_a_line_that_was_cut_off_is_not_written(kit: ModuleType) -> None:
    done = await run_once(kit, kit.cut("```facts r1\n(Lake: Veder) depth_m = 61\n(Lake: Orm) depth_m = 4"))
    assert done.nodes == {"Veder": {"name": "Veder", "depth_m": 61}} and done.stages.count("rest") == 1


async def test_statements_where_facts_were_asked_are_understood(kit: ModuleType) -> None:
    done = await run_once(kit, "", facts=f"```words r1\n{kit.LAKE}\n```\n{BAD}", settings={"extract.form": "facts"})
    assert done.nodes.keys() == {"Veder"} and "repair" not in done.stages and len(dropped(done)) == 1


async def test_statements_without_a_fence_are_understood(kit: ModuleType) -> None:
    done = await run_once(kit, f'{kit.LAKE}\nNODE River "Ulmet"')
    assert done.nodes.keys() == {"Veder", "Ulmet"} and "facts" not in done.stages


async def test_blocks_in_other_languages_beside_statements_are_passed_over(kit: ModuleType) -> None:
    done = await run_once(kit, f'```json\n{{"name": "Veder"}}\n```\n```words\n{kit.LAKE}\n```')
    assert done.nodes.keys() == {"Veder"} and "repair" not in done.stages


@pytest.mark.parametrize("form", ["auto", "statements", "facts"])
@pytest.mark.parametrize(
    "text", ["NOTHING", "nothing.", "```\nNOTHING\n```", "NOTHING\nThe result is about another lake.", "**Nothing**"]
)
async def test_a_reply_may_say_that_there_is_nothing(kit: ModuleType, text: str, form: str) -> None:
    done = await run_once(kit, text, facts=text, settings={"extract.form": form})
    assert [stage for stage in done.stages if stage in ("extract", "facts")] == [
        "facts" if form == "facts" else "extract"
    ]
    assert not done.of("graph_written") and not done.notices and not dropped(done)


PROSE = "The result says that Lake Veder is 61 metres deep, which helps with the task."


async def test_prose_in_auto_is_asked_for_as_facts(kit: ModuleType) -> None:
    done = await run_once(kit, PROSE, facts=FACTS)
    assert done.notices == [FACTS_NOTICE] and done.edges
    assert dropped(done)[0] == (PROSE, "the reply holds neither a fenced block nor the word NOTHING")


async def test_prose_that_brings_no_fact_either_changes_nothing(kit: ModuleType) -> None:
    done = await kit.solve(
        settings={"loop.max_iterations": 2},
        decide=kit.ENHANCE,
        extract=kit.turns(PROSE, f"```words\n{kit.LAKE}\n```"),
        facts=PROSE,
    )
    assert [stage for stage in done.stages if stage in ("extract", "facts")] == ["extract", "facts", "extract"]
    assert not done.notices and done.nodes.keys() == {"Veder"}


async def test_prose_with_statements_alone_is_recorded(kit: ModuleType) -> None:
    done = await run_once(kit, PROSE, settings={"extract.form": "statements"})
    assert [statement for statement, _ in dropped(done)] == [PROSE] and "facts" not in done.stages


async def test_of_a_reply_that_was_cut_off_closed_blocks_are_written_and_the_rest_is_asked_for(kit: ModuleType) -> None:
    first = kit.cut(f'```words r1\n{kit.LAKE}\n```\n```words r1\nNODE River "Ulm')
    store = kit.Words()
    done = await run_once(kit, first, rest='```words r1\nNODE River "Ulmet"\n```', backend=store)
    assert store.written == [kit.LAKE, 'NODE River "Ulmet"']
    tail = done.at("rest")[0].tail
    assert '<written_already>\n"Veder" :Lake depth_m=61\n</written_already>' in tail
    assert "Lake Veder is 61 metres deep." in tail and "few\nfacts" in tail
    assert "facts" not in done.stages and not done.notices


async def test_a_reply_cut_off_twice_ends_there(kit: ModuleType) -> None:
    done = await run_once(kit, kit.cut("```words r1\nNODE"), rest=kit.cut("```words r1\nNODE"), facts="NOTHING")
    assert done.stages.count("rest") == 1 and not done.of("graph_written") and not done.notices


async def test_facts_that_were_cut_off(kit: ModuleType) -> None:
    text = "```facts r1\n(Lake: Veder) depth_m = 61\n(Lake: Orm) depth_m = 4"
    done = await run_once(
        kit,
        "",
        facts=kit.cut(text),
        rest="```facts r1\n(Lake: Orm) depth_m = 40\n```",
        settings={"extract.form": "facts"},
    )
    assert done.nodes == {"Veder": {"name": "Veder", "depth_m": 61}, "Orm": {"name": "Orm", "depth_m": 40}}
    assert '"Veder"' in done.at("rest")[0].tail or "Veder" in done.at("rest")[0].tail
    closed = f"{text}1\n```\nI could also wri"
    done = await run_once(kit, "", facts=kit.cut(closed), settings={"extract.form": "facts"})
    assert done.nodes["Orm"] == {"name": "Orm", "depth_m": 41}


async def test_statements_correct_and_delete(kit: ModuleType) -> None:
    done = await kit.solve(
        settings={"loop.max_iterations": 3},
        decide=kit.ENHANCE,
        choose=lambda asked: kit.calls(kit.call("ask_llm", question=f"Question {asked.number}")),
        extract=kit.turns(
            '```words\nNODE Lake "Veder" {"depth_m": 60}\nNODE Lake "Orm"\nEDGE "Orm" NEAR "Veder"\n```',
            f"```words\n{kit.LAKE}\n```",
            '```words\nDROP "Orm"\n```',
        ),
    )
    assert done.nodes == {"Veder": {"name": "Veder", "depth_m": 61}} and done.edges == []
    second, third, last = (asked.tail for asked in (*done.at("decide")[1:], done.at("retrieve")[0]))
    assert '"Veder" :Lake depth_m=60' in second
    assert 'Changed since it was shown above:\n"Veder" :Lake depth_m=61' in third
    said = "Sources contradict each other here; trust the one that should know best:"
    assert f'{said}\n"Veder": depth_m was 60, then 61' in third
    assert "Orm" not in last and last.count('"Veder" :Lake') == 1 and "depth_m=61" in last
    assert f'<contradictions>\n{said}\n"Veder": depth_m was 60, then 61\n</contradictions>' in last
    [replaced] = done.of("value_replaced")
    assert (replaced["name"], replaced["old"], replaced["new"]) == ("depth_m", 60, 61)
    assert (replaced["earlier"], replaced["sources"]) == (["1/enhance/tools/1"], ["2/enhance/tools/1"])
    assert "ask_llm(question=Question 3): ok" in last


async def test_facts_correct_and_delete(kit: ModuleType) -> None:
    text = (
        "```facts r1\n(Lake: Veder) depth_m = 60\n(Lake: Orm) -[NEAR]-> (Lake: Veder)\n(Lake: Veder) depth_m = 61\n"
        "DELETE (Lake: Orm) -[NEAR]-> (Lake: Veder)\n```\n"
        "```facts r1\nDELETE (Lake: Orm)\n(Lake: Veder) depth_m = 62\n```"
    )
    done = await run_once(kit, "", facts=text, settings={"extract.form": "facts"})
    assert done.nodes == {"Veder": {"name": "Veder", "depth_m": 62}} and done.edges == []
    assert [(record["name"], record["old"], record["new"]) for record in done.of("value_replaced")] == [
        ("depth_m", 60, 61),
        ("depth_m", 61, 62),
    ]


async def test_each_line_of_facts_has_its_own_fate(kit: ModuleType) -> None:
    text = (
        "Here are the facts.\n(Lake: Veder) depth_m = 61\nThe lake is deep.\n(Label: name) key = value\n"
        "DELETE (Lake: Orm)\n(Veder) -[FEEDS]-> (Ulmet)"
    )
    done = await run_once(kit, "", facts=text, settings={"extract.form": "facts"})
    assert done.edges == [("Veder", "FEEDS", "Ulmet")] and done.nodes["Veder"]["depth_m"] == 61
    assert {statement for statement, _ in dropped(done)} == {
        "Here are the facts.",
        "The lake is deep.",
        "(Label: name) key = value",
        "DELETE (Lake: Orm)",
    }


async def test_ids_of_the_cores_own_elements_are_never_used_twice(kit: ModuleType) -> None:
    replies = kit.turns(
        "(Lake: Veder) depth_m = 61\n(Lake: Orm) depth_m = 40",
        "DELETE (Lake: Orm)",
        "(Lake: Ask) depth_m = 5\n(Lake: Ember) depth_m = 6",
    )
    done = await kit.solve(
        settings={"loop.max_iterations": 3, "extract.form": "facts"}, decide=kit.ENHANCE, facts=replies
    )
    seen = [element["id"] for record in done.of("graph_written") for element in record["change"]["added"]]
    assert len(seen) == len(set(seen)) == 4
    assert done.answer.evidence[0].iteration == 1
