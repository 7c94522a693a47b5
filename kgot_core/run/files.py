"""Files of a run: the task's attachments, and what its tools made. Nothing else of the user's is reachable."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Sequence
from pathlib import Path

from kgot_core.errors import KgotError, UsageError
from kgot_core.graph.values import JsonValue


class FileShelf:
    """Files by name.

    Args:
        attachments: The task's files.
        folder: Where new files go; ``None`` makes a temporary folder when it is first needed.

    Raises:
        UsageError: An attachment is missing or cannot be read.
    """

    def __init__(self, attachments: Sequence[Path], folder: Path | None) -> None:
        self._files: dict[str, Path] = {}
        self._folder = folder
        self._packages: Path | None = None
        self._temporary: tempfile.TemporaryDirectory[str] | None = None
        for path in attachments:
            self._files[self._free_name(path.name)] = _checked(path)

    @classmethod
    def recorded(cls, names: Sequence[str]) -> FileShelf:
        """Gives the names alone of files that a replay does not need."""
        shelf = cls((), None)
        shelf._files = {name: Path(name) for name in names}
        return shelf

    @property
    def folder(self) -> Path:
        """The folder for new files; made when first used."""
        if self._folder is None:
            self._temporary = tempfile.TemporaryDirectory(prefix="kgot-files-")
            self._folder = Path(self._temporary.name) / "files"
        self._folder.mkdir(parents=True, exist_ok=True)
        return self._folder

    @property
    def packages(self) -> Path:
        """The folder for Python packages, beside the other; everybody may read it, as a script may be nobody."""
        self._packages = self.folder.parent / f"{self.folder.name}-packages"
        self._packages.mkdir(exist_ok=True)
        self._packages.chmod(0o755)
        return self._packages

    @property
    def made_packages(self) -> Path | None:
        """The folder for Python packages, where it was made."""
        return self._packages

    def names(self) -> Sequence[str]:
        """Names of all files, attachments first."""
        return tuple(self._files)

    def path(self, name: str) -> Path:
        """Gives a file's path by its name or by an attachment's own path."""
        if name in self._files:
            return self._files[name]
        for path in self._files.values():
            if str(path) == name:
                return path
        known = ", ".join(self._files) or "none"
        raise KgotError(f"no file {name!r} belongs to this task; its files: {known}")

    def add(self, path: Path) -> str:
        """Makes a file of the run known; one that is known already keeps its name."""
        for name, known in self._files.items():
            if known == path:
                return name
        name = self._free_name(path.name)
        self._files[name] = path
        return name

    def close(self) -> None:
        """Removes a temporary folder. Idempotent."""
        if self._temporary is not None:
            self._temporary.cleanup()

    def _free_name(self, name: str) -> str:
        # A file system may hold names that are no text; the model and the record need text.
        name = name.encode("utf-8", "replace").decode()
        stem, suffix = Path(name).stem, Path(name).suffix
        free, number = name, 2
        while free in self._files:
            free, number = f"{stem}-{number}{suffix}", number + 1
        return free


def describe_attachment(path: Path) -> dict[str, JsonValue]:
    """Gives an attachment's name, size and hash for the record."""
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256")
        return {"name": path.name, "bytes": file.tell(), "sha256": digest.hexdigest()}


def _checked(path: Path) -> Path:
    if not path.exists():
        raise UsageError(f"the file {path} does not exist")
    if not path.is_file():
        raise UsageError(f"{path} is not a file")
    try:
        with path.open("rb") as file:
            file.read(1)
    except OSError as error:
        raise UsageError(f"the file {path} cannot be read: {error.strerror}") from None
    return path.resolve()
