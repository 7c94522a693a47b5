"""The files of the folders that the user opened."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

_LEFT_OUT = frozenset({"__pycache__", "node_modules"})


@dataclass(frozen=True)
class Listed:
    """A file of a folder.

    Attributes:
        address: Its path within the folder, with the folder's name before it where there are several.
        path: Where it is.
    """

    address: str
    path: Path


def listed(folders: Sequence[Path]) -> Iterator[Listed]:
    """Gives the files below folders in a fixed order; hidden ones are left out, links to folders not followed."""
    for folder in folders:
        for place, below, names in os.walk(folder):
            below[:] = sorted(name for name in below if not name.startswith(".") and name not in _LEFT_OUT)
            for name in sorted(names):
                path = Path(place, name)
                if not name.startswith(".") and path.is_file() and folder in path.resolve().parents:
                    yield Listed(address_of(path, folders), path)


def address_of(path: Path, folders: Sequence[Path]) -> str:
    """Gives a file's path within the folder that holds it; its name alone where none does."""
    for folder in folders:
        if folder in path.parents:
            inside = path.relative_to(folder).as_posix()
            return f"{folder.name}/{inside}" if len(folders) > 1 else inside
    return path.name
