"""The folder of one job inside the jail: filled before it, read and emptied after it, with no other process about."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from . import wire
from .script import WORK

ROOT = "/tmp"
_SHARED = "/tmp/shm"
_MEMORY = "/dev/shm"
_MAX_DEPTH = 8
Mark = tuple[int, int, int]


def roots(shared_memory: bool) -> list[str]:
    """Gives the places that scripts may write to.

    Args:
        shared_memory: Shared memory is a file system of its own, not a link to the other place.
    """
    return [ROOT, _MEMORY] if shared_memory else [ROOT]


def make_folders() -> None:
    """Makes the working folder and the one for shared memory."""
    for folder in (WORK, _SHARED):
        Path(folder).mkdir(mode=0o700)


def write_file(name: str, parts: Iterator[bytes]) -> Mark:
    """Writes a given file, readable only, and gives its mark, by which a file that was not touched is known."""
    path = Path(WORK, name)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("xb") as file:
        for part in parts:
            file.write(part)
        os.fchmod(file.fileno(), 0o444)
    return _mark(path.lstat())


def new_files(given: dict[str, Mark], room: int) -> tuple[list[dict[str, Any]], str]:
    """Lists the regular files that a job left in its working folder, at most ``room`` bytes of them.

    A file with holes may be far larger than what it takes up here.

    Returns:
        Name and size of each, sorted by name; and a note about those that cannot come back.
    """
    found: list[dict[str, Any]] = []
    passed_over = 0
    folders = [(WORK, "", 0)]
    while folders:
        folder, prefix, depth = folders.pop()
        with os.scandir(folder) as entries:
            for entry in entries:
                state = entry.stat(follow_symlinks=False)
                name = prefix + entry.name
                if stat.S_ISDIR(state.st_mode):
                    if entry.name == "__pycache__":
                        continue
                    if depth < _MAX_DEPTH and os.access(entry.path, os.R_OK | os.X_OK):
                        folders.append((entry.path, name + "/", depth + 1))
                    else:
                        passed_over += 1
                elif not stat.S_ISREG(state.st_mode) or not _writable(name):
                    passed_over += 1
                elif given.get(name) == _mark(state):
                    continue
                elif len(found) >= wire.MAX_FILES or state.st_size > room:
                    passed_over += 1
                else:
                    room -= state.st_size
                    Path(entry.path).chmod(0o600)
                    found.append({"name": name, "size": state.st_size})
    note = (
        f"{passed_over} files were not kept: links, special files, odd names, or too many or too large"
        if passed_over
        else ""
    )
    return sorted(found, key=lambda file: str(file["name"])), note


def read_file(name: str, size: int) -> Iterator[bytes]:
    """Gives a file's content, exactly ``size`` bytes of it."""
    handle = os.open(Path(WORK, name), os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        while size > 0:
            part = os.read(handle, min(size, 1 << 18)) or bytes(min(size, 1 << 18))
            size -= len(part)
            yield part
    finally:
        os.close(handle)


def empty(places: list[str]) -> None:
    """Removes everything that a job wrote."""
    for root in places:
        _empty(root)


def _empty(root: str) -> None:
    """Empties a folder.

    Folders are moved up before they are emptied: a script can nest them deeper than a path may be long.
    """
    waiting = [root]
    # Started by root, the folder belongs to root, and a script cannot have changed its mode.
    with contextlib.suppress(PermissionError):
        Path(root).chmod(0o1777)
    while waiting:
        folder = waiting.pop()
        with os.scandir(folder) as entries:
            for entry in list(entries):
                if not entry.is_dir(follow_symlinks=False):
                    Path(entry.path).unlink()
                    continue
                Path(entry.path).chmod(0o700)
                moved = f"{root}/{os.urandom(8).hex()}"
                Path(entry.path).rename(moved)
                waiting.append(moved)
        if folder != root:
            Path(folder).rmdir()


def _mark(state: os.stat_result) -> Mark:
    return state.st_ino, state.st_size, state.st_mtime_ns


def _writable(name: str) -> bool:
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
