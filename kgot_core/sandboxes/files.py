"""What may pass between a script's working folder and the host, the same for every sandbox."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path, PurePosixPath

_RESERVED = frozenset(
    ["con", "prn", "aux", "nul", *(f"com{number}" for number in range(10)), *(f"lpt{number}" for number in range(10))]
)
_FORBIDDEN = frozenset('<>:"|?*\\')
_REPLACED = _FORBIDDEN | {"/"}
_LONGEST_PART, _LONGEST_SUFFIX = 200, 20
_BEFORE = "file_"


def safe_name(name: str) -> bool:
    """Tells whether a relative name with ``/`` may be used for a file on any platform, and hides nothing."""
    parts = name.split("/")
    return 0 < len(name) <= 1_000 and len(parts) <= 10 and all(map(_safe_part, parts))


def _safe_part(part: str) -> bool:
    return (
        0 < len(part.encode("utf-8", "surrogatepass")) <= _LONGEST_PART
        and not part.startswith((".", "-", " ", "~"))
        and not part.endswith((".", " "))
        and part.isprintable()
        and not _FORBIDDEN.intersection(part)
        and part.partition(".")[0].casefold() not in _RESERVED
    )


def safe_form(name: str) -> str:
    """Gives a file's name in a form that :func:`safe_name` lets pass; a name that passes stays as it is."""
    if "/" not in name and safe_name(name):
        return name
    text = name.encode("utf-8", "replace").decode()
    plain = "".join("_" if sign in _REPLACED or not sign.isprintable() else sign for sign in text).strip(". -~")
    path = PurePosixPath(plain)
    suffix = path.suffix if len(path.suffix.encode()) <= _LONGEST_SUFFIX else ""
    stem = plain.removesuffix(suffix).encode()[: _LONGEST_PART - _LONGEST_SUFFIX - len(_BEFORE)].decode(errors="ignore")
    found = f"{stem.strip()}{suffix}"
    return found if safe_name(found) else f"{_BEFORE}{found}"


def given_files(files: Mapping[str, Path], limit_mb: int) -> dict[str, int]:
    """Looks at the files that a job is given and tells their sizes.

    Raises:
        ValueError: A name is not safe, a file is none, or all together are too large; the message says which.
    """
    sizes = {}
    for name, path in files.items():
        if not safe_name(name):
            raise ValueError(f"{name!r} cannot be the name of a file in the sandbox")
        if not path.is_file():
            raise ValueError(f"{path} is not a file")
        sizes[name] = path.stat().st_size
    if sum(sizes.values()) > limit_mb * 1024 * 1024:
        raise ValueError(f"the files for the sandbox are larger than {limit_mb} MiB together")
    return sizes


class Collector:
    """Takes the files of one job into a folder of the host.

    Nothing in the folder is followed or run over: a file there is replaced, a link too, and the new one is made anew.

    Args:
        folder: The folder, made where it is missing.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.names: list[str] = []
        self.refused: list[str] = []

    def add(self, name: str, parts: Iterable[bytes]) -> None:
        """Writes a file, or notes why not; ``parts`` is always read to its end.

        Raises:
            OSError: The disk is full, or the folder cannot be written.
        """
        target = self._target(name)
        if target is None:
            self.refused.append(name)
            for _ in parts:
                pass
            return
        target.unlink(missing_ok=True)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
        with os.fdopen(os.open(target, flags, 0o644), "wb") as file:
            for part in parts:
                file.write(part)
        self.names.append(name)

    def _target(self, name: str) -> Path | None:
        if not safe_name(name):
            return None
        self._folder.mkdir(parents=True, exist_ok=True)
        folder = self._folder
        *above, last = name.split("/")
        for part in above:
            folder /= part
            if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
                return None
            folder.mkdir(exist_ok=True)
        target = folder / last
        return None if target.is_dir() and not target.is_symlink() else target
