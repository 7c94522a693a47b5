"""Who writes into a run's folder: a small file with host, process and a sign of life, there while the run goes on.

No file locks: not every file system of a cluster has them.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import socket
import threading
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

from kgot_core.errors import KgotError, UsageError

NAME = "running.json"
BEAT_SECONDS = 5.0
WATCH_SECONDS = 30.0
"""How long the holder on another host may give no sign of life before it counts as gone."""


@dataclass(frozen=True)
class Holder:
    """The process that holds a run.

    Attributes:
        host: Name of the machine and, where there is one, of the space in which its process numbers count.
        process: Number of the process.
        born: When the process began, in the machine's own terms; empty where that cannot be told.
        token: Tells two holds of one process apart.
    """

    host: str
    process: int
    born: str
    token: str

    @classmethod
    def here(cls) -> Holder:
        """Gives this process."""
        return cls(_host(), os.getpid(), _born(os.getpid()), secrets.token_hex(8))

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


class Lease:
    """The hold on a run's folder, until it is released. A thread gives the sign of life.

    Args:
        path: The lease's file.
        holder: This process.
    """

    def __init__(self, path: Path, holder: Holder) -> None:
        self._path = path
        self._holder = holder
        self._ended = threading.Event()
        self._looked = time.time()
        self._thread = threading.Thread(target=self._beat, daemon=True, name="kgot-lease")
        self._thread.start()

    def check(self) -> None:
        """Makes sure, once a second, that the hold was not taken over while this process slept.

        Raises:
            KgotError: It was.
        """
        if abs(time.time() - self._looked) < 1.0:
            return
        self._looked = time.time()
        found = read_holder(self._path.parent)
        if found is not None and found.token != self._holder.token:
            raise KgotError(f"{found.words} goes on with the run in {self._path.parent}, so this one ends")

    def release(self) -> None:
        """Gives the hold back. Idempotent."""
        if not self._ended.is_set():
            self._ended.set()
            self._thread.join()
            found = read_holder(self._path.parent)
            if found is not None and found.token == self._holder.token:
                with contextlib.suppress(OSError):
                    self._path.unlink(missing_ok=True)

    def _beat(self) -> None:
        while not self._ended.wait(BEAT_SECONDS):
            with contextlib.suppress(OSError):  # a full disk, or a folder that has gone: whoever writes there says so
                os.utime(self._path)


def take(folder: Path, wait: Callable[[float], object] = time.sleep) -> Lease:
    """Takes the hold on a run's folder; may watch a holder on another host for ``WATCH_SECONDS``.

    Args:
        folder: The run's folder.
        wait: Waits some seconds.

    Raises:
        UsageError: The run is still running.
        OSError: The folder cannot be written.
    """
    path, holder = folder / NAME, Holder.here()
    mine = path.with_name(f"{NAME}.{holder.token}")
    mine.write_text(json.dumps(asdict(holder)), encoding="utf-8")
    try:
        while not _put(mine, path):
            found = _read(path)
            _refuse_living(path, found, wait)
            if path.exists():
                _take_over(mine, path, found)
                break
    finally:
        mine.unlink(missing_ok=True)
    return Lease(path, holder)


def read_holder(folder: Path) -> Holder | None:
    """Gives whoever holds a run's folder; ``None`` where nobody does, or its file cannot be read."""
    return _read(folder / NAME)


def is_running(folder: Path) -> bool:
    """Tells whether a run goes on, as far as can be told at once."""
    holder = read_holder(folder)
    if holder is None:
        return False
    if holder.gone is not None:
        return not holder.gone
    return time.time() - _beaten(folder / NAME) / 1e9 < WATCH_SECONDS


def _put(mine: Path, path: Path) -> bool:
    """Puts a lease where none is; it is there whole or not at all."""
    try:
        os.link(mine, path)
    except FileExistsError:
        return False
    except OSError:  # a file system without links
        try:
            file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
        except FileExistsError:
            return False
        with os.fdopen(file, "wb") as stream:
            stream.write(mine.read_bytes())
    return True


def _refuse_living(path: Path, found: Holder | None, wait: Callable[[float], object]) -> None:
    """Refuses to take a lease whose holder is alive.

    Raises:
        UsageError: It is.
    """
    gone = found.gone if found is not None else None
    if gone is False or (gone is None and _gives_sign(path, wait)):
        raise _running(path.parent, found)


def _take_over(mine: Path, path: Path, found: Holder | None) -> None:
    """Puts a lease in the place of one whose holder has ended. Only one of several that want to may do so.

    Raises:
        UsageError: Another process was quicker.
    """
    claim = path.with_name(f"{NAME}.over.{found.token if found is not None else 'unread'}")
    with contextlib.suppress(FileNotFoundError):
        if time.time() - claim.stat().st_mtime > WATCH_SECONDS:
            claim.unlink()  # whoever made it was killed meanwhile
    try:
        claim.touch(exist_ok=False)
    except FileExistsError:
        raise _running(path.parent, None) from None
    try:
        if _read(path) != found:
            raise _running(path.parent, _read(path))
        mine.replace(path)
    finally:
        claim.unlink(missing_ok=True)


def _gives_sign(path: Path, wait: Callable[[float], object]) -> bool:
    first = _beaten(path)
    for _ in range(int(WATCH_SECONDS)):
        if not path.exists():
            return False
        wait(1.0)
        if _beaten(path) != first:
            return True
    return False


def _running(folder: Path, holder: Holder | None) -> UsageError:
    who = f" ({holder.words})" if holder is not None else ""
    return UsageError(f"the run in {folder} is still running{who}", hint="wait for it, or end it first")


def _read(path: Path) -> Holder | None:
    try:
        return Holder(**json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None


def _beaten(path: Path) -> int:
    """Gives the time of the last sign of life; opened, since only that makes a network file system look again."""
    try:
        with path.open("rb") as file:
            return os.fstat(file.fileno()).st_mtime_ns
    except OSError:
        return 0


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
