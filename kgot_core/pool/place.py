"""Where pools are on this machine."""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Iterator
from pathlib import Path

from kgot_core.errors import UsageError

DEFAULT = "default"
LISTED = ".listed"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


def pools_folder() -> Path:
    """Gives the folder of this user's pools on this host: one home is often shared by many hosts."""
    from platformdirs import user_state_path

    host = re.sub(r"[^A-Za-z0-9._-]", "-", socket.gethostname()) or "host"
    return user_state_path("kgot", appauthor=False) / "pools" / host


def pool_folder(name: str, base: Path) -> Path:
    """Gives the folder of a pool.

    Args:
        name: Its name, or its folder: what has a separator in it.
        base: Where a relative folder starts.

    Raises:
        UsageError: It is neither.
    """
    if os.sep in name or name.startswith((".", "~")):
        return (base / Path(name).expanduser()).absolute()
    if not _NAME.fullmatch(name):
        raise UsageError(f"{name!r} is no name of a pool", hint="letters, digits, dots, dashes; or a folder, ./NAME")
    return pools_folder() / name


def named_pools() -> Iterator[Path]:
    """Gives the folders of this user's named pools on this host."""
    folder = pools_folder()
    if folder.is_dir():
        yield from sorted(path for path in folder.iterdir() if path.is_dir() and path.name != LISTED)


def private_folder(folder: Path) -> Path:
    """Makes a folder that only the user can enter, and makes sure that it is his.

    Raises:
        UsageError: It belongs to another user, or cannot be made.
    """
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"the pool's folder {folder} cannot be made: {error.strerror or error}") from None
    refuse_foreign(folder)
    folder.chmod(0o700)
    return folder


def refuse_foreign(folder: Path) -> None:
    """Refuses a folder of another user: who wrote it decides where runs send what they know.

    Raises:
        UsageError: It is.
    """
    if not hasattr(os, "getuid"):
        return
    # The folder itself, and a link that leads to it: who can change either decides what is read and written there.
    for path in (folder, folder.resolve()):
        if os.path.lexists(path) and path.lstat().st_uid != os.getuid():
            raise UsageError(f"the pool's folder {folder} belongs to another user")
