"""Each of the four stages is put to its own voter, and another voter there changes what becomes of the same samples."""

from __future__ import annotations

import re
from collections.abc import Sequence
from types import ModuleType
from typing import Any

import pytest

from kgot_core.events import from_record
from kgot_core.sinks.lines import event_lines

STAGES = ["decide", "choose_tools", "parse", "final"]
ODD = "Where on the old map of 1874 is the source?"
# For each stage: what wins by number; then what is most like all others.
FIVE = {
    "decide": (
        ["ENHANCE\nqqq", "ENHANCE\nThe ferry lacks a harbour master!", "ENHANCE\n12 + 30 = 42", "solve", "solve"],
        ("enhance", "solve"),
    ),
    "choose_tools": ([ODD, ODD, "How deep is Veder, please?", "How deep is lake Veder?", "How deep is Veder?"], ()),
    "parse": (["qqq", "qqq", "61 metres below the water", "61 metres below water", "61 metres below"], ()),
    "final": (["qqq", "qqq", "61 metres below the water", "61 metres below water", "61 metres below"], ()),
}


async def run(
    kit: ModuleType, stage: str, samples: Sequence[str], voter: str = "", at_once: bool = True, **more: Any
) -> Any:
    """A run in which the samples of one stage say what they are told to, and those of all others agree."""
    size = len(samples)
    settings: dict[str, Any] = {"loop.max_iterations": 1, **more.pop("settings", {})}
    if voter:
        settings[f"voters.{stage}"] = voter
    answers: dict[str, Any] = {"decide": kit.ENHANCE}
    if stage == "decide":
        settings["loop.num_next_steps_decision"] = size
        solve = kit.SOLVE
        answers["decide"] = [solve if text == "solve" else text for text in samples]
    elif stage == "choose_tools":
        settings["votes.choose_tools"] = size
        answers["choose"] = [kit.calls(kit.call("ask_llm", question=text)) for text in samples]
    elif stage == "parse":
        settings["loop.max_final_solution_parsing"] = size
        answers["parse"] = [f"VALUE: {text}" for text in samples]
    else:
        settings |= {"votes.final": size, "loop.max_final_solution_parsing": 1}
        answers["parse"] = lambda asked: f"VALUE: {samples[asked.number - 1]}"
    return await kit.solve(settings=settings, at_once=at_once, **{**answers, **more})


def voted(done: Any, stage: str) -> Any:
    return next(record for record in done.of("voted") if record["stage"] == stage)


def disagreeing(stage: str) -> list[str]:
    if stage == "decide":
        return ["ENHANCE\nIt is missing.", "ENHANCE\nIt is missing.", "solve"]
    return ["How deep is Veder?", "How deep is Veder?", "the exception"]


def choose_the_exception(asked: Any) -> str:
    candidates = re.findall(r'<candidate number="(\d+)">\n(.*?)</candidate>', asked.tail, re.DOTALL)
    return "CHOICE: " + next(number for number, text in candidates if re.match("solve|the exc|.*the exc", text))


@pytest.mark.parametrize("stage", STAGES)
async def test_the_judge_of_a_stage_overrules_the_majority_there(kit: ModuleType, stage: str) -> None:
    by_number = await run(kit, stage, disagreeing(stage), judge=choose_the_exception)
    judged = await run(kit, stage, disagreeing(stage), "judge", judge=choose_the_exception)
    assert not by_number.at("judge") and len(judged.at("judge")) == 2
    assert voted(by_number, stage)["choice"] != voted(judged, stage)["choice"]
    assert "exc" in voted(judged, stage)["choice"] or voted(judged, stage)["choice"] == "solve"
    asked = [record for record in judged.of("model_called") if record["role"] == "judge"]
    assert {record["stage"] for record in asked} == {stage} and all(record["part"] for record in asked)
    if stage == "choose_tools":
        assert [record["arguments"]["question"] for record in judged.of("tool_called")] == ["the exception"]
    if stage in ("parse", "final"):
        assert judged.answer.text == "the exception" and by_number.answer.text == "How deep is Veder?"
        assert judged.answer.agreement == pytest.approx(1 / 3)


@pytest.mark.parametrize("at_once", [True, False])
@pytest.mark.parametrize("stage", STAGES)
async def test_the_adaptive_voter_of_a_stage_asks_less_there(kit: ModuleType, stage: str, at_once: bool) -> None:
    same = ["ENHANCE\nIt is missing."] * 5 if stage == "decide" else ["61"] * 5
    all_of_them = await run(kit, stage, same, at_once=at_once)
    fewer = await run(kit, stage, same, "adaptive", at_once=at_once)
    usual = 0 if at_once and stage != "final" else 2
    assert voted(all_of_them, stage)["spared"] == usual and voted(fewer, stage)["spared"] == 3
    assert voted(all_of_them, stage)["choice"] == voted(fewer, stage)["choice"]
    if not at_once:
        samples = [sum(asked.n for asked in done.asked) for done in (all_of_them, fewer)]
        assert samples[0] > samples[1]


@pytest.mark.parametrize("stage", STAGES)
async def test_the_stability_voter_of_a_stage_takes_the_most_central_there(kit: ModuleType, stage: str) -> None:
    samples, expected = FIVE[stage]
    by_number = voted(await run(kit, stage, samples), stage)
    central = voted(await run(kit, stage, samples, "stability"), stage)
    assert by_number["choice"] != central["choice"] and by_number["counts"] == central["counts"]
    assert expected in ((), (by_number["choice"], central["choice"]))
    assert 0 < central["agreement"] < 1 and central["agreement"] not in (0.4, 0.6)


async def test_voter_names_the_voter_of_all_stages(kit: ModuleType) -> None:
    settings = {"voter": "judge", "voters.parse": "majority"}
    parse = ["VALUE: 61", "VALUE: 62", "VALUE: 61"]
    done = await kit.solve(
        settings=settings, decide=kit.turns([kit.ENHANCE] * 3 + [kit.SOLVE] * 2, kit.SOLVE), parse=parse
    )
    assert {record["stage"] for record in done.of("model_called") if record["role"] == "judge"} == {"decide"}


@pytest.mark.parametrize("voter", ["majority", "adaptive", "judge", "stability"])
async def test_with_one_sample_each_any_voter_asks_the_same(kit: ModuleType, voter: str) -> None:
    settings = {"voter": voter, "loop.num_next_steps_decision": 1, "loop.max_final_solution_parsing": 1}
    done = await kit.solve(settings=settings)
    assert done.answer.text == "The lake is 61 metres deep." and done.answer.agreement == 1
    assert done.stages == ["decide", "choose", "ask_llm", "extract", "decide", "compute", "parse"]
    assert all(asked.n == 1 for asked in done.asked)


# The choice of tools


async def test_equal_calls_count_as_one_whatever_their_spelling(kit: ModuleType) -> None:
    texts = ["How deep is Veder?", "What flows from it?", "how deep  is veder?"]
    done = await run(kit, "choose_tools", texts)
    assert [record["arguments"]["question"] for record in done.of("tool_called")] == ["How deep is Veder?"]
    assert sorted(voted(done, "choose_tools")["counts"].values()) == [1, 2]
    assert done.at("choose")[0].n == 3 and done.at("choose")[0].request.temperature == 0.7


async def test_samples_without_a_call_are_left_out_and_mended_only_where_all_are(kit: ModuleType) -> None:
    good = kit.calls(kit.call("ask_llm", question="How deep is Veder?"))
    settings = {"loop.max_iterations": 1, "votes.choose_tools": 3}
    bad = kit.calls(kit.call("ask_lm", question="How deep?"))
    done = await kit.solve(settings=settings, decide=kit.ENHANCE, choose=["I pass.", bad, good])
    assert not done.at("choose_again") and voted(done, "choose_tools")["unreadable"] == 2
    done = await kit.solve(settings=settings, decide=kit.ENHANCE, choose=[bad, "I pass.", bad], choose_again=good)
    assert len(done.at("choose")) == 1 and len(done.at("choose_again")) == 1
    assert "ask_lm" in done.at("choose_again")[0].tail
    assert [record["tool"] for record in done.of("tool_called")] == ["ask_llm"]


async def test_one_sample_of_the_choice_is_asked_for_as_ever(kit: ModuleType) -> None:
    done = await kit.solve()
    assert [asked.n for asked in done.at("choose")] == [1] and done.at("choose")[0].request.temperature is None
    assert {record["stage"] for record in done.of("voted")} == {"decide", "parse"}
    assert "1/enhance/choose/choice" in {record["step"] for record in done.of("model_called")}


# The final choice


async def test_each_further_solution_has_a_query_a_calculation_and_a_parse_of_its_own(kit: ModuleType) -> None:
    done = await kit.solve(settings={"votes.final": 3}, parse=lambda asked: f"VALUE: {60 + asked.number % 2}")
    assert done.stages.count("retrieve") == 2 and done.stages.count("compute") == 3 == done.stages.count("parse")
    assert done.answer.text == "61" and done.answer.agreement == pytest.approx(2 / 3)
    assert done.answer.reason == "2 of 3 solutions agree; 3 of 3 parses agree" and done.answer.how == "voted query"
    alike = await kit.solve(settings={"votes.final": 3})
    assert alike.stages.count("parse") == 2 and alike.answer.agreement == 1


async def test_solutions_that_find_nothing_are_votes_for_none(kit: ModuleType) -> None:
    settings = {"votes.final": 3, "loop.max_final_solution_parsing": 1}
    done = await kit.solve(settings=settings, parse=kit.turns("NONE", "VALUE: 61", "NONE"))
    assert done.answer.status == "no_solution" and voted(done, "final")["counts"] == {"none": 2, "61": 1}
    done = await kit.solve(settings=settings, parse=kit.turns("NONE", "VALUE: 61", "VALUE: 61"))
    assert done.answer.text == "61" and done.answer.agreement == pytest.approx(2 / 3)


async def test_values_of_a_schema_are_voted_on_by_what_they_are(kit: ModuleType) -> None:
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
    parse = kit.turns('{"value": {"a": 1, "b": 2}}', '{"value": {"a": 3}}', '{"value": {"b": 2, "a": 1}}')
    settings = {"votes.final": 3, "loop.max_final_solution_parsing": 1}
    done = await kit.solve(settings=settings, parse=parse, schema=schema)
    assert done.answer.value == {"a": 1, "b": 2} and done.answer.agreement == pytest.approx(2 / 3)
    broken = await kit.solve(settings=settings, parse="VALUE: 61", schema=schema)
    assert broken.answer.status == "failed" and "schema" in broken.answer.reason


@pytest.mark.parametrize(
    ("stage", "shown"),
    [
        ("choose_tools", '  vote on the tools: ask_llm({"question": "How deep is Veder?"}) (agreement 0.67)'),
        ("final", "  vote on the answer: how deep is veder? (agreement 1.00)"),
    ],
)
async def test_a_vote_is_shown_as_one_line(kit: ModuleType, stage: str, shown: str) -> None:
    done = await run(kit, stage, disagreeing(stage))
    event = from_record(voted(done, stage))
    assert event is not None and event_lines(event, done.graph) == [shown]
