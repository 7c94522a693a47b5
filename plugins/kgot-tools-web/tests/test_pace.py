"""How often a host is asked; the clock is the test's own."""

from __future__ import annotations

import datetime
from email.utils import format_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgot_core.errors import KgotError
from kgot_tools_web.net.pace import AT_ONCE, Pace


class Clock:
    """Time that passes only when somebody sleeps."""

    def __init__(self) -> None:
        self.now = 100.0
        self.slept: list[float] = []

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


def pace_of(clock: Clock, per_second: float) -> Pace:
    """Makes a pace on a clock."""
    return Pace(per_second, lambda: clock.now, clock.sleep)


@given(st.integers(1, 60), st.sampled_from([0.5, 2.0, 10.0]))
async def test_no_host_is_asked_faster_than_allowed(requests: int, per_second: float) -> None:
    clock = Clock()
    pace = pace_of(clock, per_second)
    for _ in range(requests):
        await pace.turn("a.example")
    assert clock.now - 100.0 == pytest.approx(max(0, requests - AT_ONCE) / per_second)


async def test_hosts_do_not_wait_for_each_other() -> None:
    clock = Clock()
    pace = pace_of(clock, 1.0)
    for number in range(40):
        await pace.turn(f"host{number}.example")
    assert not clock.slept


async def test_a_pause_that_a_host_asks_for_is_kept_to() -> None:
    clock = Clock()
    pace = pace_of(clock, 1.0)
    pace.pause("a.example", "3")
    await pace.turn("a.example")
    assert clock.slept == [3.0]
    later = datetime.datetime.now(datetime.UTC) + datetime.timedelta(hours=1)
    pace.pause("b.example", format_datetime(later))
    with pytest.raises(KgotError, match="asks for a pause"):
        await pace.turn("b.example")
    for said in ("", "soon", "-1"):
        pace.pause("c.example", said)
    await pace.turn("c.example")
    assert clock.slept == [3.0]
