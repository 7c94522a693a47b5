"""Who writes into a run's folder: a small file with host, process and a sign of life, there while the run goes on.

No file locks: not every file system of a cluster has them.
"""

from __future__ import annotations

import contextlib
import json
import os
import threading
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

from kgot_core.contracts.holder import Holder
from kgot_core.errors import KgotError, UsageError

NAME = "running.json"
BEAT_SECONDS = 5.0
WATCH_SECONDS = 30.0
"""How long the holder on another host may give no sign of life before it counts as gone."""


class Lease:
    """The hold on a run's folder, until it is released. A thread gives the sign of life.

    Args:
        path: The lease's file.
        holder: This process.
        what: What is held, in a message.
    """

    def __init__(self, path: Path, holder: Holder, what: str = "run") -> None:
        self._path = path
        self._holder = holder
        self._what = what
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
        found = _read(self._path)
        if found is not None and found.token != self._holder.token:
            raise KgotError(f"{found.words} goes on with the {self._what} in {self._path.parent}, so this one ends")

    def release(self) -> None:
        """Gives the hold back. Idempotent."""
        if not self._ended.is_set():
            self._ended.set()
            self._thread.join()
            found = _read(self._path)
            if found is not None and found.token == self._holder.token:
                with contextlib.suppress(OSError):
                    self._path.unlink(missing_ok=True)

    def _beat(self) -> None:
        while not self._ended.wait(BEAT_SECONDS):
            with contextlib.suppress(OSError):  # a full disk, or a folder that has gone: whoever writes there says so
                os.utime(self._path)


def take(folder: Path, wait: Callable[[float], object] = time.sleep, *, name: str = NAME, what: str = "run") -> Lease:
    """Takes the hold on a run's folder; may watch a holder on another host for ``WATCH_SECONDS``.

    Args:
        folder: The run's folder.
        wait: Waits some seconds.
        name: Name of the lease's file.
        what: What is held, in a message.

    Raises:
        UsageError: The run is still running.
        OSError: The folder cannot be written.
    """
    path, holder = folder / name, Holder.here()
    mine = path.with_name(f"{name}.{holder.token}")
    mine.write_text(json.dumps(asdict(holder)), encoding="utf-8")
    try:
        while not _put(mine, path):
            found = _read(path)
            _refuse_living(path, found, wait, what)
            if path.exists():
                _take_over(mine, path, found, what)
                break
    finally:
        mine.unlink(missing_ok=True)
    return Lease(path, holder, what)


def read_holder(folder: Path, name: str = NAME) -> Holder | None:
    """Gives whoever holds a run's folder; ``None`` where nobody does, or its file cannot be read.

    Args:
        folder: The run's folder.
        name: Name of the lease's file.
    """
    return _read(folder / name)


def is_running(folder: Path, name: str = NAME) -> bool:
    """Tells whether a run goes on, as far as can be told at once.

    Args:
        folder: The run's folder.
        name: Name of the lease's file.
    """
    holder = _read(folder / name)
    if holder is None:
        return False
    if holder.gone is not None:
        return not holder.gone
    return time.time() - _beaten(folder / name) / 1e9 < WATCH_SECONDS


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


def _refuse_living(path: Path, found: Holder | None, wait: Callable[[float], object], what: str) -> None:
    """Refuses to take a lease whose holder is alive.

    Raises:
        UsageError: It is.
    """
    gone = found.gone if found is not None else None
    if gone is False or (gone is None and _gives_sign(path, wait)):
        raise _running(path.parent, found, what)


def _take_over(mine: Path, path: Path, found: Holder | None, what: str) -> None:
    """Puts a lease in the place of one whose holder has ended. Only one of several that want to may do so.

    Raises:
        UsageError: Another process was quicker.
    """
    claim = path.with_name(f"{path.name}.over.{found.token if found is not None else 'unread'}")
    with contextlib.suppress(FileNotFoundError):
        if time.time() - claim.stat().st_mtime > WATCH_SECONDS:
            claim.unlink()  # whoever made it was killed meanwhile
    try:
        claim.touch(exist_ok=False)
    except FileExistsError:
        raise _running(path.parent, None, what) from None
    try:
        if _read(path) != found:
            raise _running(path.parent, _read(path), what)
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


def _running(folder: Path, holder: Holder | None, what: str) -> UsageError:
    who = f" ({holder.words})" if holder is not None else ""
    return UsageError(f"the {what} in {folder} is still running{who}", hint="wait for it, or end it first")


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
