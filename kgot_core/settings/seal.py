"""Tells a run that this user began from one that came from elsewhere, by a seal whose key is in the config folder."""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any

KEY_NAME = "seal.key"
_KEY_BYTES = 32


def seal(folder: Path, plan: Mapping[str, Any]) -> str:
    """Seals what a run begins with.

    Args:
        folder: The user's config folder; it gets a key where it has none.
        plan: The run's plan, as its record holds it.

    Returns:
        The seal; empty where the folder cannot be written.
    """
    try:
        return _seal(_key(folder) or _new_key(folder), plan)
    except OSError:
        return ""


def is_sealed(folder: Path, plan: Mapping[str, Any], found: str) -> bool:
    """Tells whether this user's key made a seal for this very plan."""
    try:
        key = _key(folder)
    except OSError:
        return False
    return bool(key) and hmac.compare_digest(_seal(key, plan), found)


def _seal(key: bytes, plan: Mapping[str, Any]) -> str:
    text = json.dumps(plan, sort_keys=True, separators=(",", ":"))
    return hmac.new(key, text.encode(), hashlib.sha256).hexdigest()


def _key(folder: Path) -> bytes:
    path = folder / KEY_NAME
    return path.read_bytes() if path.is_file() else b""


def _new_key(folder: Path) -> bytes:
    """Makes a key that only the user can read; of several processes that do so at once the first one's counts."""
    folder.mkdir(parents=True, exist_ok=True)
    part = folder / f"{KEY_NAME}.{secrets.token_hex(8)}"
    handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "wb") as file:
        file.write(secrets.token_bytes(_KEY_BYTES))
    try:
        os.link(part, folder / KEY_NAME)
    except FileExistsError:
        pass
    finally:
        part.unlink()
    return _key(folder)
