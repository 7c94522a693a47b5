"""Archives of 7-Zip (extra ``seven-zip``)."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from kgot_tools_media.parts import CannotRead
from kgot_tools_media.unpacking.members import NEEDS_PASSWORD, Member, held


def seven_zip_members(path: Path, password: str, most_bytes: int) -> Iterator[Member]:
    """Gives the members; each is unpacked into memory by itself, within a number of bytes.

    Raises:
        CannotRead: The library is missing, the archive is damaged, or its password is missing or wrong.
    """
    if importlib.util.find_spec("py7zr") is None:
        raise CannotRead("is a 7z archive", "pip install 'kgot-tools-media[seven-zip]' reads these")
    import py7zr

    try:
        with py7zr.SevenZipFile(path, password=password or None) as archive:
            entries: list[Any] = [entry for entry in archive.files if not entry.is_directory]
        for entry in entries:
            refused = "it is a link" if entry.is_symlink or entry.is_junction else ""
            if entry.uncompressed > most_bytes:
                refused = f"it would unpack to {entry.uncompressed:,} bytes, more than the {most_bytes:,} that are left"
            data = b"" if refused else _content(path, password, entry.filename, most_bytes)
            yield Member(entry.filename, held(data), 0, refused)
    except py7zr.exceptions.PasswordRequired:
        raise CannotRead(NEEDS_PASSWORD, "give it as password") from None
    except (py7zr.exceptions.ArchiveError, py7zr.exceptions.CrcError, EOFError, OSError) as error:
        if password:
            raise CannotRead(f"cannot be opened with this password: {error}") from None
        raise CannotRead(f"is damaged and cannot be opened: {error}", "ask for the file again") from None


def _content(path: Path, password: str, name: str, most_bytes: int) -> bytes:
    from py7zr import SevenZipFile
    from py7zr.io import BytesIOFactory

    factory = BytesIOFactory(most_bytes)
    with SevenZipFile(path, password=password or None) as archive:
        archive.extract(targets=[name], factory=factory)
    made: Any = factory
    file = made.get(name)
    file.seek(0)
    return bytes(file.read())
