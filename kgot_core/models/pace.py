"""Keeps requests to a model within so many requests and tokens a minute."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

MINUTE = 60.0


@dataclass
class Passed:
    """A request that was let pass: when, in seconds, and with how many tokens."""

    at: float
    tokens: float


class Pace:
    """Lets requests pass in their order, each as soon as the minute behind it has room.

    A request's own tokens are known only once it is answered: until then its prompt's estimate counts. So the tokens of
    a minute may exceed their limit by replies, and the next requests wait for that.

    Args:
        requests: Requests a minute; ``None`` sets no limit.
        tokens: Prompt and reply tokens a minute; ``None`` sets no limit.
        share: Gives the share of both that is this process's.
        now: Seconds, rising.
        sleep: Waits.
    """

    def __init__(
        self,
        requests: float | None,
        tokens: float | None,
        share: Callable[[], float] = lambda: 1.0,
        now: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._requests = requests
        self._tokens = tokens
        self._share = share
        self._now = now
        self._sleep = sleep
        self._passed: deque[Passed] = deque()
        self._turn = asyncio.Lock()

    async def enter(self, tokens: int) -> Passed:
        """Waits until a request may pass.

        Args:
            tokens: Estimated tokens of its prompt.

        Returns:
            What counts for it; set its ``tokens`` once they are known.
        """
        entry = Passed(0.0, tokens)
        if self._requests is None and self._tokens is None:
            return entry
        async with self._turn:
            while (seconds := self._wait(tokens)) > 0:
                await self._sleep(seconds)
            entry.at = self._now()
            self._passed.append(entry)
        return entry

    def _wait(self, tokens: int) -> float:
        """Gives the seconds until there may be room for a request; 0 where there is."""
        now, share = self._now(), self._share()
        # Less than one request a minute is one in several minutes.
        window = MINUTE / min(1.0, self._requests * share) if self._requests is not None else MINUTE
        while self._passed and self._passed[0].at <= now - max(window, MINUTE):
            self._passed.popleft()
        waits = [0.0]
        if self._requests is not None and len(self._passed) >= (most := int(max(1.0, self._requests * share))):
            waits.append(self._passed[-most].at + window - now)
        if self._tokens is not None:
            waits.append(self._token_wait(tokens, self._tokens * share, now))
        return max(waits)

    def _token_wait(self, tokens: int, limit: float, now: float) -> float:
        minute = [entry for entry in self._passed if entry.at > now - MINUTE]
        over = sum(entry.tokens for entry in minute) + tokens - limit
        seconds = 0.0
        for entry in minute:  # one that alone exceeds the limit passes once the minute is empty
            if over <= 0:
                break
            over -= entry.tokens
            seconds = entry.at + MINUTE - now
        return seconds
