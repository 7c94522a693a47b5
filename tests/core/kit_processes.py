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


def first_of(jail: list[int]) -> int:
    """Gives the worker of a jail: its first process, which runs no job itself."""
    (found,) = (pid for pid in jail if _numbers(pid)[1:] and _numbers(pid)[-1] == 1)
    return found


def waiting_in(jail: list[int]) -> int:
    """Waits for the process that waits for the next job, and gives it."""
    worker = first_of(jail)
    for _ in range(100_000):
        if found := descendants(worker):
            return found[0]
    raise AssertionError("no process waits for a job")


def _numbers(pid: int) -> list[int]:
    """Gives a process's number in each space of process numbers, its own last."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next([int(number) for number in line.split()[1:]] for line in lines if line.startswith("NSpid:"))
