"""Runs the calls of a synchronous graph store on threads: as many at once as it allows, each within its time."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from typing import TypeVar

from kgot_core.contracts.backend import GraphBackend
from kgot_core.errors import QueryError, StoreError, StoreUnavailable
from kgot_core.run.concurrency.threads import in_thread

T = TypeVar("T")
GRACE = 2.0
ATTEMPTS = 3


class StoreCalls:
    """The calls of one store.

    Args:
        backend: The store; ``None`` in a replay, which never reaches it.
        seconds: Time limit of a call.
        pause: Seconds before a call is tried again, while the store is away; the next pause is twice as long.
        grace: Seconds beyond the limit that a store which keeps to the limit itself may take to say so.
        ending: Seconds that a call may take to end after it was cancelled.
    """

    def __init__(
        self,
        backend: GraphBackend | None,
        seconds: float,
        *,
        pause: float = 1.0,
        grace: float = GRACE,
        ending: float = 10.0,
    ) -> None:
        self.concurrency = backend.concurrency if backend else 1
        self._backend = backend
        self._seconds = seconds
        self._pause = pause
        self._grace = grace
        self._ending = ending
        self._places = asyncio.Semaphore(self.concurrency)

    async def run(self, function: Callable[[GraphBackend], T], seconds: float | None = None) -> T:
        """Runs one call.

        Args:
            function: The call.
            seconds: Its time limit, where it is not the usual one.

        Raises:
            QueryError: The statement's fault, or its time was up.
            StoreUnavailable: The store is away, also after some pauses.
            StoreError: The call did not end, so that the store cannot be used any more.
        """
        backend = self._backend
        assert backend is not None, "a replayed run never reaches the store"
        async with self._places:
            for attempt in range(1, ATTEMPTS + 1):
                try:
                    return await self._limited(backend, lambda: function(backend), seconds or self._seconds)
                except StoreUnavailable:
                    if attempt == ATTEMPTS:
                        raise
                    await asyncio.sleep(self._pause * 2 ** (attempt - 1))
        raise AssertionError("unreachable")

    async def _limited(self, backend: GraphBackend, function: Callable[[], T], seconds: float) -> T:
        running = asyncio.ensure_future(in_thread(function))
        try:
            await asyncio.wait({running}, timeout=seconds + self._grace)
            if running.done():
                return running.result()
            with contextlib.suppress(Exception):  # whatever it says, the statement has had its time
                await in_thread(backend.cancel, GRACE)
            await asyncio.wait({running}, timeout=self._ending)
            if not running.done():
                raise StoreError("the graph store did not end a statement that took too long, and is given up")
            if running.exception() is None:
                # It was done after all, so the graph has changed: that must not be forgotten.
                return running.result()
            raise QueryError(f"the statement took longer than {seconds:g} seconds")
        finally:
            running.cancel()
