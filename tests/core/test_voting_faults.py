"""A voter of a third party that fails, or chooses what is not there, costs neither the run nor a sample."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgot_core.contracts.run import Run
from kgot_core.contracts.voter import Ballot, Choice, Vote, Voter
from kgot_core.errors import ModelError, ReplayDiverged
from kgot_core.run.desks import voting
from kgot_core.testing.runs import Ended, Setting, try_in_run

SAMPLES = ["a", "b", "b", None, "b"]


class Odd(Voter):
    """A voter that draws, and then does what it is told."""

    def __init__(self, then: Any, draws: Sequence[tuple[int, int]] = ((1, 3),)) -> None:
        self.then = then
        self.draws = draws

    async def choose(self, run: Run, ballot: Ballot) -> Choice:
        votes = [vote for first, count in self.draws for vote in await ballot.draw(first, count)]
        if isinstance(self.then, BaseException):
            raise self.then
        return self.then(votes) if callable(self.then) else self.then  # type: ignore[no-any-return]


def put(voter: Voter, size: int = 5, samples: Sequence[str | None] = SAMPLES) -> tuple[Ended[Choice], list[Any]]:
    drawn: list[tuple[int, int]] = []

    async def draw(first: int, count: int) -> Sequence[Vote]:
        await asyncio.sleep(0)
        drawn.append((first, count))
        return [Vote(samples[(number - 1) % len(samples)], payload=number) for number in range(first, first + count)]

    ended = try_in_run(lambda run: run.vote(Ballot("decide", size, draw)), Setting(voter=voter))
    return ended, drawn


def notices(ended: Ended[Any]) -> list[str]:
    return [record["text"] for record in ended.records if record["kind"] == "notice"]


@pytest.mark.parametrize(
    ("then", "said"),
    [
        (ValueError("oh"), "failed: ValueError: oh"),
        (SystemExit(3), "failed: SystemExit: 3"),
        (ModelError("its own model is away"), "failed: its own model is away"),
        (None, "gave a NoneType, which is no choice"),
        ("b", "gave a str, which is no choice"),
        (Choice("c"), "chose 'c', which no sample is for"),
        (Choice(None), "chose None, which no sample is for"),
        (Choice(["a"]), "chose ['a'], which no sample is for"),  # type: ignore[arg-type]
    ],
)
def test_the_majority_of_the_samples_counts_in_the_place_of_a_voter_that_fails(then: Any, said: str) -> None:
    ended, drawn = put(Odd(then))
    assert ended.result.key == "b" and ended.result.counts == {"a": 1, "b": 3} and len(ended.result.votes) == 5
    assert drawn == [(1, 3), (4, 2)], "what was drawn is not drawn again"
    assert notices(ended) == [f"the voter Odd on decide {said}; the majority of the samples counts"]


def test_a_voter_that_hangs_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(voting, "VOTER_SECONDS", 0.05)

    class Hangs(Voter):
        async def choose(self, run: Run, ballot: Ballot) -> Choice:
            await ballot.draw(1, 3)
            await asyncio.Event().wait()
            raise AssertionError

    ended, drawn = put(Hangs())
    assert ended.result.key == "b" and drawn == [(1, 3), (4, 2)]
    assert notices(ended) == [
        "the voter Hangs on decide gave nothing within 0.05 s; the majority of the samples counts"
    ]


def test_a_voter_that_draws_nothing_chooses_nothing() -> None:
    ended, drawn = put(Odd(Choice("b", (Vote("b"),), {"b": 1}), draws=()))
    assert ended.result.key == "b" and drawn == [(1, 5)] and notices(ended)


def test_what_a_voter_says_of_the_samples_is_replaced_by_what_they_are() -> None:
    ended, _ = put(Odd(Choice("a", (Vote("a", "made up", 7),), {"a": 99}, 0.25)))
    assert [vote.payload for vote in ended.result.votes] == [1, 2, 3] and ended.result.counts == {"a": 1, "b": 2}
    assert ended.result.agreement == 0.25 and not notices(ended)


@pytest.mark.parametrize(("measured", "agreement"), [(7, 1), (-1, 0), (float("nan"), 1 / 3), ("much", 1 / 3)])
def test_an_agreement_is_from_0_to_1(measured: Any, agreement: float) -> None:
    ended, _ = put(Odd(Choice("a", measured=measured)))
    assert ended.result.agreement == pytest.approx(agreement)


@pytest.mark.parametrize("draws", [((1, 99),), ((1, 10), (1, 5), (16, 1)), ((0, 1),), ((3, 1),), ((1, 0),), ((1, -2),)])
def test_a_voter_that_draws_what_it_may_not_is_stopped(draws: Any) -> None:
    ended, drawn = put(Odd(Choice("b"), draws))
    assert ended.result.key == "b" and sum(count for _, count in drawn) <= 15
    assert len(notices(ended)) == 1


def test_samples_that_are_asked_for_twice_are_the_same_ones() -> None:
    class Twice(Voter):
        async def choose(self, run: Run, ballot: Ballot) -> Choice:
            first, same = await asyncio.gather(ballot.draw(1, 2), ballot.draw(1, 3))
            assert list(first) == list(same)[:2]
            return Choice.of("b", same)

    ended, drawn = put(Twice())
    assert ended.result.key == "b" and drawn == [(1, 2), (3, 1)] and not notices(ended)


@pytest.mark.parametrize("error", [ModelError("the model is away"), ReplayDiverged("another run")])
@pytest.mark.parametrize("hides", [False, True])
def test_a_failure_of_the_model_ends_the_run_whatever_the_voter_makes_of_it(error: Exception, hides: bool) -> None:
    class Any_(Voter):
        async def choose(self, run: Run, ballot: Ballot) -> Choice:
            try:
                return Choice.of("a", await ballot.draw(1, 1))
            except Exception:
                if hides:
                    return Choice("a")
                raise ValueError("something went wrong") from None

    async def draw(first: int, count: int) -> Sequence[Vote]:
        raise error

    with pytest.raises(type(error), match=str(error)):
        try_in_run(lambda run: run.vote(Ballot("decide", 3, draw)), Setting(voter=Any_()))


@settings(max_examples=25, deadline=None)
@given(st.lists(st.sampled_from(["a", "b", None]), min_size=1, max_size=6), st.integers(1, 6))
def test_the_fallback_is_the_plain_majority(samples: list[str | None], size: int) -> None:
    ended, _ = put(Odd(ValueError("oh"), draws=()), size, samples)
    drawn = [samples[number % len(samples)] for number in range(size)]
    counts = {key: drawn.count(key) for key in dict.fromkeys(drawn) if key is not None}
    assert ended.result.key == (max(counts, key=lambda key: counts[key]) if counts else None)
