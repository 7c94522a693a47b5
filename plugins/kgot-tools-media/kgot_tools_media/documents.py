"""Documents of a run: read once in a child process, then kept."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from kgot_tools_media.jobs import done_on
from kgot_tools_media.locating import Located
from kgot_tools_media.parts import Part
from kgot_tools_media.process import Limits


@dataclass(frozen=True)
class Document:
    """What a file holds.

    Attributes:
        name: The file's name in the run.
        address: How a source names it.
        kind: What it is called.
        family: ``document``, or which other reader it needs: ``image``, ``sound``, ``archive``.
        facts: Short facts for its first line.
        notes: What one has to know of it.
        parts: Its content.
        sha256: Hash of the file.
    """

    name: str
    address: str
    kind: str
    family: str
    facts: Sequence[str] = ()
    notes: Sequence[str] = ()
    parts: Sequence[Part] = ()
    sha256: str = ""

    @property
    def title(self) -> str:
        """Its first line."""
        known = f" ({self.name} for scripts)" if self.address != self.name else ""
        return f"{self.address}{known}: {', '.join([self.kind, *self.facts])}"


class Documents:
    """Reads files; one that was read is kept for the run.

    Args:
        limits: What reading one file may use.
    """

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._kept: dict[tuple[str, str, str], Document] = {}

    async def read(self, located: Located, password: str = "") -> Document:
        """Reads a file.

        Args:
            located: The file.
            password: Password of a protected file.

        Raises:
            FileUnreadable: It cannot be read.
        """
        path = located.path
        digest = _digest(path)
        # Two files may hold the same and still have names of their own.
        key = (located.name, digest, password)
        if key not in self._kept:
            job = {"do": "read", "options": {"password": password}}
            messages, early = await done_on(located, job, self._limits, "inspect_file", "part")
            document = document_of(located, messages, digest[:64])
            if early:
                notes = [f"only the content up to here could be read: {early}", *document.notes]
                document = replace(document, notes=notes)
            self._kept[key] = document
        return self._kept[key]


def document_of(located: Located, messages: Sequence[Mapping[str, Any]], digest: str = "") -> Document:
    """Makes a document of what a child process wrote about it."""
    found: dict[str, Any] = {}
    facts, notes, parts = list[str](), list[str](), list[Part]()
    for message in messages:
        if "part" in message:
            parts.append(Part(**message["part"]))
        elif "fact" in message:
            facts.append(message["fact"])
        elif "note" in message:
            notes.append(message["note"])
        else:
            found.update(message)
    kind, family = found.get("kind", "file"), found.get("family", "document")
    return Document(located.name, located.address, kind, family, facts, notes, parts, digest)


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest() + path.suffix.lower()
