"""Writes the members of an archive into a folder, and never outside it, over a file, or beyond the limits."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from kgot_tools_media.kinds import MAIL, SEVEN_ZIP, Kind, recognise
from kgot_tools_media.parts import CannotRead
from kgot_tools_media.unpacking.members import Member, members
from kgot_tools_media.unpacking.seven_zip import seven_zip_members

_CHUNK = 1 << 16
_SMALL = 8 << 20
_NAME = 120
_RESERVED = re.compile(r"^(con|prn|aux|nul|com\d|lpt\d)(\.|$)", re.IGNORECASE)


@dataclass
class Room:
    """What may still be written.

    Attributes:
        bytes: Bytes in all.
        files: Files.
        ratio: How many times its packed size a file above 8 MiB may be.
        depth: How deep archives within archives are unpacked.
    """

    bytes: int
    files: int
    ratio: int
    depth: int


@dataclass(frozen=True)
class Written:
    """What became of one member.

    Attributes:
        name: Its name; for one of an inner archive behind that archive's name.
        file: Where it was written, empty where it was not.
        bytes: Its size.
        kind: What it is.
        family: Which tool takes it.
        why: Why it was not written, or not unpacked further.
    """

    name: str
    file: str = ""
    bytes: int = 0
    kind: str = ""
    family: str = ""
    why: str = ""


def unpack(path: Path, kind: Kind, folder: Path, password: str, room: Room, level: int = 1) -> Iterator[Written]:
    """Unpacks an archive, and those in it.

    Raises:
        CannotRead: The archive itself cannot be read.
    """
    packed = kind is SEVEN_ZIP
    for member in seven_zip_members(path, password, room.bytes) if packed else members(path, kind, password):
        written = _write(member, folder, room)
        if not written.file:
            yield written
            continue
        inner = Path(written.file)
        try:
            found = recognise(inner).kind
        except CannotRead as error:
            yield replace(written, kind=error.message)
            continue
        written = replace(written, kind=found.title, family=found.family)
        if found.family != "archive" and (found is not MAIL or kind is not MAIL):
            yield written
            continue
        if level >= room.depth:
            yield replace(written, why=f"not unpacked further: archives are unpacked {room.depth} deep")
            continue
        yield written
        yield from _unpack_inner(inner, found, written.name, password, room, level)


def _unpack_inner(path: Path, kind: Kind, name: str, password: str, room: Room, level: int) -> Iterator[Written]:
    folder = path.with_name(path.name + ".content")
    try:
        folder.mkdir()
        for written in unpack(path, kind, folder, password, room, level + 1):
            yield replace(written, name=f"{name}/{written.name}")
    except (CannotRead, OSError) as error:
        yield Written(name, why=f"not unpacked further: it {error}")


def _write(member: Member, folder: Path, room: Room) -> Written:
    place = safe_place(member.name)
    why = member.refused or ("" if place else "its name leads out of the archive's folder, or is none")
    if not why and room.files <= 0:
        why = "more files than are unpacked at most"
    if why or place is None:
        return Written(member.name, why=why)
    target = folder / place
    most = room.bytes
    if member.packed:
        most = min(most, max(_SMALL, member.packed * room.ratio))
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with target.open("xb") as file, member.open() as source:
            size = 0
            while chunk := source.read(_CHUNK):
                size += len(chunk)
                if size > most:
                    break
                file.write(chunk)
    except FileExistsError:
        return Written(member.name, why="another file has this name already")
    except (OSError, EOFError, ValueError, RuntimeError, NotImplementedError) as error:
        target.unlink(missing_ok=True)
        if "password" in str(error).lower():
            raise CannotRead("is protected by another password than the one given") from None
        return Written(member.name, why=f"it is damaged: {error}")
    except Exception as error:  # each packing library has errors of its own
        target.unlink(missing_ok=True)
        return Written(member.name, why=f"it is damaged: {error}")
    if size > most:
        target.unlink()
        return Written(member.name, why=_too_large(most, room))
    room.bytes -= size
    room.files -= 1
    return Written(member.name, str(target), size)


def _too_large(most: int, room: Room) -> str:
    if most == room.bytes:
        return f"the limit of the whole archive is reached, {most:,} bytes were left"
    return f"it unpacks to more than {room.ratio} times its packed size, as files do that are made to fill a disk"


def safe_place(name: str) -> PurePosixPath | None:
    """Gives where below a folder a member may be written; ``None`` for a name that leads elsewhere."""
    if not name or any(ord(mark) < 32 for mark in name):
        return None
    slashed = name.replace("\\", "/")
    parts = [part for part in slashed.split("/") if part not in ("", ".")]
    absolute = slashed.startswith("/") or re.match(r"^[A-Za-z]:", slashed)
    if absolute or not parts or ".." in parts or any(_RESERVED.match(part) for part in parts):
        return None
    return PurePosixPath(*(_short(part.rstrip(" .") or "_") for part in parts))


def _short(part: str) -> str:
    """Makes a name one that any file system, and the sandbox for scripts, takes; a long one keeps its ending."""
    clean = "".join("_" if mark in ':*?"<>|' or not mark.isprintable() else mark for mark in part)
    clean = f"_{clean}" if clean[0] in ".-~ " else clean
    while len(clean.encode()) > _NAME:
        stem, dot, ending = clean.rpartition(".")
        clean = f"{stem[:-1]}.{ending}" if dot and len(ending) < 12 and stem else clean[:-1]
    return clean
