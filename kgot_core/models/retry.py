"""Tries a request again as the paper says (B.3.2): after a random, exponentially growing pause of 1 to 60 seconds."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from kgot_core.models.judgement import Fault

if TYPE_CHECKING:
    from tenacity import RetryCallState

T = TypeVar("T")
OnRetry: TypeAlias = Callable[[int, float, str], None]
"""Called before a pause with the number of the attempt that failed, the pause in seconds, and the cause."""


class Failed(Exception):
    """One attempt failed."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.cause)
        self.fault = fault


@dataclass(frozen=True)
class RetryPolicy:
    """How often and how patiently a request is tried.

    Attributes:
        attempts: Attempts in all (``max_llm_attempts``).
        shortest: Lower bound of a pause in seconds.
        longest: Upper bound of a pause that the server did not ask for.
        sleep: Waits; replaced in tests.
        now: Seconds since the epoch; replaced in tests.
    """

    attempts: int = 6
    shortest: float = 1.0
    longest: float = 60.0
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    now: Callable[[], float] = time.time


async def persist(attempt: Callable[[], Awaitable[T]], policy: RetryPolicy, on_retry: OnRetry | None = None) -> T:
    """Runs an attempt until it succeeds, fails for good, or the attempts are used up.

    Raises:
        Failed: The last attempt's failure.
    """
    from tenacity import AsyncRetrying, retry_if_exception, stop_after_attempt, wait_random_exponential

    backoff = wait_random_exponential(min=policy.shortest, max=policy.longest)

    def pause(state: RetryCallState) -> float:
        asked = _fault(state).wait
        # The server knows when it is ready; the fraction keeps requests that were refused together apart.
        return backoff(state) if asked is None else max(policy.shortest, asked) + random.random()

    def report(state: RetryCallState) -> None:
        if on_retry is not None:
            on_retry(state.attempt_number, state.upcoming_sleep, _fault(state).cause)

    retrying = AsyncRetrying(
        stop=stop_after_attempt(policy.attempts),
        wait=pause,
        retry=retry_if_exception(lambda error: isinstance(error, Failed) and error.fault.outcome == "retry"),
        sleep=policy.sleep,
        before_sleep=report,
        reraise=True,
    )
    return await retrying(attempt)


def _fault(state: RetryCallState) -> Fault:
    error = state.outcome.exception() if state.outcome else None
    return error.fault if isinstance(error, Failed) else Fault("final", str(error))
