"""What a pool writes down about itself: one file for the pool, one for each slot, and the password."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeAlias

from kgot_core.run.record import lease
from kgot_core.run.record.whole import write_whole

KEEPER = "keeper.json"
POOL = "pool.json"
PASSWORD = "password"
LOGS = "logs"
SlotState: TypeAlias = Literal["starting", "ready", "broken"]
How: TypeAlias = Literal["container", "sarus", "process", "listed", "none"]


@dataclass(frozen=True)
class PoolInfo:
    """A pool as it was started.

    Attributes:
        id: Tells it from every other pool, also an earlier one of the same folder: what belongs to it is marked so.
        host: The machine on which its servers listen.
        backend: The backend whose servers they are.
        how: How they run; ``none`` where the backend needs no server.
        slots: How many slots it has.
        sandbox: The sandbox that was found to work.
        began: When it was started, in seconds since 1970.
        engine: Address of the container engine, empty for the usual one.
    """

    id: str
    host: str
    backend: str
    how: How
    slots: int
    sandbox: str
    began: float
    engine: str = ""


@dataclass(frozen=True)
class Slot:
    """A slot as it is now.

    Attributes:
        name: Its name within the pool.
        state: ``starting``, ``ready`` or ``broken``.
        address: Address of its server; empty where there is none.
        generation: How many servers it has had.
        since: Since when it is in this state, in seconds since 1970.
        problem: Why it is broken.
        failures: How often in a row its server did not start.
        server: The process or container, for people.
        port: The port of this machine on which its server listens; 0 where that is not known.
    """

    name: str
    state: SlotState = "starting"
    address: str = ""
    generation: int = 0
    since: float = field(default_factory=time.time)
    problem: str = ""
    failures: int = 0
    server: str = ""
    port: int = 0


def write_pool(folder: Path, info: PoolInfo, password: str) -> None:
    """Writes down how a pool was started."""
    write_whole(folder / PASSWORD, password, private=True)
    write_whole(folder / POOL, json.dumps(asdict(info), indent=2) + "\n", private=True)


def read_pool(folder: Path) -> PoolInfo | None:
    """Reads how a pool was started; ``None`` where there is none."""
    data = _read(folder / POOL)
    try:
        return None if data is None else PoolInfo(**data)
    except TypeError:  # of another version
        return None


def read_password(folder: Path) -> str:
    """Reads a pool's password; empty where it has none."""
    try:
        return (folder / PASSWORD).read_text(encoding="utf-8")
    except OSError:
        return ""


def write_slot(folder: Path, slot: Slot) -> None:
    """Writes down how a slot is."""
    write_whole(folder / f"{slot.name}.json", json.dumps(asdict(slot)) + "\n", private=True)


def read_slots(folder: Path, info: PoolInfo) -> list[Slot]:
    """Reads how the slots of a pool are."""
    return [read_slot(folder, slot_name(number)) for number in range(1, info.slots + 1)]


def read_slot(folder: Path, name: str) -> Slot:
    """Reads how a slot is; one of which nothing is known yet is starting."""
    data = _read(folder / f"{name}.json")
    try:
        return Slot(name) if data is None else Slot(**data)
    except TypeError:
        return Slot(name)


def slot_name(number: int) -> str:
    """Names a slot."""
    return f"slot-{number}"


def lease_name(slot: str) -> str:
    """Names the file of a slot's lease."""
    return f"{slot}.lease.json"


def data_folder(folder: Path, info: PoolInfo) -> Path:
    """Gives the folder of what the servers of a pool store."""
    return folder / f"data-{info.id}"


def keeper_runs(folder: Path) -> bool:
    """Tells whether the process that looks after a pool is there."""
    return lease.is_running(folder, KEEPER)


def forget(folder: Path) -> None:
    """Removes everything of a pool but its logs."""
    for path in folder.iterdir() if folder.is_dir() else ():
        if path.name.startswith("data-") and path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        elif path.name in (POOL, PASSWORD) or (path.name.startswith("slot-") and path.name.endswith(".json")):
            path.unlink(missing_ok=True)


def _read(path: Path) -> Mapping[str, Any] | None:
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return data if isinstance(data, dict) else None
