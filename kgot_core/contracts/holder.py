"""Which process holds a thing that only one may use at a time, and whether it is still alive."""

from __future__ import annotations

import contextlib
import os
import secrets
import socket
import time
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class Holder:
    """The process that holds a run, a database, or a graph on a server.

    Attributes:
        host: Name of the machine and, where there is one, of the space in which its process numbers count.
        process: Number of the process.
        born: When the process began, in the machine's own terms; empty where that cannot be told.
        token: Tells two holds of one process apart.
        since: When it was taken, in seconds since 1970; 0 where that was not written down.
    """

    host: str
    process: int
    born: str
    token: str
    since: float = field(default=0.0, compare=False)

    @classmethod
    def here(cls) -> Holder:
        """Gives this process."""
        return cls(_host(), os.getpid(), _born(os.getpid()), secrets.token_hex(8), time.time())

    @property
    def gone(self) -> bool | None:
        """Tells whether the process has ended; ``None`` where that cannot be told from here."""
        if self.host != _host() or not self.born:
            return None
        return _born(self.process) != self.born

    @property
    def words(self) -> str:
        """The holder in a message."""
        return f"process {self.process} on {self.host.partition(' ')[0]}"


def _host() -> str:
    space = ""
    with contextlib.suppress(OSError):
        space = " " + str(Path("/proc/self/ns/pid").readlink())
    return socket.gethostname() + space


def _born(process: int) -> str:
    """Tells one process from another that gets its number later, also after the machine was started anew."""
    try:
        stat = Path(f"/proc/{process}/stat").read_text(encoding="utf-8", errors="replace")
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="utf-8").strip()
    except OSError:
        return ""
    state, *rest = stat.rpartition(")")[2].split()
    # A zombie has ended; only its parent has not noticed.
    return "" if state in ("Z", "X") else f"{rest[18]} {boot}"
