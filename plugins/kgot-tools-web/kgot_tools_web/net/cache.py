"""Pages on disk, shared by all runs (``kgot cache list`` and ``clear``)."""

from __future__ import annotations

import contextlib
import datetime
import hashlib
import json
import secrets
from dataclasses import asdict, dataclass, replace
from pathlib import Path

_TEMPORARY = ".part"


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
    """

    url: str
    final: str
    kind: str
    charset: str
    body: bytes
    at: str
    note: str = ""
    filename: str = ""

    @property
    def sha256(self) -> str:
        """Hash of the content."""
        return hashlib.sha256(self.body).hexdigest()


class PageCache:
    """Keeps what was fetched, one file for each request.

    A write is a new file that takes the place of the old one in one step, so that several runs can share the folder.

    Args:
        folder: Where; made when first used.
        hours: How long an entry counts as fresh; 0 keeps nothing.
    """

    def __init__(self, folder: Path, hours: float) -> None:
        self._folder = folder
        self._hours = hours

    def get(self, identity: str) -> Fetched | None:
        """Gives the fresh entry of a request."""
        if not self._hours:
            return None
        try:
            head, _, body = self._path(identity).read_bytes().partition(b"\n")
            said = json.loads(head)
            if said.pop("identity") != identity:
                return None
            found = Fetched(body=body, **said)
            age = now() - datetime.datetime.fromisoformat(found.at)
        except (OSError, ValueError, TypeError, KeyError):  # not there, or damaged: it is fetched
            return None
        return found if age <= datetime.timedelta(hours=self._hours) else None

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

    def _path(self, identity: str) -> Path:
        name = hashlib.sha256(identity.encode()).hexdigest()
        return self._folder / name[:2] / name[2:]


def now() -> datetime.datetime:
    """Gives the time in UTC."""
    return datetime.datetime.now(datetime.UTC)
