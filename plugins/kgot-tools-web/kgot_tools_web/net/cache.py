"""Pages on disk, shared by all runs (``kgot cache list`` and ``clear``)."""

from __future__ import annotations

import contextlib
import datetime
import hashlib
import json
import os
import secrets
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from kgot_tools_web.net.guard import Opening

_TEMPORARY = ".part"
_ABANDONED = 3_600.0
"""Seconds after which a file that was not written to its end is taken for one of a process that is gone."""
_ROOM = 0.9
"""Part of the most that is left when room is made, so that it is not made again at once."""


@dataclass(frozen=True)
class Fetched:
    """What an address gave.

    Attributes:
        url: The address that was asked for.
        final: The address that gave it, after redirects.
        kind: Media type as the server says, without parameters, lower case.
        charset: Encoding as the server says; empty where it does not.
        body: The content, unpacked.
        at: When it was fetched, ISO 8601 in UTC.
        note: What one has to know, such as that it was cut.
        filename: Name that the server gives the file, if any.
        opened: Private addresses that it came from, which the user had opened; who has not opened them gets none of it.
    """

    url: str
    final: str
    kind: str
    charset: str
    body: bytes
    at: str
    note: str = ""
    filename: str = ""
    opened: tuple[Opening, ...] = ()

    @property
    def sha256(self) -> str:
        """Hash of the content."""
        return hashlib.sha256(self.body).hexdigest()


class PageCache:
    """Keeps what was fetched, one file for each request.

    A write is a new file that takes the place of the old one in one step, and one that is not there counts as removed,
    so that several processes can share the folder without waiting for each other.

    Args:
        folder: Where; made when first used.
        hours: How long an entry counts as fresh; 0 keeps nothing.
        most: Bytes of all entries at most; those that were not used for the longest time go first.
    """

    def __init__(self, folder: Path, hours: float, most: int) -> None:
        self._folder = folder
        self._hours = hours
        self._most = most
        # What others wrote is not known, so the first entry and then each sixteenth part of the most asks for a look.
        self._since_look = most

    def get(self, identity: str) -> Fetched | None:
        """Gives the fresh entry of a request."""
        if not self._hours:
            return None
        path = self._path(identity)
        try:
            head, _, body = path.read_bytes().partition(b"\n")
            said = json.loads(head)
            if said.pop("identity") != identity:
                return None
            opened = tuple((str(host), int(port), str(address)) for host, port, address in said.pop("opened"))
            found = Fetched(body=body, opened=opened, **said)
            age = now() - datetime.datetime.fromisoformat(found.at)
        except (OSError, ValueError, TypeError, KeyError):  # not there, or damaged: it is fetched
            return None
        if age > datetime.timedelta(hours=self._hours):
            return None
        with contextlib.suppress(OSError):
            os.utime(path)  # it was used now
        return found

    def put(self, identity: str, fetched: Fetched) -> None:
        """Keeps an entry; a disk that is full or closed costs nothing but the entry."""
        if not self._hours:
            return
        path = self._path(identity)
        part = path.with_name(f"{path.name}.{secrets.token_hex(8)}{_TEMPORARY}")
        head = {"identity": identity, **asdict(replace(fetched, body=b""))}
        del head["body"]
        try:
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            part.write_bytes(json.dumps(head).encode() + b"\n" + fetched.body)
            part.replace(path)
        except OSError:
            with contextlib.suppress(OSError):
                part.unlink()
        self._since_look += len(fetched.body)
        if self._since_look > self._most // 16:
            self._make_room()
            self._since_look = 0

    def _make_room(self) -> None:
        """Removes what was not used for the longest time until the rest fits, and what a process that is gone left."""
        files = sorted(_files(self._folder))
        whole = sum(size for _, size, _ in files)
        wanted = whole if whole <= self._most else int(self._most * _ROOM)
        abandoned = now().timestamp() - _ABANDONED
        for used, size, path in files:
            if whole > wanted or (path.suffix == _TEMPORARY and used < abandoned):
                with contextlib.suppress(OSError):
                    path.unlink()
                whole -= size

    def _path(self, identity: str) -> Path:
        name = hashlib.sha256(identity.encode()).hexdigest()
        return self._folder / name[:2] / name[2:]


def _files(folder: Path) -> Iterator[tuple[float, int, Path]]:
    """Gives when each file below a folder was used last, its size in bytes, and its path."""
    for place, _, names in os.walk(folder):
        for name in names:
            path = Path(place, name)
            with contextlib.suppress(OSError):  # another process may have removed it
                state = path.lstat()
                yield state.st_mtime, state.st_size, path


def now() -> datetime.datetime:
    """Gives the time in UTC."""
    return datetime.datetime.now(datetime.UTC)
