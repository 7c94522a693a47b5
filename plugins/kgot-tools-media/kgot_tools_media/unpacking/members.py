"""Members of archives of every kind, as a stream of names and open files."""

from __future__ import annotations

import bz2
import email
import email.policy
import gzip
import io
import lzma
import stat
import tarfile
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import IO, Any, cast

from kgot_tools_media.kinds import BZIP2, GZIP, MAIL, TAR, XZ, ZIP, Kind
from kgot_tools_media.parts import CannotRead
from kgot_tools_media.text import decode

NEEDS_PASSWORD = "is protected by a password"
_ASK_PASSWORD = "give it as password"
_IN_DOCUMENTS = ("media/", "embeddings/", "pictures/", "images/", "fonts/")
_UTF8_NAME = 0x800


@dataclass(frozen=True)
class Member:
    """One entry of an archive that is no folder.

    Attributes:
        name: As the archive gives it.
        open: Opens its content.
        packed: Bytes that it takes in the archive; 0 where that is not known.
        refused: Why it is not to be unpacked, empty where it may be.
    """

    name: str
    open: Callable[[], AbstractContextManager[IO[bytes]]]
    packed: int = 0
    refused: str = ""


def members(path: Path, kind: Kind, password: str) -> Iterator[Member]:
    """Gives the members of an archive in its own order.

    Raises:
        CannotRead: It is none, is damaged, or its password is missing or wrong.
    """
    if kind in (TAR, GZIP, BZIP2, XZ):
        yield from _of_stream(path, kind)
    elif kind is MAIL:
        yield from _of_mail(path)
    elif kind is ZIP or zipfile.is_zipfile(path):
        yield from _of_zip(path, password, whole=kind is ZIP)
    else:
        raise CannotRead(f"is no archive but of the kind {kind.title}", "read it with inspect_file")


def _of_zip(path: Path, password: str, whole: bool) -> Iterator[Member]:
    try:
        archive = zipfile.ZipFile(path)
    except (zipfile.BadZipFile, OSError, ValueError) as error:
        raise CannotRead(f"is damaged and cannot be opened: {error}", "ask for the file again") from None
    with archive:
        entries = [info for info in archive.infolist() if not info.is_dir()]
        if not whole:
            # Of a document only what is put into it; its own parts are read by inspect_file.
            entries = [info for info in entries if any(mark in info.filename.lower() for mark in _IN_DOCUMENTS)]
        if any(info.flag_bits & 1 for info in entries):
            if not password:
                raise CannotRead(NEEDS_PASSWORD, _ASK_PASSWORD)
            archive.setpassword(password.encode())
        for info in entries:
            link = stat.S_ISLNK(info.external_attr >> 16)
            yield Member(
                _zip_name(info), _opener(archive.open, info), max(1, info.compress_size), "it is a link" if link else ""
            )


def _zip_name(info: zipfile.ZipInfo) -> str:
    """Gives a member's name; one that is not marked as UTF-8 may be in any encoding."""
    if info.flag_bits & _UTF8_NAME or info.filename.isascii():
        return info.filename
    try:
        return decode(info.filename.encode("cp437")).text
    except UnicodeEncodeError:
        return info.filename


def _of_stream(path: Path, kind: Kind) -> Iterator[Member]:
    try:
        archive = tarfile.open(path, "r:*")  # noqa: SIM115 - it is closed below
    except tarfile.ReadError as error:
        if kind is TAR:
            raise CannotRead(f"is damaged and cannot be opened: {error}", "ask for the file again") from None
        open_packed = _PACKED[kind]
        inner = path.stem if path.suffix.lower() in kind.endings else path.name
        yield Member(inner, lambda: cast(AbstractContextManager[IO[bytes]], open_packed(path)), path.stat().st_size)
        return
    with archive:
        for info in archive:
            if info.isdir():
                continue
            refused = "" if info.isreg() else "it is a link" if info.issym() or info.islnk() else "it is no file"
            yield Member(info.name, _opener(archive.extractfile, info), 0, refused)


def _of_mail(path: Path) -> Iterator[Member]:
    message = email.message_from_bytes(path.read_bytes(), policy=email.policy.default)
    for number, part in enumerate(message.iter_attachments(), 1):
        inner = part.get_content_type() == "message/rfc822"
        data = bytes(part.get_payload(0)) if inner else part.get_payload(decode=True)  # type: ignore[arg-type]
        name = part.get_filename() or f"attachment-{number}" + (".eml" if inner else "")
        yield Member(name, held(cast(bytes, data or b"")), 0)


def held(data: bytes) -> Callable[[], AbstractContextManager[IO[bytes]]]:
    """Opens what is in memory as a member's content."""
    return lambda: nullcontext(io.BytesIO(data))


def _opener(open_member: Callable[[Any], Any], info: Any) -> Callable[[], AbstractContextManager[IO[bytes]]]:
    return lambda: cast(AbstractContextManager[IO[bytes]], open_member(info))


_PACKED: Mapping[Kind, Callable[[Path], Any]] = MappingProxyType({GZIP: gzip.open, BZIP2: bz2.open, XZ: lzma.open})
