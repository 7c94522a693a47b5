"""Keys of settings as paths, and what a key's name alone says: that it is secret, or that it opens something."""

from __future__ import annotations

import re
import tomllib
from typing import Any, TypeAlias

from kgot_core.settings.schema import SECTIONS

KeyPath: TypeAlias = tuple[str, ...]

PREFIX = "KGOT_"
FILE_SUFFIX = "_file"

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_SECRET = re.compile(
    r"(^|_)(password|passwd|passphrase|secret|token|credentials?|api_?key|key|authorization|auth|cookies?|bearer)$"
)
_USERINFO = re.compile(r"[a-z][a-z0-9+.-]*://[^/\s:@]*:[^/\s@]+@", re.IGNORECASE)
_GUARDED = re.compile(
    r"url|uri|host|command|image|path|allow|address|endpoint|server|socket|proxy|exec|script|mount|volume|header"
    r"|verify|insecure|unsafe|file|folder|module"
)


def key_text(path: KeyPath) -> str:
    """Writes a path as a dotted key, with quotes where TOML needs them."""
    return ".".join(part if _BARE.fullmatch(part) else _quoted(part) for part in path)


def parse_key(text: str) -> KeyPath:
    """Reads a dotted key.

    Raises:
        ValueError: It is none.
    """
    if "\n" in text or "=" in text or "#" in text:
        raise ValueError(f"{text!r} is not a key")
    try:
        table: Any = tomllib.loads(f"{text} = 0")
    except tomllib.TOMLDecodeError:
        raise ValueError(f"{text!r} is not a key") from None
    parts: list[str] = []
    while isinstance(table, dict):
        name, table = next(iter(table.items()))
        parts.append(name)
    return tuple(parts)


def variable_path(name: str) -> KeyPath:
    """Gives the key that a variable sets: ``KGOT_BACKENDS__NEO4J__URI`` is ``backends.neo4j.uri``."""
    return tuple(name.removeprefix(PREFIX).lower().split("__"))


def variable(path: KeyPath) -> str:
    """Gives the variable that sets a key."""
    return PREFIX + "__".join(path).replace("-", "_").upper()


def normal(path: KeyPath) -> KeyPath:
    """Folds the name of a provider or role: there ``-`` and ``_`` are the same, since a variable cannot hold ``-``."""
    if len(path) > 1 and path[0] in (*SECTIONS.values(), "models"):
        return (path[0], fold(path[1]), *path[2:])
    return path


def fold(name: str) -> str:
    """Gives the form in which a provider's name stands in a key."""
    return name.replace("-", "_")


def looks_secret(path: KeyPath, value: Any = None) -> bool:
    """Tells by its name, or by a password in an address, that a setting nobody describes is secret."""
    return any(_secret_name(part) for part in path[2:]) or _holds_secret(value)


def looks_guarded(path: KeyPath, value: Any = None) -> bool:
    """Tells by its name that a setting nobody describes reaches or opens something, and so needs a trusted file."""
    names = [part.lower() for part in (*path[2:], *_names(value))]
    return path[0] == SECTIONS["sandbox"] or any(_GUARDED.search(name) for name in names)


def _secret_name(name: str) -> bool:
    return _SECRET.search(name.lower().replace("-", "_")) is not None


def _holds_secret(value: Any) -> bool:
    if isinstance(value, dict):
        return any(_secret_name(name) or _holds_secret(item) for name, item in value.items())
    if isinstance(value, list | tuple):
        return any(_holds_secret(item) for item in value)
    return isinstance(value, str) and _USERINFO.search(value) is not None


def _names(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [*map(str, value), *(name for item in value.values() for name in _names(item))]
    if isinstance(value, list | tuple):
        return [name for item in value for name in _names(item)]
    return []


def _quoted(part: str) -> str:
    """Quotes a part; what TOML or :func:`parse_key` does not take as it is becomes its number."""
    plain = (char if char.isprintable() and char not in '\\"=#' else f"\\U{ord(char):08x}" for char in part)
    return f'"{"".join(plain)}"'
