"""What a session gives the runs that hold a slot of a pool, and takes back at its end."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

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


async def close_parts(parts: Parts, given: Iterable[Any]) -> None:
    """Closes what a session has opened: its models, but none that was passed in code, and sandboxes made ahead."""
    kept = {id(model) for model in given}
    for client in {*parts.clients.values(), parts.embedder}:
        close = getattr(client, "aclose", None)
        if close is not None and id(client) not in kept:
            # A client that cannot be closed must not hide what the session was used for.
            with contextlib.suppress(Exception):
                await close()
    if isinstance(parts.sandbox, SlotSandboxes):
        await in_thread(parts.sandbox.close)
