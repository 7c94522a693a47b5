"""Files of a run: the task's attachments, and what its tools made. Nothing else of the user's is reachable."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from kgot_core.errors import KgotError, UsageError
from kgot_core.graph.values import JsonValue


class FileShelf:
    """Files by name.

    Args:
        attachments: The task's files.
        folder: Where new files go; ``None`` makes a temporary folder when it is first needed.
        folders: Folders of the user's that tools may search and read.
        allowed: Further files and folders that may be read by their path.

    Raises:
        UsageError: An attachment is missing or cannot be read, or something that is to be opened does not exist.
    """

    def __init__(
        self,
        attachments: Sequence[Path],
        folder: Path | None,
        folders: Sequence[Path] = (),
        allowed: Sequence[Path] = (),
    ) -> None:
        self.folders = tuple(_folder(path) for path in folders)
        self._allowed = (*self.folders, *(_there(path) for path in allowed))
        self._files: dict[str, Path] = {}
        self._made: dict[str, Path] = {}
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

    @classmethod
    def named(cls, attachments: Mapping[str, Path], folder: Path) -> FileShelf:
        """Gives the attachments of a run that goes on by the names that they had.

        Raises:
            UsageError: One is missing or cannot be read.
        """
        shelf = cls((), folder)
        shelf._files = {name: _checked(path) for name, path in attachments.items()}
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
        opened = self._opened(name)
        if opened is not None:
            return opened
        known = ", ".join(self._files) or "none"
        raise KgotError(f"no file {name!r} belongs to this task; its files: {known}")

    def _opened(self, name: str) -> Path | None:
        """Finds a file below what the user opened; links are followed first, so none leads out of it."""
        # A file is named from within a folder, with the folder's own name before it, or from where the program runs.
        for root in (*self.folders, *(folder.parent for folder in self.folders), Path()):
            try:
                path = (root / name).resolve()
                if any(path == allowed or allowed in path.parents for allowed in self._allowed) and path.is_file():
                    return path
            except (OSError, ValueError, RuntimeError):
                continue
        return None

    def add(self, path: Path) -> str:
        """Makes a file of the run known; one that is known already keeps its name."""
        for name, known in self._files.items():
            if known == path:
                return name
        name = self._free_name(path.name)
        self._files[name] = path
        return name

    def find_made(self, handed_over: Iterable[str], written: Iterable[str]) -> None:
        """Finds the files that tools of a run made before it was broken off; each is known once it is revealed.

        Another file beside them belongs to a call that did not come to its end, and is removed.

        Args:
            handed_over: Names under which tools had made files known, in that order.
            written: Files that recorded scripts had written.

        Raises:
            UsageError: One is not there any more.
        """
        assert self._folder is not None, "only a run on disk goes on"
        there = sorted(path for path in self._folder.rglob("*") if path.is_file())
        for name in dict.fromkeys(handed_over):
            if name not in self._files:
                fitting = (path for path in there if self._free_name(path.name) == name)
                path = next((path for path in fitting if path not in self._made.values()), None)
                if path is None:
                    raise UsageError(
                        f"the file {name}, which a tool of the run made, is not in {self._folder} any more"
                    )
                self._made[name] = path
        kept = {*self._made.values(), *(self._folder / name for name in written)}
        for path in there:
            if path.parent == self._folder and path not in kept:
                path.unlink()

    def reveal(self, names: Iterable[str]) -> None:
        """Makes files known that a recorded call had handed over."""
        for name in names:
            if name in self._made:
                self._files[name] = self._made[name]

    def close(self) -> None:
        """Removes a temporary folder. Idempotent."""
        if self._temporary is not None:
            self._temporary.cleanup()

    def _free_name(self, name: str) -> str:
        # A file system may hold names that are no text; the model and the record need text.
        name = name.encode("utf-8", "replace").decode()
        stem, suffix = Path(name).stem, Path(name).suffix
        free, number = name, 2
        while free in self._files or free in self._made:
            free, number = f"{stem}-{number}{suffix}", number + 1
        return free


def describe_attachment(path: Path) -> dict[str, JsonValue]:
    """Gives an attachment's name, path, size and hash for the record."""
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256")
        return {"name": path.name, "path": str(path), "bytes": file.tell(), "sha256": digest.hexdigest()}


def _there(path: Path) -> Path:
    if not path.exists():
        raise UsageError(f"{path}, which tools may read, does not exist")
    return path.resolve()


def _folder(path: Path) -> Path:
    if not path.is_dir():
        raise UsageError(f"{path} is not a folder", hint="--folder names a folder of documents")
    return path.resolve()


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
