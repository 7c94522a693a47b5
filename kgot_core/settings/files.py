"""Finds and reads ``kgot.toml``, and finds the line of a key in it."""

from __future__ import annotations

import hashlib
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kgot_core.errors import UsageError
from kgot_core.settings.names import KeyPath, normal, parse_key

FILE_NAME = "kgot.toml"

_HEADER = re.compile(r"\s*\[\[?\s*(?P<key>[^\]]+?)\s*\]")
_ASSIGNMENT = re.compile(r"\s*(?P<key>[^=#\[]+?)\s*=")


@dataclass(frozen=True)
class SettingsFile:
    """A settings file as it was read, once: what is hashed is what is used.

    Attributes:
        path: Its path, absolute, links followed.
        text: Its text.
        digest: SHA-256 of its bytes.
        table: What it holds.
    """

    path: Path
    text: str
    digest: str
    table: Mapping[str, Any]

    def line(self, key: KeyPath) -> int:
        """Gives the 1-based line that sets a key; 0 where it is not found.

        A table is found by its header where its key itself is not (``{...}`` written inline is found at its start).
        """
        table: KeyPath = ()
        best, depth = 0, 0
        for number, text in enumerate(self.text.splitlines(), start=1):
            if header := _HEADER.match(text):
                found = table = normal(_path(header["key"]))
            elif assignment := _ASSIGNMENT.match(text):
                found = normal((*table, *_path(assignment["key"])))
            else:
                continue
            if len(found) > depth and key[: len(found)] == found:
                best, depth = number, len(found)
        return best


def find_file(folder: Path) -> Path | None:
    """Finds the nearest ``kgot.toml`` in a folder or above it."""
    for place in (folder, *folder.parents):
        try:
            if (place / FILE_NAME).is_file():
                return (place / FILE_NAME).resolve()
        except OSError:  # a folder that may not be looked into has no settings for us
            continue
    return None


def read_file(path: Path) -> SettingsFile:
    """Reads a settings file.

    Raises:
        UsageError: It cannot be read, or is not TOML; the message says where.
    """
    try:
        data = path.read_bytes()
        text = data.decode("utf-8")
        table = tomllib.loads(text)
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is not UTF-8 text") from error
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise UsageError(f"{path} is not TOML: {error}") from error
    return SettingsFile(path, text, hashlib.sha256(data).hexdigest(), table)


def flatten(path: KeyPath, value: Any) -> Iterator[tuple[KeyPath, Any]]:
    """Gives each setting of nested tables with its key."""
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield from flatten((*path, str(name)), inner)
    else:
        yield normal(path), value


def _path(text: str) -> KeyPath:
    try:
        return parse_key(text)
    except ValueError:
        return ()
