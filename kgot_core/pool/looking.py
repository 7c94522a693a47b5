"""How a pool is, for people and programs: its slots, their servers, and who holds them."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from kgot_core.pool.holding import SlotSource
from kgot_core.pool.state import Slot, keeper_runs, lease_name, read_pool, read_slots
from kgot_core.run.record import lease


def describe_pool(folder: Path) -> dict[str, Any] | None:
    """Describes a pool that was started; ``None`` where there is none. No password is in it."""
    info = read_pool(folder)
    if info is None:
        return None
    return {
        "folder": str(folder),
        "host": info.host,
        "backend": info.backend,
        "servers": info.how,
        "sandbox": info.sandbox,
        "began": info.began,
        "kept": keeper_runs(folder),
        "slots": [describe_slot(folder, slot) for slot in read_slots(folder, info)],
    }


def describe_listed(source: SlotSource) -> dict[str, Any]:
    """Describes servers that were listed."""
    slots = [describe_slot(source.folder, slot) for slot in source.slots()]
    return {"folder": str(source.folder), "servers": "listed", "slots": slots}


def describe_slot(folder: Path, slot: Slot) -> dict[str, Any]:
    """Describes a slot: its state, its server, who holds it and since when (seconds since 1970)."""
    holder = since = None
    name = lease_name(slot.name)
    if lease.is_running(folder, name):
        found = lease.read_holder(folder, name)
        holder = found.words if found is not None else "somebody"
        since = found.since if found is not None else None
    return {
        "slot": slot.name,
        "state": slot.state,
        "address": slot.address,
        "server": slot.server,
        "since": slot.since,
        "servers_so_far": slot.generation,
        "problem": slot.problem,
        "holder": holder,
        "held_since": since,
    }


def pool_lines(told: dict[str, Any]) -> Iterator[str]:
    """Says in one line what a pool is, where it was started."""
    if "backend" in told:
        kept = "" if told["kept"] else "; NOBODY LOOKS AFTER IT: kgot pool start sweeps it and starts it anew"
        how = {"container": "in a container", "sarus": "in a container of Sarus", "process": "as a process"}
        what = f"each {told['backend']} {how[told['servers']]}" if told["servers"] in how else "no servers"
        yield f"{told['folder']} on {told['host']}: {len(told['slots'])} slots, {what}, sandbox {told['sandbox']}{kept}"


def slot_rows(told: dict[str, Any]) -> Sequence[Sequence[str]]:
    """Gives a row for each slot."""
    return [
        (
            slot["slot"],
            slot["state"],
            slot["address"] or "-",
            f"held by {slot['holder']} for {_age(slot['held_since'])}" if slot["holder"] else "free",
            slot["problem"],
        )
        for slot in told["slots"]
    ]


def _age(since: float | None) -> str:
    if since is None:
        return "some time"
    seconds = max(0, int(time.time() - since))
    return f"{seconds} s" if seconds < 120 else f"{seconds // 60} min"
