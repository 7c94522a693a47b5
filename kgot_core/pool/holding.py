"""One slot: where it comes from, how it is tried, and the hold on it.

A lease is a file with host, process and sign of life beside the slot's own, as that of a run: one whose process was
killed is taken over by the next run, which gets the slot clean.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from kgot_core.errors import KgotError, UsageError
from kgot_core.pool.server import STRANGER, stranger_at
from kgot_core.pool.state import Slot, lease_name
from kgot_core.providers import BackendProvider, Problem
from kgot_core.run.faults import said
from kgot_core.run.record import lease

ASIDE_SECONDS = 5.0
"""For how long a slot that could not be used is not looked at again."""


def asked(ask: Callable[[], Problem | None]) -> Problem | None:
    """Asks for a problem; a server that goes just now may raise whatever its driver has."""
    try:
        return ask()
    except KgotError as error:
        return Problem(error.message, error.hint)
    except Exception as error:
        return Problem(f"it cannot be reached: {said(error)}")


class SlotSource(Protocol):
    """Where slots come from: a pool that was started, or servers that were listed.

    Attributes:
        name: What it is, in a message.
        folder: Where the leases are.
        password: That of the pool's servers; ``None`` for servers that were there.
    """

    name: str
    folder: Path

    @property
    def password(self) -> str | None:
        """See above."""

    def slots(self) -> Sequence[Slot]:
        """Gives the slots as they are now."""

    def is_kept(self) -> bool:
        """Tells whether somebody starts another server in the place of one that is broken."""

    def refuse_gone(self) -> None:
        """Refuses to wait for what will never come.

        Raises:
            KgotError: The pool has ended.
        """


@dataclass
class Hold:
    """A slot that a run has leased.

    Attributes:
        slot: The slot as it was then.
        values: The settings with which the backend reaches its server.
    """

    slot: Slot
    values: Any
    _lease: lease.Lease = field(repr=False)

    def release(self) -> None:
        """Gives the slot back. Idempotent."""
        self._lease.release()


class SlotTrier:
    """Tries slots, and remembers why one could not be used.

    Args:
        provider: The backend.
        values: Its settings.
        source: Where the slots come from.
    """

    def __init__(self, provider: BackendProvider, values: Any, source: SlotSource) -> None:
        self._provider, self._values, self._source = provider, values, source
        self._aside: dict[str, tuple[float, Problem]] = {}

    def hold_any(self, wait: Callable[[float], object] = time.sleep) -> Hold | None:
        """Holds the first slot that can be used; ``None`` where none can now.

        Args:
            wait: Waits some seconds, where a process on another host that held a slot has to be watched.
        """
        slots = self._source.slots()
        first = os.getpid() % max(1, len(slots))  # so that several processes do not go for the same one
        for slot in (*slots[first:], *slots[:first]):
            aside = self._aside.get(slot.name)
            if slot.state != "ready" or (aside is not None and time.monotonic() < aside[0]):
                continue
            if not self.is_leased(slot) and (hold := self._hold(slot, wait)) is not None:
                return hold
        return None

    def is_leased(self, slot: Slot) -> bool:
        """Tells whether a run has a slot."""
        return lease.is_running(self._source.folder, lease_name(slot.name))

    def any_leased(self) -> bool:
        """Tells whether a run has any of the slots."""
        return any(self.is_leased(slot) for slot in self._source.slots())

    def is_lost(self, hold: Hold) -> bool:
        """Tells whether the server of a slot has broken since it was leased."""
        now = next((slot for slot in self._source.slots() if slot.name == hold.slot.name), None)
        if now is None or (now.state, now.generation) != ("ready", hold.slot.generation):
            return True
        servers = self._provider.servers
        if servers is None:
            return False
        return stranger_at(now.port) or asked(lambda: servers.answers(hold.values)) is not None

    def none_works(self) -> KgotError:
        """Gives the error of slots of which none can be used."""
        found = [(slot, self._why(slot)) for slot in self._source.slots()]
        words = "; ".join([f"{slot.name}: {problem.message}" for slot, problem in found if problem is not None][:3])
        hint = next((problem.hint for _, problem in found if problem is not None and problem.hint), "kgot pool status")
        return KgotError(f"no slot of {self._source.name} can be used; {words or 'it has none'}", hint=hint)

    def _why(self, slot: Slot) -> Problem | None:
        if slot.state != "ready":
            return Problem(slot.problem or "its server is starting")
        return self._aside[slot.name][1] if slot.name in self._aside else None

    def _hold(self, slot: Slot, wait: Callable[[float], object]) -> Hold | None:
        try:
            taken = lease.take(self._source.folder, wait, name=lease_name(slot.name), what="slot")
        except UsageError:  # another was quicker
            return None
        try:
            # It may have been replaced since it was looked at.
            slot = next((now for now in self._source.slots() if now.name == slot.name), slot)
            values = self._values
            if self._provider.servers is not None:
                values = self._provider.servers.reached(values, slot.address, self._source.password)
            problem = self._problem(slot, values)
            if problem is None:
                self._aside.pop(slot.name, None)
                return Hold(slot, values, taken)
            self._aside[slot.name] = (time.monotonic() + ASIDE_SECONDS, problem)
        except BaseException:
            taken.release()
            raise
        taken.release()
        return None

    def _problem(self, slot: Slot, values: Any) -> Problem | None:
        """Tells why a run could not begin on a server: it is away, used by others, or holds what is not ours."""
        if slot.state != "ready":
            return Problem(slot.problem or "its server is starting")
        if stranger_at(slot.port):
            return Problem(STRANGER)
        reach = self._provider.reach
        return asked(lambda: reach(values, False)) if reach is not None else None
