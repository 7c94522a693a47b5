"""A running server of a pool, whatever runs it."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import subprocess
from abc import ABC, abstractmethod
from collections.abc import Iterator
from pathlib import Path

from kgot_core.contracts.servers import ProcessRecipe
from kgot_core.errors import KgotError

MARK = "KGOT_POOL_SERVER"
"""Variable in the environment of each process of a pool: its pool's id."""
PART = "KGOT_POOL_PART"
"""Variable in the environment of each process of one server: its pool's id, its slot, and which server of it."""
# What any program needs to start; no key is among them.
_KEPT = ("PATH", "LD_LIBRARY_PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "JAVA_HOME", "SYSTEMROOT")
_LOG_BYTES = 200_000
_LISTENS = "0A"
STRANGER = "another user's process listens on its port"


class RunningServer(ABC):
    """A server that was started.

    Attributes:
        words: What it is, in a message.
        port: The port on loopback on which it can be reached.
    """

    words: str
    port: int

    @abstractmethod
    def ended(self) -> str:
        """Tells how it ended; empty while it runs."""

    @abstractmethod
    def end(self) -> None:
        """Ends it, keeps its log, and leaves nothing behind. Idempotent."""


class ProcessServer(RunningServer):
    """A server that is a process of this one.

    Args:
        recipe: How it is started.
        folder: Its working folder.
        port: The port on which it listens.
        log: Where what it prints is appended.
        pool: Id of its pool.
        part: Tells it from the other servers of the pool.

    Raises:
        KgotError: It cannot be started.
    """

    def __init__(self, recipe: ProcessRecipe, folder: Path, port: int, log: Path, pool: str, part: str) -> None:
        self._recipe, self._log, self.port = recipe, log, port
        self._mark = f"{PART}={pool}-{part}"
        kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
        try:
            with log.open("ab") as out:
                self._process = subprocess.Popen(
                    list(recipe.command),
                    cwd=folder,
                    env={**kept, **recipe.environment, MARK: pool, PART: f"{pool}-{part}"},
                    stdin=subprocess.DEVNULL,
                    stdout=out,
                    stderr=out,
                    # A Ctrl-C in the terminal is for kgot, which ends its servers in order.
                    start_new_session=True,
                )
        except OSError as error:
            raise KgotError(f"{recipe.command[0]} cannot be started: {error.strerror or error}") from None
        self.words = f"process {self._process.pid}"

    def ended(self) -> str:
        """Tells with which code, or by which signal."""
        code = self._process.poll()
        if code is None:
            return ""
        return f"it was ended by {signal.Signals(-code).name}" if code < 0 else f"it ended with exit code {code}"

    def end(self) -> None:
        """Asks it to end, and ends it after its time is over."""
        if self._process.poll() is None:
            self._signal(signal.SIGTERM)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(self._recipe.stop_seconds)
        # What it started itself may outlive it.
        self._signal(signal.SIGKILL)
        self._process.wait()
        with self._log.open("ab") as log:
            for path in self._recipe.logs:
                if path.is_file():
                    log.write(path.read_bytes()[-_LOG_BYTES:])
                    path.unlink()

    def _signal(self, what: signal.Signals) -> None:
        # A program with rights of its own cannot be signalled by its user, but what it runs for him can.
        with contextlib.suppress(OSError):
            self._process.send_signal(what)
        for number in marked(self._mark):
            signalled(number, self._mark, what)


def free_port() -> int:
    """Gives a port on loopback that nobody listens on now."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        return int(free.getsockname()[1])


def stranger_at(port: int) -> bool:
    """Tells whether a process of another user listens on a port of this machine; root is none. Linux only.

    A port is free again once its server has ended, and whoever takes it then must not be told the pool's password.
    """
    own = (0, os.getuid()) if hasattr(os, "getuid") else ()
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        try:
            sockets = [line.split() for line in Path(table).read_text(encoding="ascii").splitlines()[1:]]
        except OSError:
            continue
        for _, local, _, state, _, _, _, user, *_ in sockets:
            if state == _LISTENS and int(local.rpartition(":")[2], 16) == port and int(user) not in own:
                return True
    return False


def marked(mark: str) -> Iterator[int]:
    """Gives the processes of this user that have a mark, ``NAME=value``, in their environment; Linux only."""
    for path in Path("/proc").glob("[0-9]*"):
        if _is_marked(int(path.name), mark):
            yield int(path.name)


def signalled(number: int, mark: str, what: signal.Signals) -> bool:
    """Sends a signal to a process with a mark, and to none that has been given its number since it was looked at.

    Returns:
        Whether it was there.
    """
    try:
        handle = os.pidfd_open(number)
    except OSError:  # it has ended
        return False
    try:
        there = _is_marked(number, mark)
        if there:
            signal.pidfd_send_signal(handle, what)
    except OSError:
        return False
    finally:
        os.close(handle)
    return there


def _is_marked(number: int, mark: str) -> bool:
    path = Path(f"/proc/{number}/environ")
    try:
        return path.stat().st_uid == os.getuid() and mark.encode() in path.read_bytes().split(b"\0")
    except OSError:  # it has ended, or is not ours
        return False


def last_words(log: Path) -> str:
    """Gives the last line of a log, for a message."""
    if not log.is_file():
        return ""
    lines = [line.strip() for line in log.read_text(encoding="utf-8", errors="replace")[-4_000:].splitlines()]
    return next((line[:300] for line in reversed(lines) if line), "")


def emptied(folder: Path) -> Path:
    """Gives a folder with nothing in it."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True, mode=0o700)
    return folder
