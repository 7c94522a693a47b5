"""How often a host is asked: a few requests at once, then at a steady pace; longer pauses where it asks for them."""

from __future__ import annotations

import asyncio
import datetime
import threading
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from email.utils import parsedate_to_datetime

from kgot_core.errors import KgotError

AT_ONCE = 8
LONGEST_PAUSE = 30.0


@dataclass
class _Host:
    credit: float
    seen: float
    closed_until: float = 0.0


class Pace:
    """Makes requests to one host wait for their turn, those of several threads too.

    Args:
        per_second: Requests a second to one host, once the first few are used up.
        clock: Gives the time in seconds.
        sleep: Waits.
    """

    def __init__(
        self,
        per_second: float,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._per_second = per_second
        self._clock = clock
        self._sleep = sleep
        self._hosts: dict[str, _Host] = {}
        self._counting = threading.Lock()

    async def turn(self, host: str) -> None:
        """Waits until a host may be asked.

        Raises:
            KgotError: It has asked for a longer pause than is waited for.
        """
        wait = self._count(host)
        if wait > 0:
            await self._sleep(wait)

    def _count(self, host: str) -> float:
        with self._counting:
            now = self._clock()
            state = self._hosts.setdefault(host, _Host(AT_ONCE, now))
            pause = state.closed_until - now
            if pause > LONGEST_PAUSE:
                raise KgotError(f"{host} asks for a pause of {pause:.0f} seconds (429); use another page or source")
            state.credit = min(AT_ONCE, state.credit + (now - state.seen) * self._per_second) - 1
            state.seen = now
            return max(pause, -state.credit / self._per_second)

    def pause_of(self, host: str) -> float:
        """Gives the seconds for which a host wants to be left alone."""
        state = self._hosts.get(host)
        return max(0.0, state.closed_until - self._clock()) if state else 0.0

    def pause(self, host: str, said: str) -> None:
        """Takes in a host's ``Retry-After``: seconds, or a date."""
        state = self._hosts.setdefault(host, _Host(AT_ONCE, self._clock()))
        state.closed_until = max(state.closed_until, self._clock() + _seconds(said))


def _seconds(said: str) -> float:
    said = said.strip()
    if said.isdecimal():
        return float(said)
    try:
        date = parsedate_to_datetime(said)
    except (TypeError, ValueError):
        return 0.0
    if date.tzinfo is None:
        date = date.replace(tzinfo=datetime.UTC)
    return max(0.0, (date - datetime.datetime.now(datetime.UTC)).total_seconds())
