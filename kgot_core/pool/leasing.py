"""Leases the slots of a pool to runs: one run at a time has a slot, and more runs than slots wait."""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from collections.abc import AsyncIterator, Callable
from typing import Any

from kgot_core.pool.holding import Hold, SlotSource, SlotTrier
from kgot_core.providers import BackendProvider
from kgot_core.run.concurrency.threads import in_thread

FIRST_PAUSE, LONGEST_PAUSE = 0.1, 1.0


class Slots:
    """The slots of which the runs of this process lease one each.

    Args:
        provider: The backend.
        values: Its settings.
        source: Where the slots come from.
        patience: Seconds to wait while no slot works and none is in use.

    Attributes:
        on_held: Told how many slots runs of this process hold, each time one more does.
    """

    def __init__(self, provider: BackendProvider, values: Any, source: SlotSource, patience: float) -> None:
        self.on_held: Callable[[int], object] = lambda runs: None
        self._values, self._source, self._patience = values, source, patience
        self._trier = SlotTrier(provider, values, source)
        self._turn = asyncio.Lock()
        self._held: dict[str, Hold] = {}

    def check(self) -> None:
        """Makes sure that runs may get a slot, before the first one begins.

        Raises:
            KgotError: No slot can be used, none is in use, and nobody mends them.
        """
        self._source.refuse_gone()
        hold = self._trier.hold_any()
        if hold is not None:
            hold.release()
        elif not self._source.is_kept() and not self._trier.any_leased():
            raise self._trier.none_works()

    def settings(self, name: str) -> Any:
        """Gives the backend's settings for a slot that is held; those of no slot for an empty name."""
        return self._held[name].values if name else self._values

    @contextlib.asynccontextmanager
    async def held(self) -> AsyncIterator[Hold]:
        """Waits for a slot, and holds it for the time of the block.

        Raises:
            KgotError: No slot works for as long as there is patience.
        """
        async with self._turn:  # who came first is served first
            hold = await self._wait()
            self._held[hold.slot.name] = hold
            self.on_held(len(self._held))
        try:
            yield hold
        finally:
            self._held.pop(hold.slot.name, None)
            await asyncio.shield(in_thread(hold.release))

    async def is_lost(self, hold: Hold) -> bool:
        """Tells whether the server of a slot has broken since it was leased."""
        return await in_thread(lambda: self._trier.is_lost(hold))

    async def _wait(self) -> Hold:
        pause = FIRST_PAUSE
        idle_since: float | None = None
        while True:
            if (hold := await self._tried()) is not None:
                return hold
            if self._trier.any_leased():
                idle_since = None
            elif idle_since is None:
                idle_since = time.monotonic()  # one may just have been given back: tried once more in any case
            elif time.monotonic() - idle_since >= self._patience:
                raise self._trier.none_works()
            self._source.refuse_gone()
            await asyncio.sleep(pause)
            pause = min(LONGEST_PAUSE, pause * 1.5)

    async def _tried(self) -> Hold | None:
        """Tries all slots on a thread; a lease that came too late for a run that was cancelled is given back."""
        left = threading.Event()
        found: list[Hold] = []

        def work() -> Hold | None:
            hold = self._trier.hold_any(left.wait)
            if hold is not None:
                found.append(hold)
                if left.is_set():
                    hold.release()
            return hold

        try:
            return await in_thread(work)
        except BaseException:
            left.set()
            for hold in found:
                hold.release()
            raise


class Leased:
    """The slot of a run; without a name where there is no pool.

    Args:
        slots: The slots; ``None`` where there is no pool.
        hold: The slot that is held.
    """

    def __init__(self, slots: Slots | None = None, hold: Hold | None = None) -> None:
        self._slots, self._hold = slots, hold
        self.name = hold.slot.name if hold is not None else ""

    async def is_lost(self) -> bool:
        """Tells whether its server has broken, so that the run may go on in another slot."""
        return self._slots is not None and self._hold is not None and await self._slots.is_lost(self._hold)


@contextlib.asynccontextmanager
async def leased(slots: Slots | None) -> AsyncIterator[Leased]:
    """Holds a slot for the time of the block, where there is a pool.

    Raises:
        KgotError: No slot works for as long as there is patience.
    """
    if slots is None:
        yield Leased()
        return
    async with slots.held() as hold:
        yield Leased(slots, hold)
