"""Looks at the processes that a sandbox has started on this machine."""

from __future__ import annotations

import os
import select
from pathlib import Path


def descendants(pid: int) -> list[int]:
    """Gives all processes below a process."""
    found: list[int] = []
    waiting = [pid]
    while waiting:
        for thread in Path(f"/proc/{waiting.pop()}/task").glob("*/children"):
            children = [int(child) for child in thread.read_text().split()]
            found += children
            waiting += children
    return found


def gone(pids: list[int]) -> bool:
    """Waits until processes have ended, five seconds for each at most."""
    for pid in pids:
        try:
            handle = os.pidfd_open(pid)
        except ProcessLookupError:
            continue
        try:
            if not select.select([handle], [], [], 5)[0]:
                return False
        finally:
            os.close(handle)
    return True


def jail_of(host: int) -> list[int]:
    """Gives the processes of the jails that a process has started."""
    own = [pid for pid in descendants(host) if b"jail.worker" in Path(f"/proc/{pid}/cmdline").read_bytes()]
    assert own, "no jail is running"
    return own
