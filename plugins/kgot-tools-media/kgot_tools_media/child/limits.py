"""What the child process may not: use more memory than it is given, write files, open connections, start programs."""

from __future__ import annotations

import contextlib
import sys
from typing import Any

_NEW_NETWORK, _NEW_USER = 0x40000000, 0x10000000
_REFUSED = (
    "socket.connect",
    "socket.bind",
    "socket.sendto",
    "socket.getaddrinfo",
    "socket.gethostbyname",
    "subprocess.Popen",
    "os.system",
    "os.exec",
    "os.posix_spawn",
    "os.fork",
    "os.forkpty",
)


def limit(memory_mb: int, write_mb: int) -> None:
    """Takes from this process what it does not need, for good.

    Args:
        memory_mb: Memory that it may use, in MiB.
        write_mb: Size of a file that it may write, in MiB; 0 where it may write none.
    """
    with contextlib.suppress(ImportError):
        import resource

        # What is mapped and never touched costs nothing, so the data segment is counted where the system can.
        names = ["RLIMIT_DATA" if sys.platform == "linux" else "RLIMIT_AS"]
        _set(resource, names[0], memory_mb << 20)
        _set(resource, "RLIMIT_FSIZE", write_mb << 20)
        _set(resource, "RLIMIT_CORE", 0)
    _leave_network()
    sys.addaudithook(_refuse)


def _set(resource: Any, name: str, value: int) -> None:
    with contextlib.suppress(ValueError, OSError, AttributeError):
        resource.setrlimit(getattr(resource, name), (value, value))


def _leave_network() -> None:
    """Moves into a network that holds nothing, where the system lets us; libraries in C know no audit hook."""
    if sys.platform != "linux":
        return
    import ctypes

    unshare = ctypes.CDLL(None).unshare
    if unshare(_NEW_NETWORK) != 0:
        unshare(_NEW_NETWORK | _NEW_USER)


def _refuse(event: str, arguments: tuple[Any, ...]) -> None:
    if event in _REFUSED:
        raise PermissionError(f"a reader of files may not do this: {event}")
