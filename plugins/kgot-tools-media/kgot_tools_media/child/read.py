"""Reads a document in the child process."""

from __future__ import annotations

import importlib
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from kgot_tools_media.kinds import recognise
from kgot_tools_media.parts import CannotRead, Fact, Note, Options, Part

_DAMAGED = "is damaged and cannot be opened"
_PACKED = frozenset({"word", "slides", "workbook", "open_document", "epub"})
MOST_UNPACKED = 512 << 20


def run(job: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Gives the kind of a file, and its parts where it is a document.

    Args:
        job: ``path``, and ``options`` (see :class:`kgot_tools_media.parts.Options`).
    """
    path = Path(job["path"])
    found = recognise(path)
    yield {"kind": found.kind.title, "family": found.kind.family, "mismatch": bool(found.note)}
    if found.note:
        yield {"note": found.note}
    if found.kind.family != "document":
        return
    if found.kind.reader in _PACKED:
        _check_packed(path)
    reader = importlib.import_module(f"kgot_tools_media.readers.{found.kind.reader}")
    for item in reader.read(path, Options(**job["options"])):
        match item:
            case Part():
                yield {"part": asdict(item)}
            case Fact(text):
                yield {"fact": text}
            case Note(text):
                yield {"note": text}


def _check_packed(path: Path) -> None:
    """Refuses what would unpack to far more than a document needs, before a library unpacks it.

    Raises:
        CannotRead: It is damaged, or too large.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            whole = sum(info.file_size for info in archive.infolist())
    except (zipfile.BadZipFile, OSError, ValueError, RuntimeError) as error:
        raise CannotRead(f"{_DAMAGED}: {error}", "ask for the file again, or use another one") from None
    if whole > MOST_UNPACKED:
        raise CannotRead(f"would unpack to {whole >> 20:,} MiB; at most {MOST_UNPACKED >> 20} MiB are unpacked")
