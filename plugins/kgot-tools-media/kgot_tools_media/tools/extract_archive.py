"""``extract_archive``: unpacks an archive, lists it, and shows what small files in it hold (paper, B.4: ExtractZip)."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, Field, PrivateAttr

from kgot_core.contracts.tools import ToolArtifact, ToolContext
from kgot_core.errors import KgotError
from kgot_tools_media.documents import Documents
from kgot_tools_media.jobs import FileUnreadable, done_on
from kgot_tools_media.locating import Located, locate, source
from kgot_tools_media.markdown import table
from kgot_tools_media.members import known_members
from kgot_tools_media.parts import size
from kgot_tools_media.process import Limits
from kgot_tools_media.settings import ArchiveSettings
from kgot_tools_media.tools.base import MediaTool
from kgot_tools_media.unpacking.writing import Written
from kgot_tools_media.windows import windows

MOST_LISTED = 200
MOST_SHOWN = 20


class ArchiveArguments(BaseModel):
    """Arguments of ``extract_archive``."""

    path: str = Field(description="Name of the archive among the task's files, such as data.zip")
    password: str = Field(default="", description="Password of the archive, only if the task tells it")


@dataclass(frozen=True)
class Unpacked:
    """A member with the name by which the run knows it, empty where it was not unpacked."""

    member: Written
    name: str


class ExtractArchive(MediaTool):
    """Unpacks archives; their files become files of the run."""

    name: str = "extract_archive"
    description: str = (
        "Unpacks an archive (zip, tar, gz, bz2, xz, 7z; also what is attached to an e-mail and pictures in a document),"
        " archives within it too. It gives the list of files with the names by which other tools can use them, and the"
        ' content of short ones. Example: {"path": "data.zip"}'
    )
    args_schema: type[BaseModel] = ArchiveArguments
    _settings: ArchiveSettings = PrivateAttr()
    _documents: Documents = PrivateAttr()

    def __init__(self, context: ToolContext, settings: ArchiveSettings, **fields: Any) -> None:
        super().__init__(context, **fields)
        self._settings = settings
        self._documents = Documents(Limits(settings.seconds, settings.memory_mb))

    async def _arun(self, path: str, password: str = "") -> tuple[str, ToolArtifact]:
        located = locate(self._context, path)
        folder = _new_folder(self._context.files.folder, Path(located.name).stem)
        try:
            kind, notes, written = await self._unpack(located, folder, password)
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        files = self._context.files
        unpacked = [Unpacked(member, files.add(Path(member.file)) if member.file else "") for member in written]
        names = tuple(one.name for one in unpacked if one.name)
        inside = {_inside(folder, one.member): one.name for one in unpacked if one.name}
        known_members(self._context)[(located.name, password)] = inside
        blocks = [f"{located.name}: {kind}, {len(names)} files unpacked", *(f"[Note: {note}]" for note in notes)]
        blocks += [*_listing(unpacked), *await self._contents(unpacked)]
        return "\n\n".join(blocks), ToolArtifact((source(located),), names)

    async def _unpack(self, located: Located, folder: Path, password: str) -> tuple[str, list[str], list[Written]]:
        settings = self._settings
        limits = Limits(settings.seconds, settings.memory_mb, settings.total_mb)
        room = {
            "bytes": settings.total_mb << 20,
            "files": settings.files,
            "ratio": settings.ratio,
            "depth": settings.depth,
        }
        job = {"do": "unpack", "folder": str(folder), "password": password, "room": room}
        messages, early = await done_on(located, job, limits, "extract_archive", "member")
        kind, notes, written = "archive", list[str](), list[Written]()
        for message in messages:
            kind = message.get("kind", kind)
            notes += [message["note"]] if "note" in message else []
            written += [Written(**message["member"])] if "member" in message else []
        if early:
            notes.insert(0, f"only the files listed here could be unpacked: {early}")
        if not written:
            raise KgotError(f"{located.name} holds no files")
        return kind, notes, written

    async def _contents(self, unpacked: Sequence[Unpacked]) -> list[str]:
        """Shows whole what is short, until the budget is used up."""
        room, blocks = self._settings.shown_tokens, list[str]()
        for one in unpacked:
            if not one.name or one.member.family != "document" or len(blocks) >= MOST_SHOWN or room < 50:
                continue
            if one.member.bytes > room * 64:
                continue
            try:
                document = await self._documents.read(Located(one.name, Path(one.member.file), one.name))
            except FileUnreadable as error:
                blocks.append(f"[Note: {error}]")
                continue
            whole = windows(document.parts, room)
            if len(whole) == 1 and size(whole[0].text) <= room:
                room -= size(whole[0].text)
                notes = [f"[Note: {note}]" for note in document.notes]
                blocks.append("\n\n".join([f"### {document.title}", *notes, whole[0].text]))
        return blocks


def _listing(unpacked: Sequence[Unpacked]) -> list[str]:
    done = [one for one in unpacked if one.name]
    left = [one.member for one in unpacked if not one.name]
    rows = [["In the archive", "Name for other tools", "Bytes", "Kind"]]
    for one in done[:MOST_LISTED]:
        kind = one.member.kind + (f" ({one.member.why})" if one.member.why else "")
        rows.append([one.member.name, one.name, f"{one.member.bytes:,}", kind])
    blocks = [table(rows)] if done else []
    if len(done) > MOST_LISTED:
        blocks.append(f"[Note: and {len(done) - MOST_LISTED:,} more files, which run_python_code can list]")
    if left:
        shown = "\n".join(f"- {member.name}: {member.why}" for member in left[:MOST_LISTED])
        more = f"\n- and {len(left) - MOST_LISTED:,} more" if len(left) > MOST_LISTED else ""
        blocks.append(f"Not unpacked:\n{shown}{more}")
    return blocks


def _inside(folder: Path, member: Written) -> str:
    """Gives where a member lies below the archive's folder."""
    return Path(member.file).relative_to(folder).as_posix()


def _new_folder(parent: Path, stem: str) -> Path:
    """Makes a folder of its own for an archive's files."""
    number = 1
    while True:
        folder = parent / (stem if number == 1 else f"{stem}-{number}")
        try:
            folder.mkdir(parents=True)
        except FileExistsError:
            number += 1
            continue
        return folder
