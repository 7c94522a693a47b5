"""What a run may spend: tokens, money and time, with a reserve for the last answer."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from kgot_core.contracts.options import Caps
from kgot_core.contracts.task import Usage
from kgot_core.errors import CapReached
from kgot_core.run.purse import Purse
from kgot_core.run.spending import exceeded


class Budget:
    """Tells before each call whether the run may still make it.

    Requests that are on their way count with their estimated prompt, so that many at once cannot overspend together; a
    reply's length is not foreseen, so the last requests may exceed a cap by their replies.

    The reserve for the last answer is a share of each cap, and where there is one, never less than a request as long as
    the longest so far: what was paid for is worth nothing if nobody can be asked for the answer.

    Args:
        caps: The limits.
        usage: Gives what the run has used so far.
        clock: Seconds, rising.
        began: When the run began by that clock; now by default. A run that goes on began as long ago as it took so far.
        purse: What it may spend together with other runs.
    """

    def __init__(
        self,
        caps: Caps,
        usage: Callable[[], Usage],
        clock: Callable[[], float] = time.monotonic,
        began: float | None = None,
        purse: Purse | None = None,
    ) -> None:
        self._caps = caps
        self._usage = usage
        self._clock = clock
        self._began = clock() if began is None else began
        self._share = 1.0 - min(1.0, caps.reserve)
        self._on_their_way = 0
        self._longest = 0
        self._purse = purse or Purse()

    def release_reserve(self) -> None:
        """Allows the whole of each cap from now on."""
        self._share = 1.0

    @property
    def seconds_left(self) -> float | None:
        """Seconds until the deadline, less the reserve; ``None`` without one."""
        if self._caps.deadline is None:
            return None
        return max(0.0, self._caps.deadline * self._share - (self._clock() - self._began))

    def reached(self, prompt_tokens: int = 0) -> str:
        """Tells which cap a request would exceed; empty where it may be made.

        Args:
            prompt_tokens: Estimated tokens of the request's prompt.
        """
        coming = self._on_their_way + prompt_tokens
        kept = max(self._longest, prompt_tokens) if self._share < 1.0 else 0
        own = exceeded(self._caps, self._usage(), coming, self._share, kept=kept)
        if cause := own or self._purse.refuse(prompt_tokens, self._share):
            return cause
        return self.deadline if self.seconds_left == 0 else ""

    @property
    def deadline(self) -> str:
        """The deadline in words."""
        return f"deadline = {self._caps.deadline or 0:g} s"

    @asynccontextmanager
    async def request(self, prompt_tokens: int) -> AsyncIterator[None]:
        """Bounds a request that is made.

        Raises:
            CapReached: It would exceed a cap, or the deadline came before its reply.
        """
        if cause := self.reached(prompt_tokens):
            raise CapReached(cause)
        self._on_their_way += prompt_tokens
        self._longest = max(self._longest, prompt_tokens)
        try:
            with self._purse.request(prompt_tokens):
                async with asyncio.timeout(self.seconds_left) as limit:
                    yield
        except TimeoutError:
            if limit.expired():
                raise CapReached(self.deadline) from None
            raise
        finally:
            self._on_their_way -= prompt_tokens
