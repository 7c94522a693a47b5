"""Shared memory that killed ranks leave behind: files that MPI libraries make on this machine and remove at the end."""

from __future__ import annotations

import os
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path

SHARED = Path("/dev/shm")
PATTERNS = ("mpich_shm_*", "sm_segment.*", "vader_segment.*")


def segments() -> set[Path]:
    """Lists the files of MPI libraries in shared memory; none where the system keeps no files for it."""
    return {path for pattern in PATTERNS for path in SHARED.glob(pattern)}


def remove_leftovers(before: Collection[Path]) -> None:
    """Removes what is there since, belongs to this user and is used by no process.

    Args:
        before: The files that were there before the ranks were started.
    """
    new = segments() - set(before)
    if not new:
        return
    used = _used()
    for path in new:
        # Gone, or another user's; another batch on this machine uses its own.
        with suppress(OSError):
            if str(path) not in used and path.stat().st_uid == os.getuid():
                path.unlink()


def _used() -> set[str]:
    """Lists the shared memory that processes of this user have before them."""
    used: set[str] = set()
    for maps in Path("/proc").glob("[0-9]*/maps"):
        with suppress(OSError):
            used.update(line.split(maxsplit=5)[-1] for line in maps.read_text().splitlines() if str(SHARED) in line)
    return used
