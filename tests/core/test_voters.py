"""Voters: ties, samples that cannot be read, and how many samples are drawn."""

from __future__ import annotations

import itertools
import runpy
from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgot_core.contracts.run import Run
from kgot_core.contracts.voter import Ballot, Vote, Voter
from kgot_core.testing.runs import try_in_run
from kgot_core.voters.adaptive import AdaptiveVoter, stays_ahead
from kgot_core.voters.judge import JudgeVoter
from kgot_core.voters.majority import MajorityVoter
from kgot_core.voters.stability import StabilityVoter

_ballots = runpy.run_path(str(Path(__file__).with_name("kit_ballots.py")))
ballot, put = _ballots["ballot"], _ballots["put"]
NO_RUN = cast(Run, None)

VOTERS: dict[str, Callable[[], Voter]] = {
    "majority": MajorityVoter,
    "adaptive": lambda: AdaptiveVoter(0.95),
    "judge": lambda: JudgeVoter(True),
    "stability": StabilityVoter,
}


# All of them


@pytest.mark.parametrize("name", VOTERS)
@pytest.mark.parametrize(
    ("keys", "size", "wins"),
    [
        (["solve", "enhance"] * 2, 4, "enhance"),
        (["enhance", "solve"] * 2, 4, "enhance"),
        (["solve"], 1, "solve"),
        (["solve", "solve", "solve", None, None, None, None], 5, "solve"),
        ([None, "enhance", None, None], 2, "enhance"),
    ],
)
def test_ties_unreadable_samples_and_single_ones(name: str, keys: list[str | None], size: int, wins: str) -> None:
    for at_once in (True, False):
        choice, _, _ = put(VOTERS[name](), keys, size, tie="enhance", at_once=at_once)
        assert choice.key == wins


@pytest.mark.parametrize("name", VOTERS)
def test_where_no_sample_can_be_read_none_is_chosen_and_drawing_ends(name: str) -> None:
    choice, drawn, _ = put(VOTERS[name](), [None] * 20, 5, tie="enhance")
    assert choice.key is None and choice.agreement == 0 and sum(drawn) <= 10


@pytest.mark.parametrize("name", VOTERS)
def test_a_source_that_gives_nothing_ends_the_drawing(name: str) -> None:
    draws: list[int] = []

    async def draw(first: int, count: int) -> Sequence[Vote]:
        draws.append(count)
        return []

    choice = try_in_run(lambda run: VOTERS[name]().choose(run, Ballot("decide", 3, draw))).result
    assert choice.key is None and len(draws) <= 6


@pytest.mark.parametrize("name", VOTERS)
def test_the_order_of_equal_samples_changes_nothing(name: str) -> None:
    for keys in ("aab", "aabb", "abcc"):
        for tie in ("a", "b"):
            orders = set(itertools.permutations(keys))
            outcomes = {put(VOTERS[name](), order, len(keys), tie=tie)[0].key for order in orders}
            assert len(outcomes) == 1


# Adaptive


@pytest.mark.parametrize(
    ("keys", "size", "confidence", "drawn"),
    [
        ("aa", 5, 0.95, [2]),
        ("aba", 5, 0.95, [2, 2]),
        ("abab", 5, 0.95, [2, 2, 1]),
        ("aa", 3, 0.95, [2]),
        ("a", 3, 0.8, [1]),
        ("aaa", 5, 1.0, [3]),
        ("aaba", 5, 1.0, [3, 1]),
        ("aabba", 5, 1.0, [3, 1, 1]),
        ("a", 1, 0.95, [1]),
        ("xxxxx", 5, 0.95, [2, 2, 1]),
        ("xaxa", 5, 0.95, [2, 2]),
        ("aaaa", 41, 0.95, [4]),
    ],
)
async def test_adaptive_asks_in_the_smallest_steps_that_could_settle_it(
    keys: str, size: int, confidence: float, drawn: list[int]
) -> None:
    votes = [None if key == "x" else key for key in keys + keys[-1] * size]
    for at_once in (True, False):
        asked, seen = ballot(votes, size, at_once=at_once)
        await AdaptiveVoter(confidence).choose(NO_RUN, asked)
        assert seen == drawn


@given(st.lists(st.sampled_from(["a", "b", "c", None]), min_size=15, max_size=15), st.integers(1, 15))
async def test_adaptive_never_draws_more_than_the_ballots_size(keys: list[str | None], size: int) -> None:
    asked, drawn = ballot(keys, size)
    await AdaptiveVoter(0.95).choose(NO_RUN, asked)
    assert sum(drawn) <= size


@given(
    st.lists(st.sampled_from(["a", "b", "c", None]), min_size=11, max_size=11),
    st.integers(1, 11),
    st.sampled_from([None, "a", "b"]),
)
async def test_adaptive_to_certainty_chooses_as_all_samples_would(
    keys: list[str | None], size: int, tie: str | None
) -> None:
    asked, _ = ballot(keys, size, tie=tie)
    choice = await AdaptiveVoter(1.0).choose(NO_RUN, asked)
    counts = Counter(key for key in keys[:size] if key is not None)
    leading = {key for key, number in counts.items() if number == max(counts.values())}
    assert choice.key in (leading or {None}) and (tie not in leading or choice.key == tie)


@given(st.integers(0, 6), st.integers(0, 6), st.integers(0, 5), st.booleans())
def test_the_probability_is_that_of_polyas_urn(first: int, second: int, left: int, wins_ties: bool) -> None:
    def urn(one: int, other: int, more: int) -> Fraction:
        if not more:
            return Fraction(one > other or (one == other and wins_ties))
        share = Fraction(one + 1, one + other + 2)
        return share * urn(one + 1, other, more - 1) + (1 - share) * urn(one, other + 1, more - 1)

    assert stays_ahead(first, second, left, wins_ties=wins_ties) == urn(first, second, left)


async def test_adaptive_errs_no_more_often_than_it_may_and_saves_samples() -> None:
    random, wrong, drawn_in_all, rounds = Random(7), 0, 0, 2_000
    for _ in range(rounds):
        share = random.random()  # the prior that it assumes
        keys = ["a" if random.random() < share else "b" for _ in range(9)]
        asked, drawn = ballot(keys, 9)
        choice = await AdaptiveVoter(0.95).choose(NO_RUN, asked)
        wrong += choice.key != Counter(keys).most_common(1)[0][0]
        drawn_in_all += sum(drawn)
    assert wrong / rounds <= 0.05 and drawn_in_all / rounds < 5
