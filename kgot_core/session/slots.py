"""What a session gives the runs that hold a slot of a pool, and takes back at its end."""

from __future__ import annotations

from dataclasses import replace

from kgot_core.pool.leasing import Slots
from kgot_core.pool.sandboxes import SlotSandboxes
from kgot_core.run.concurrency.threads import in_thread
from kgot_core.run.parts import Parts
from kgot_core.settings import Settings


def with_slot_sandboxes(parts: Parts, slots: Slots | None, settings: Settings) -> Parts:
    """Lets runs that hold a slot find a sandbox ready that nobody has used, where there is a pool."""
    if slots is None:
        return parts
    sandboxes = SlotSandboxes(parts.sandbox, parts.code_limits, settings.core.pool.check_seconds)
    slots.on_held = sandboxes.expect
    return replace(parts, sandbox=sandboxes)


async def close_slot_sandboxes(parts: Parts) -> None:
    """Ends the sandboxes that were made ahead for runs of a session."""
    if isinstance(parts.sandbox, SlotSandboxes):
        await in_thread(parts.sandbox.close)
