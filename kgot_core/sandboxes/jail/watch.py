"""Watches what all processes of a job use together, since resource limits hold for each process alone."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

_MIB = 1024 * 1024
_PAGE = os.sysconf("SC_PAGE_SIZE")
_PERIOD = 0.01
_MAX_INODES = 20_000


def pages(pid: str | int, field: int) -> int:
    """Gives a number of pages from a process's ``statm``: 0 all, 1 resident."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[field])


def _threads(pid: str) -> int:
    # The name before it may hold spaces and parentheses.
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[17])


def _proportional(pid: str) -> int:
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1]) * 1024
    return 0


class Watch:
    """Looks now and then whether a job is still within its limits.

    Args:
        limits: The job's limits, as in ``SandboxLimits``.
        folders: The writable file systems.
    """

    def __init__(self, limits: dict[str, Any], folders: list[str]) -> None:
        self._limits = limits
        self._folders = folders
        self._bytes, self._inodes = self._room()
        self._base = pages("self", 1) * _PAGE
        self._deadline: float = time.monotonic() + limits["seconds"]
        self._next = time.monotonic() + _PERIOD

    def wait(self) -> float:
        """Gives how long the caller may sleep, in seconds."""
        return max(0.0, min(self._deadline, self._next) - time.monotonic())

    def check(self) -> str:
        """Gives the limit that was passed, or an empty text."""
        now = time.monotonic()
        if now >= self._deadline:
            return "time"
        if now < self._next:
            return ""
        self._next = now + _PERIOD
        return self._files() or self._processes()

    def _files(self) -> str:
        left, inodes = self._room()
        if self._bytes - left > self._limits["file_mb"] * _MIB or self._inodes - inodes > _MAX_INODES:
            return "files"
        return ""

    def _room(self) -> tuple[int, int]:
        states = [os.statvfs(folder) for folder in self._folders]
        return sum(state.f_bfree * state.f_frsize for state in states), sum(state.f_ffree for state in states)

    def _processes(self) -> str:
        own = str(os.getpid())
        found = [name for name in os.listdir("/proc") if name.isdigit() and name != own]  # noqa: PTH208
        count = 0
        resident: dict[str, int] = {}
        for pid in found:
            try:
                count += _threads(pid)
                resident[pid] = pages(pid, 1) * _PAGE
            except (OSError, ValueError, IndexError):
                continue
        if count > self._limits["processes"]:
            return "processes"
        room = self._limits["memory_mb"] * _MIB + self._base
        # Forked processes share pages, so the sum is an upper bound; the exact figure is dear and seldom needed.
        if len(resident) > 1 and sum(resident.values()) > room:
            return "memory" if sum(self._exact(pid, size) for pid, size in resident.items()) > room else ""
        return ""

    @staticmethod
    def _exact(pid: str, resident: int) -> int:
        try:
            return _proportional(pid)
        except FileNotFoundError:
            return 0
        except OSError:
            return resident
