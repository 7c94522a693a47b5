"""Files that are replaced as a whole."""

from __future__ import annotations

import os
import secrets
from pathlib import Path


def write_whole(path: Path, text: str, *, private: bool = False, durable: bool = True) -> None:
    """Writes a file in one step: it is there whole or not at all.

    Args:
        path: The file.
        text: Its content.
        private: Only the user may read it.
        durable: It is on the disk when this returns; not needed for what is written anew in a moment.

    Raises:
        OSError: It cannot be written.
    """
    part = path.with_name(f"{path.name}.{secrets.token_hex(4)}.part")
    try:
        handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600 if private else 0o644)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            if durable:
                os.fsync(file.fileno())
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
