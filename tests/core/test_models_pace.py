"""Requests and tokens a minute, in a time of the test's own."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgot_core.contracts.model import ModelSpec, Request, user
from kgot_core.models.client import ModelClient
from kgot_core.models.pace import Pace
from kgot_core.testing.scripted_model import ScriptedModel


class Time:
    """Time that passes where somebody waits for it."""

    def __init__(self) -> None:
        self.now = 0.0

    async def sleep(self, seconds: float) -> None:
        self.now += seconds
        await asyncio.sleep(0)


def pass_all(pace: Pace, time: Time, wanted: list[int], replies: int = 0) -> list[float]:
    async def work() -> list[float]:
        times = []
        for tokens in wanted:
            entry = await pace.enter(tokens)
            times.append(entry.at)
            entry.tokens += replies
        return times

    return asyncio.run(work())


def test_without_limits_nothing_waits() -> None:
    time = Time()
    assert pass_all(Pace(None, None, now=lambda: time.now, sleep=time.sleep), time, [10**9] * 50) == [0.0] * 50


@given(st.floats(0.2, 30), st.integers(1, 8), st.integers(1, 40))
def test_no_minute_has_more_requests_than_the_share_of_this_process(limit: float, ranks: int, count: int) -> None:
    time = Time()
    pace = Pace(limit, None, lambda: 1 / ranks, lambda: time.now, time.sleep)
    times = pass_all(pace, time, [1] * count)
    share = limit * (1 / ranks)
    window, most = (60.0, int(share)) if share >= 1 else (60.0 / share, 1)
    for first, last in zip(times, times[most:], strict=False):
        assert last - first >= window - 1e-6


@given(st.lists(st.integers(1, 150), min_size=1, max_size=40), st.integers(0, 30))
def test_no_minute_has_more_tokens_than_the_limit_but_for_the_last_reply(wanted: list[int], replies: int) -> None:
    time = Time()
    times = pass_all(Pace(None, 100, lambda: 1.0, lambda: time.now, time.sleep), time, wanted, replies)
    for index, at in enumerate(times):
        before = [
            tokens + replies
            for tokens, then in zip(wanted[:index], times[:index], strict=True)
            if then > at - 60 + 1e-6
        ]
        assert not before or sum(before) + wanted[index] <= 100 + 1e-6
    assert times == sorted(times)


def test_requests_at_once_pass_in_their_order() -> None:
    time = Time()
    pace = Pace(2, None, now=lambda: time.now, sleep=time.sleep)

    async def work() -> list[float]:
        return [entry.at for entry in await asyncio.gather(*(pace.enter(1) for _ in range(6)))]

    assert asyncio.run(work()) == [0, 0, 60, 60, 120, 120]


async def test_a_model_has_the_pace_of_its_settings_over_all_its_requests() -> None:
    client = ModelClient(ScriptedModel(lambda asked: "yes"), ModelSpec("import", "x", {"requests_per_minute": "2"}))
    for _ in range(2):
        assert (await client.ask(Request((user("?"),)))).completions[0].text == "yes"
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(client.ask(Request((user("?"),))), 0.05)
