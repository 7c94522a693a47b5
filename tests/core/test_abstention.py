"""A run that says that it does not know: below a set agreement, or because the graph's reader says so."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgot_core.contracts.strategy import Strategy
from kgot_core.contracts.task import Outcome
from kgot_core.errors import KgotError
from kgot_core.reading.unknown import says_unknown
from kgot_core.run.ending import answer_from_json, answer_to_json
from kgot_core.testing.runs import try_strategy

SPLIT = ["VALUE: 61", "VALUE: 62", "VALUE: 63"]


async def test_below_the_set_agreement_a_run_abstains_and_shows_it(kit: ModuleType) -> None:
    done = await kit.solve(settings={"votes.abstain_below": 0.5}, parse=SPLIT)
    answer = done.answer
    assert (answer.status, answer.text, answer.how) == ("abstained", "I do not know", "voted query")
    assert answer.reason == "the agreement of 0.33 is below 0.5: 1 of 3 parses agree"
    assert answer.agreement == pytest.approx(1 / 3) and answer.value is None and not answer.evidence
    with pytest.raises(KgotError, match=r"0\.33 is below 0\.5"):
        answer.raise_for_status()
    assert answer_from_json(answer_to_json(answer)) == answer


async def test_at_the_set_agreement_and_by_default_it_answers(kit: ModuleType) -> None:
    two = ["VALUE: 61", "VALUE: 62", "VALUE: 61"]
    done = await kit.solve(settings={"votes.abstain_below": 0.66}, parse=two)
    assert done.answer.status == "answered" and done.answer.agreement == pytest.approx(2 / 3)
    done = await kit.solve(parse=SPLIT)
    assert done.answer.status == "answered" and done.answer.agreement == pytest.approx(1 / 3)
    sure = await kit.solve(settings={"votes.abstain_below": 1.0})
    assert sure.answer.status == "answered" and sure.answer.agreement == 1


async def test_an_answer_is_no_surer_than_the_least_sure_vote_on_it(kit: ModuleType) -> None:
    settings = {"votes.abstain_below": 0.6, "votes.final": 3}
    done = await kit.solve(settings=settings, parse=lambda asked: f"VALUE: {asked.number}")
    assert done.answer.status == "abstained" and "1 of 3 solutions agree" in done.answer.reason
    done = await kit.solve(settings=settings, parse=SPLIT)
    assert done.answer.status == "abstained" and done.answer.agreement == pytest.approx(1 / 3)


async def test_where_the_agreement_decides_no_sample_is_spared(kit: ModuleType) -> None:
    last_differs = lambda asked: ["VALUE: 61", "VALUE: 61", "VALUE: 62"]  # noqa: E731
    spared = await kit.solve(at_once=False, parse=last_differs)
    assert spared.answer.agreement == 1 and [asked.n for asked in spared.at("parse")] == [2]
    whole = await kit.solve(settings={"votes.abstain_below": 0.9}, at_once=False, parse=last_differs)
    assert whole.answer.status == "abstained" and [asked.n for asked in whole.at("parse")] == [3]
    settings = {"votes.abstain_below": 0.9, "votes.final": 3, "loop.max_final_solution_parsing": 1}
    final = await kit.solve(settings=settings, parse=kit.turns("VALUE: 61", "VALUE: 61", "VALUE: 62"))
    assert final.answer.status == "abstained" and final.stages.count("parse") == 3


async def test_what_the_graph_gave_without_a_parse_is_not_agreed_on(kit: ModuleType) -> None:
    done = await kit.solve(settings={"votes.abstain_below": 0.1}, parse="VALUE:")
    assert done.answer.status == "abstained" and done.answer.agreement == 0


async def test_without_an_answer_there_is_no_agreement(kit: ModuleType) -> None:
    done = await kit.solve(settings={"votes.abstain_below": 0.9}, parse="NONE")
    assert done.answer.status == "no_solution" and done.answer.agreement is None


def test_a_strategy_whose_agreement_is_none_fails_with_one_line() -> None:
    class Sure(Strategy):
        async def run(self, run: Any) -> Outcome:
            return Outcome("61", "answered", agreement=7.0)

    answer = try_strategy(Sure()).answer
    assert answer.status == "failed" and "agreement is not within 0 and 1" in answer.reason


# "I do not know" as an answer


DONT_KNOW = "SOLVE\nIt says so.\n```\nI do not know.\n```\nBASIS: Veder"


async def test_an_answer_that_it_is_not_known_counts_as_enhance(kit: ModuleType) -> None:
    settings = {"solver": ("direct",), "loop.max_iterations": 3}
    done = await kit.solve(settings=settings, decide=kit.turns(kit.ENHANCE, DONT_KNOW, kit.SOLVE_DIRECT))
    assert [record["choice"] for record in done.of("voted")][:3] == ["enhance", "enhance", "solve"]
    assert done.answer.text == "The lake is 61 metres deep." and done.answer.iterations == 2
    assert "do not know" not in done.at("choose")[1].tail


async def test_when_no_round_is_left_it_is_no_solution(kit: ModuleType) -> None:
    settings = {"solver": ("direct",), "loop.max_iterations": 2}
    done = await kit.solve(settings=settings, decide=DONT_KNOW, direct="```\nI don't know.\n```\nBASIS: Veder")
    assert done.answer.status == "no_solution" and done.answer.iterations == 2
    assert done.of("solve_failed")[0]["cause"] == "the graph does not hold the answer"
    assert not done.at("parse") and done.stages.count("direct") == 1


async def test_a_parse_that_it_is_not_known_is_a_vote_for_none(kit: ModuleType) -> None:
    done = await kit.solve(parse=["VALUE: I do not know", "VALUE: I don't know.\nThe findings are empty.", "VALUE: 61"])
    assert done.answer.status == "no_solution"


@pytest.mark.parametrize(
    "text",
    [
        "I do not know.",
        "I don't know",
        "i don’t know!",
        "I dont know.",
        "**I do not know.**",
        "I cannot say",
        "I can't answer that.",
        "I can not determine this from the graph.",
        "Sorry, I do not know the answer.",
        "I'm sorry, but I cannot answer the question.",
        "I really do not know for sure.",
        "I don't\n know it.",
        "The answer is unknown.",
        "The graph does not say.",
        "The knowledge graph does not contain this information.",
        "The graph doesn't hold the answer.",
        "I do not know based on the given information.",
    ],
)
def test_says_that_it_does_not_know(text: str) -> None:
    assert says_unknown(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Unknown",
        "unknown artist",
        "No",
        "None",
        "N/A",
        "Not known",
        "I Don't Know How She Does It",
        "I cannot tell a lie",
        "I know that I know nothing",
        "I do not know, but it may be 61 metres.",
        "I do not know. 61 metres.",
        "I know it: 61 metres",
        "Cannot be determined from the given information",
        "Not enough information",
        "The graph does not say it outright: 61 metres",
        "The graph contains the answer",
        "61",
    ],
)
def test_anything_else_may_be_an_answer(text: str) -> None:
    assert not says_unknown(text)


@given(st.text(max_size=200), st.sampled_from(["I do not know.", "The graph does not say.", ""]))
def test_a_further_word_makes_it_an_answer(rest: str, begin: str) -> None:
    if any(letter.isalnum() for letter in rest) and not says_unknown(rest):
        assert not says_unknown(f"{begin} 61 {rest}")
