"""Finds the file that a model means."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path, PurePosixPath, PureWindowsPath

from kgot_core.contracts.tools import RunFiles, Source, ToolContext
from kgot_core.errors import KgotError
from kgot_tools_media.folders import address_of, listed


@dataclass(frozen=True)
class Located:
    """A file of the run.

    Attributes:
        name: Its name in the run, by which scripts find it too.
        path: Where it is.
        address: How a source names it: its name, or its path within a folder of the user's.
    """

    name: str
    path: Path
    address: str


def locate(context: ToolContext, said: str) -> Located:
    """Finds a file by its name or path; a folder put in front, or other letters' case, does no harm.

    Raises:
        KgotError: No file of the run is meant; the message lists those that there are.
    """
    files = context.files
    wanted = said.strip().strip("\"'`").removeprefix("file://")
    try:
        return _named(files, files.path(wanted))
    except KgotError as error:
        refused = error
    last = PureWindowsPath(PurePosixPath(wanted).name).name
    for alike in (last, _folded(last)):
        found = [name for name in files.names() if alike in (name, _folded(name))]
        if len(found) == 1:
            return _named(files, files.path(found[0]))
    below = [one.path for one in listed(files.folders) if _folded(one.path.name) == _folded(last)]
    if len(below) == 1:
        return _named(files, below[0])
    raise refused


def source(located: Located, place: str = "") -> Source:
    """Gives a file as the source of a result."""
    with located.path.open("rb") as file:
        return Source(located.address, place=place, sha256=hashlib.file_digest(file, "sha256").hexdigest())


def _named(files: RunFiles, path: Path) -> Located:
    # A file from a folder becomes one of the run, so that a script can read it too.
    name = next((name for name in files.names() if files.path(name) == path), None) or files.add(path)
    inside = any(folder in path.parents for folder in files.folders)
    return Located(name, path, address_of(path, files.folders) if inside else name)


def _folded(name: str) -> str:
    return re.sub(r"[\s_-]+", " ", name.casefold())
