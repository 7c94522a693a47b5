"""Solve or Enhance, put to the vote (cases D41 and D58)."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from types import ModuleType
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgot_core.contracts.run import Run
from kgot_core.contracts.voter import Ballot, Choice, Vote
from kgot_core.run.stages.decide import merge_reasons
from kgot_core.voters.majority import MajorityVoter

NO_RUN = cast(Run, None)
BAD = "I cannot decide."


async def count(
    keys: Sequence[str | None], size: int, *, at_once: bool = True, tie: str | None = "enhance"
) -> tuple[Choice, list[int]]:
    """Puts a ballot to the voter whose samples are ``keys`` in order; gives how many were drawn each time, too."""
    drawn: list[int] = []
    samples = iter(keys)

    async def draw(first: int, wanted: int) -> Sequence[Vote]:
        assert first == sum(drawn) + 1
        drawn.append(wanted)
        return [Vote(key) for key in itertools.islice(samples, wanted)]

    return await MajorityVoter().choose(NO_RUN, Ballot("decide", size, draw, tie, at_once)), drawn


@pytest.mark.parametrize("keys", [["solve", "enhance"] * 2, ["enhance", "solve"] * 2, ["solve"] * 2 + ["enhance"] * 2])
@pytest.mark.parametrize("at_once", [True, False])
async def test_a_tie_means_enhance_in_any_order(keys: list[str], at_once: bool) -> None:
    choice, _ = await count(keys, 4, at_once=at_once)
    assert choice.key == "enhance"


async def test_votes_that_cannot_be_read_are_asked_again_once_and_then_left_out() -> None:
    keys = ["solve", "enhance", "solve", None, None]
    choice, drawn = await count([*keys, None, None], 5)
    assert (choice.key, dict(choice.counts), drawn) == ("solve", {"solve": 2, "enhance": 1}, [5, 2])
    choice, drawn = await count([*keys, "enhance", "enhance"], 5)
    assert (choice.key, dict(choice.counts), drawn) == ("enhance", {"solve": 2, "enhance": 3}, [5, 2])
    choice, drawn = await count([None] * 10, 5)
    assert (choice.key, drawn) == (None, [5, 5])


@pytest.mark.parametrize(
    ("keys", "drawn"),
    [
        ("sss", [3]),
        ("eee", [3]),
        ("sses", [3, 1]),
        ("seess", [3, 1, 1]),
        ("seesx", [3, 1, 1, 1]),
        ("xxss", [3, 1, 1]),
    ],
)
async def test_one_by_one_they_stop_at_a_certain_majority(keys: str, drawn: list[int]) -> None:
    names: dict[str, str | None] = {"s": "solve", "e": "enhance", "x": None}
    _, seen = await count([names[key] for key in keys] + ["solve"] * 5, 5, at_once=False)
    assert seen == drawn


async def test_one_by_one_a_tie_that_is_won_needs_no_further_vote() -> None:
    assert (await count(["enhance", "enhance", "solve"], 4, at_once=False))[1] == [3]
    assert (await count(["solve", "solve", "enhance", "solve"], 4, at_once=False))[1] == [3, 1]


async def test_without_a_winner_of_ties_the_earliest_leads() -> None:
    assert (await count(["b", "a", "c"], 3, tie=None))[0].key == "b"
    assert (await count(["b", "a", "a"], 3, tie=None))[0].key == "a"


async def test_a_reply_with_fewer_samples_than_asked_for() -> None:
    async def draw(first: int, wanted: int) -> Sequence[Vote]:
        return [Vote("solve")] if first < 3 else []

    choice = await MajorityVoter().choose(NO_RUN, Ballot("decide", 5, draw))
    assert choice.key == "solve" and choice.counts == {"solve": 2} and len(choice.votes) <= 10


@given(st.lists(st.sampled_from(["a", "b", "c", None]), min_size=22, max_size=22), st.integers(1, 11))
async def test_stopping_early_never_changes_the_outcome(keys: list[str | None], size: int) -> None:
    early, drawn = await count(keys, size, at_once=False, tie=None)
    assert sum(drawn) <= 2 * size
    whole = [key for key in keys[: sum(drawn)] if key is not None]
    rest = [key for key in keys if key is not None][:size]
    if len(whole) == size or (early.key and whole.count(early.key) * 2 > size):
        best = max(rest.count(key) for key in set(rest))
        assert early.key is not None and rest.count(early.key) == best


async def test_the_loop_counts_votes_and_keeps_their_reasons(kit: ModuleType) -> None:
    votes = [kit.SOLVE, kit.ENHANCE, BAD, kit.ENHANCE, "ENHANCE\nThe river is missing."]
    done = await kit.solve(decide=kit.turns(votes, kit.SOLVE))
    voted = done.of("voted")[0]
    assert voted["choice"] == "enhance" and voted["counts"] == {"solve": 1, "enhance": 3} and voted["unreadable"] == 1
    assert "The depth of the lake is missing." in voted["reasons"] and "The river is missing." in voted["reasons"]
    assert [asked.n for asked in done.at("decide")] == [5, 5]
    assert all(asked.request.temperature == 0.7 for asked in done.at("decide"))
    missing = done.at("choose")[0].tail
    assert "- The depth of the lake is missing.\n- The river is missing." in missing


@pytest.mark.parametrize("first", [0, 1])
async def test_a_tie_of_the_loops_votes_means_enhance(kit: ModuleType, first: int) -> None:
    votes = [(kit.SOLVE, kit.ENHANCE)[(first + place) % 2] for place in range(4)]
    done = await kit.solve(settings={"loop.num_next_steps_decision": 4, "loop.max_iterations": 1}, decide=votes)
    assert done.of("voted")[0]["choice"] == "enhance" and done.answer.how == "forced query"


async def test_votes_that_all_cannot_be_read_go_round_within_the_limit(kit: ModuleType) -> None:
    done = await kit.solve(settings={"loop.max_iterations": 3}, decide=BAD)
    assert [asked.n for asked in done.at("decide")] == [5, 5] * 3
    assert done.answer.how == "forced query" and done.answer.iterations == 3
    assert done.of("voted")[0]["unreadable"] == 10 and done.of("voted")[0]["counts"] == {}


@pytest.mark.parametrize(("size", "samples"), [(1, [1]), (3, [3]), (4, [4])])
async def test_the_number_of_votes_is_a_setting(kit: ModuleType, size: int, samples: list[int]) -> None:
    done = await kit.solve(
        settings={"loop.num_next_steps_decision": size, "loop.max_iterations": 1}, decide=kit.ENHANCE
    )
    assert [asked.n for asked in done.at("decide")] == samples


@pytest.mark.parametrize("solver", ["query", "direct"])
async def test_the_rules_own_examples_are_no_votes(kit: ModuleType, solver: str) -> None:
    from kgot_core.run.prompting.examples import decide_examples

    for example in decide_examples(kit.DIALECT, cast(Any, solver)):
        done = await kit.solve(settings={"solver": (solver,), "loop.max_iterations": 1}, decide=example.reply)
        voted = done.of("voted")[0]
        assert voted["unreadable"] == 10 and voted["counts"] == {}
        assert all("example" in reason for reason in voted["reasons"])
        assert example.reply.splitlines()[1] not in done.at("choose")[0].tail
        asked_again = [asked.tail for asked in done.at("decide")]
        assert example.reply in done.at("decide")[0].prompt and example.reply not in asked_again[0]


async def test_a_vote_that_was_cut_off_is_none(kit: ModuleType) -> None:
    done = await kit.solve(
        settings={"loop.max_iterations": 1}, decide=kit.cut('SOLVE\nIt is there.\n```words\nGET "Veder" dep')
    )
    assert done.of("voted")[0]["unreadable"] == 10
    whole = await kit.solve(decide=kit.turns(kit.ENHANCE, kit.cut(f"{kit.SOLVE}\nFurther, the gr")))
    assert whole.answer.how == "voted query"
    enhance = await kit.solve(decide=kit.turns(kit.cut("ENHANCE\nThe depth is mis"), kit.SOLVE))
    assert enhance.answer.how == "voted query"


def test_reasons_are_merged_without_repeats() -> None:
    assert merge_reasons(["The depth is missing."]) == "The depth is missing."
    merged = merge_reasons(["the depth is  missing", "The river.", "In short: the depth is missing.", "The river."])
    assert merged == "- The river.\n- In short: the depth is missing."
