"""Lets calls that run side by side take effect in the order in which they were asked."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager


class Turns:
    """A line of calls; each takes its place when it begins, and waits for those before it when it has its result."""

    def __init__(self) -> None:
        self._last: asyncio.Event | None = None

    @asynccontextmanager
    async def take(self) -> AsyncIterator[Callable[[], Awaitable[None]]]:
        """Takes a place; gives what waits until all places before it are free."""
        before, mine = self._last, asyncio.Event()
        self._last = mine

        async def come() -> None:
            if before is not None:
                await before.wait()

        try:
            yield come
        finally:
            mine.set()
