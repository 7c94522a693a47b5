"""The files of one script in the sandbox ``monty``: all of them in memory, none on the host."""

from __future__ import annotations

import errno
import os
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from pydantic_monty import MemoryFile, MontyFileHandle, OSAccess

from kgot_core.sandboxes.files import Collector
from kgot_core.sandboxes.jail.wire import MAX_FILES

WORK = "/work"
_MAX_DEPTH = 10


class ScriptFiles(OSAccess):
    """A file system in memory, with a limit on what is written.

    Args:
        given: Files that the script may read, by name.
        limit_bytes: What the script may write in all.
    """

    def __init__(self, given: Mapping[str, Path], limit_bytes: int) -> None:
        files = [MemoryFile(f"{WORK}/{name}", path.read_bytes()) for name, path in given.items()]
        super().__init__([*files, MemoryFile(f"{WORK}/.keep", b"")], root_dir=WORK)
        self.path_unlink(PurePosixPath(f"{WORK}/.keep"))
        self._given = {file.path for file in files}
        self._room = limit_bytes
        self._new = 0
        self.full = False

    def path_open(self, path: PurePosixPath, mode: str) -> MontyFileHandle:
        """Opens a file; making a new one counts."""
        if mode[:1] != "r":
            self._count(path, 0)
        return super().path_open(path, mode)

    def path_write_text(self, path: PurePosixPath | MontyFileHandle, data: str) -> int:
        """Writes text."""
        self._count(path, len(data.encode("utf-8", "surrogatepass")))
        return super().path_write_text(path, data)

    def path_write_bytes(self, path: PurePosixPath | MontyFileHandle, data: bytes) -> int:
        """Writes bytes."""
        self._count(path, len(data))
        return super().path_write_bytes(path, data)

    def path_append_text(self, path: PurePosixPath | MontyFileHandle, data: str) -> int:
        """Appends text."""
        self._count(path, len(data.encode("utf-8", "surrogatepass")))
        return super().path_append_text(path, data)

    def path_append_bytes(self, path: PurePosixPath | MontyFileHandle, data: bytes) -> int:
        """Appends bytes."""
        self._count(path, len(data))
        return super().path_append_bytes(path, data)

    def path_mkdir(self, path: PurePosixPath, parents: bool, exist_ok: bool) -> None:
        """Makes a folder."""
        if len(path.parts) > _MAX_DEPTH:
            raise OSError(errno.ENAMETOOLONG, "the folder lies too deep", str(path))
        self._count(path, 0)
        super().path_mkdir(path, parents, exist_ok)

    def collect(self, folder: Path) -> Collector:
        """Writes what the script wrote into its working folder to a folder of the host.

        Raises:
            OSError: The folder cannot be written.
        """
        collector = Collector(folder)
        for path in sorted(self._written()):
            collector.add(str(path.relative_to(WORK)), [self.path_read_bytes(path)])
        return collector

    def _written(self) -> list[PurePosixPath]:
        found: list[PurePosixPath] = []
        folders = [PurePosixPath(WORK)] if self.path_is_dir(PurePosixPath(WORK)) else []
        while folders:
            for path in self.path_iterdir(folders.pop()):
                if self.path_is_dir(path):
                    folders.append(path)
                elif path not in self._given:
                    found.append(path)
        return found

    def _count(self, target: Any, size: int) -> None:
        path = PurePosixPath(target.path if isinstance(target, MontyFileHandle) else target)
        if path in self._given or PurePosixPath(WORK) not in path.parents:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        self._new += not self.path_exists(path)
        self._room -= size
        if self._room < 0 or self._new > MAX_FILES:
            self.full = True
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
