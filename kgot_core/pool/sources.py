"""The two kinds of slots: those of a pool that was started, and servers that were there."""

from __future__ import annotations

import hashlib
import socket
from collections.abc import Sequence
from pathlib import Path

from kgot_core.errors import KgotError, UsageError
from kgot_core.pool.holding import SlotSource
from kgot_core.pool.leasing import Slots
from kgot_core.pool.place import DEFAULT, LISTED, pool_folder, pools_folder, private_folder, refuse_foreign
from kgot_core.pool.state import PoolInfo, Slot, keeper_runs, read_password, read_pool, read_slots
from kgot_core.providers import BackendProvider
from kgot_core.settings import Settings
from kgot_core.settings.names import fold


class StartedPool(SlotSource):
    """The slots of a pool that ``kgot pool start`` has started.

    Args:
        folder: Its folder.
        backend: The backend that is wanted.

    Raises:
        UsageError: There is none, it is on another machine, or its servers are those of another backend.
    """

    def __init__(self, folder: Path, backend: str) -> None:
        refuse_foreign(folder)
        info = read_pool(folder)
        if info is None:
            raise UsageError(
                f"there is no pool in {folder}", hint="kgot pool start; kgot pool status lists those there"
            )
        if info.host != socket.gethostname():
            raise UsageError(
                f"the pool in {folder} is on {info.host}, and its servers can be reached there only",
                hint="start one on each host; a pool that is named, not a folder, is that of its host",
            )
        if info.backend != backend:
            raise UsageError(
                f"the pool in {folder} is one of {info.backend}, not of {backend}", hint=f"--backend {info.backend}"
            )
        self.folder, self._info = folder, info
        self.name = f"the pool in {folder}"

    @property
    def password(self) -> str | None:
        """The password of its servers."""
        return read_password(self.folder)

    def slots(self) -> Sequence[Slot]:
        """Gives the slots as they are now; none where it has ended, or another has taken its place."""
        now = read_pool(self.folder)
        return read_slots(self.folder, now) if now is not None and now.id == self._info.id else []

    def is_kept(self) -> bool:
        """Tells whether its keeper lives."""
        return keeper_runs(self.folder)

    def refuse_gone(self) -> None:
        """Refuses to wait where nobody starts or replaces servers any more, and none is left."""
        if not self.slots():
            raise KgotError(f"{self.name} has ended", hint="kgot pool start, then kgot resume")
        if not self.is_kept() and not any(slot.state == "ready" for slot in self.slots()):
            raise KgotError(f"nobody looks after {self.name} any more", hint="kgot pool start, then kgot resume")


class ListedServers(SlotSource):
    """Servers that the user lists; nothing is started or replaced.

    Args:
        backend: Their backend.
        addresses: Their addresses.

    Raises:
        UsageError: None is listed, or one twice.
    """

    password = None

    def __init__(self, backend: str, addresses: Sequence[str]) -> None:
        if len(set(addresses)) < len(addresses) or not all(addresses):
            raise UsageError(f"pool.{backend} lists a server twice, or an empty address")
        self.name = f"pool.{backend}"
        # Beside the pools, so that every batch of this user on this host knows of the others' leases.
        self.folder = private_folder(pools_folder() / LISTED)
        self._slots = [Slot(listed_name(backend, address), "ready", address, 1) for address in addresses]

    def slots(self) -> Sequence[Slot]:
        """Gives them all: whether one answers is found out when it is leased."""
        return self._slots

    def is_kept(self) -> bool:
        """Tells no: they are the user's own."""
        return False

    def refuse_gone(self) -> None:
        """Refuses nothing: a server may come back."""


def listed_name(backend: str, address: str) -> str:
    """Names the slot of a server that was listed; its address may hold what is no name of a file."""
    return f"{backend}-{hashlib.sha256(address.encode()).hexdigest()[:12]}"


def listed_addresses(settings: Settings, backend: str) -> tuple[str, ...]:
    """Gives the servers that are listed for a backend."""
    entry = next((one for path, one in settings.entries.items() if _lists(path, backend)), None)
    return tuple(str(address).strip() for address in entry.value) if entry is not None else ()


def _lists(path: tuple[str, ...], backend: str) -> bool:
    return len(path) == 2 and path[0] == "pool" and fold(path[1]) == fold(backend)


def named_folder(settings: Settings) -> Path:
    """Gives the folder of the pool that the settings name, or of the usual one."""
    return pool_folder(settings.core.pool.name or DEFAULT, settings.folder)


def open_slots(settings: Settings, provider: BackendProvider, values: object) -> Slots | None:
    """Gives the slots of which runs lease one; ``None`` where the settings name no pool.

    Raises:
        KgotError: There is no such pool, or none of its slots can be used.
    """
    listed = listed_addresses(settings, provider.name)
    if not listed and not settings.core.pool.name:
        return None
    if listed and settings.core.pool.name:
        raise UsageError(f"pool.{provider.name} and pool.name are both set", hint="leave one out")
    if settings.core.graph.keep:
        raise UsageError("a slot of a pool is empty for each run, so no graph is kept there", hint="leave --pool out")
    source: SlotSource = (
        ListedServers(provider.name, listed) if listed else StartedPool(named_folder(settings), provider.name)
    )
    slots = Slots(provider, values, source, settings.core.pool.patience)
    slots.check()
    return slots


def pool_secret(settings: Settings) -> str:
    """Gives the password of the pool that the settings name, so that it can be kept out of what is written."""
    return read_password(named_folder(settings)) if settings.core.pool.name else ""


__all__ = ["ListedServers", "PoolInfo", "StartedPool", "listed_addresses", "named_folder", "open_slots", "pool_secret"]
