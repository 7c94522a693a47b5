"""Checks what was given against the keys that exist, and puts the layers on one another."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from kgot_core.errors import UsageError
from kgot_core.settings.files import flatten
from kgot_core.settings.keys import Catalogue, Key, unknown
from kgot_core.settings.layers import Given, Layer, Origin
from kgot_core.settings.names import FILE_SUFFIX, KeyPath, key_text, looks_guarded, looks_secret
from kgot_core.settings.secrets import Secret
from kgot_core.settings.values import convert, parse_text, toml_value, type_text


@dataclass(frozen=True)
class Entry:
    """A setting in force.

    Attributes:
        value: Its value, or a :class:`Secret`.
        origin: Where it comes from.
        text: The value is text, and the type of a provider's setting will decide how it is read.
    """

    value: Any
    origin: Origin
    text: bool = False


def build(
    layers: Iterable[Layer], catalogue: Catalogue, env: Mapping[str, str], base: Mapping[KeyPath, Entry] | None = None
) -> dict[KeyPath, Entry]:
    """Gives the settings in force.

    Args:
        layers: Lowest first.
        catalogue: The keys that exist.
        env: The environment, for ``~``.
        base: What is in force below all layers.

    Raises:
        UsageError: A key does not exist, a value is of the wrong type, or a file sets what it may not.
    """
    table: dict[KeyPath, Entry] = dict(base or {})
    refused: list[tuple[KeyPath, Origin]] = []
    for layer in layers:
        entries: dict[KeyPath, Entry] = {}
        for given in layer:
            for path, entry, guarded in _check(given, catalogue, env):
                if path in entries and given.origin.kind == "env":
                    raise UsageError(
                        f"{key_text(path)} is set twice: {entries[path].origin.where} and {given.origin.where}"
                    )
                if guarded and not entry.origin.trusted:
                    refused.append((given.path, entry.origin))
                entries[path] = entry
        lay(table, entries)
    if refused:
        raise refusal(refused)
    return table


def guarded_keys(layer: Layer, catalogue: Catalogue, env: Mapping[str, str]) -> list[tuple[KeyPath, Origin]]:
    """Lists what only a trusted file may set.

    Raises:
        UsageError: A key does not exist, or a value is of the wrong type.
    """
    checked = (found for given in layer for found in _check(given, catalogue, env))
    return [(path, entry.origin) for path, entry, guarded in checked if guarded]


def _check(given: Given, catalogue: Catalogue, env: Mapping[str, str]) -> Iterator[tuple[KeyPath, Entry, bool]]:
    """Checks one key: gives its path, its value, and whether only a trusted file may set it."""
    path, origin = given.path, given.origin
    if path[0] == "models" and len(path) == 2 and isinstance(given.value, str) and not _is_inline(given):
        path = (*path, "model")
    if catalogue.is_table(path):
        yield from _check_table(replace(given, path=path), catalogue, env)
        return
    try:
        key = catalogue.find(path)
    except UsageError as error:
        if (secret := _secret_file(given, catalogue, env)) is not None:
            yield secret
            return
        raise UsageError(f"{error.message} ({origin.place})", hint=error.hint) from None
    value, text = _typed(key, given)
    if key.is_path:
        value = absolute_paths(value, origin.base, env)
    guarded = is_guarded(key, path, value)
    if key.secret or (key.secret is None and looks_secret(path, value)):
        value, text = Secret(_reference(path, origin), value), False
    yield path, Entry(value, origin, text), guarded


def is_guarded(key: Key, path: KeyPath, value: Any) -> bool:
    """Tells whether only what the user trusts may set a key to a value."""
    guarded = looks_guarded(path, value) if key.trusted is None else key.trusted
    return guarded or (path[0] == "models" and path[-1] == "model" and str(value).startswith("import:"))


def _check_table(given: Given, catalogue: Catalogue, env: Mapping[str, str]) -> Iterator[tuple[KeyPath, Entry, bool]]:
    value = toml_value(given.value) if given.text else given.value
    if not isinstance(value, Mapping):
        near = unknown(given.path, [key.name for key in catalogue.core.values()]).hint
        raise UsageError(
            f"{key_text(given.path)} is a table of settings, not a value ({given.origin.place})",
            hint=near if near.startswith("did you mean") else "",
        )
    for path, inner in flatten(given.path, value):
        yield from _check(Given(path, inner, given.origin), catalogue, env)


def _secret_file(given: Given, catalogue: Catalogue, env: Mapping[str, str]) -> tuple[KeyPath, Entry, bool] | None:
    """Reads ``<key>_file`` of a secret ``<key>`` as the file that holds it."""
    if not given.path[-1].endswith(FILE_SUFFIX) or not isinstance(given.value, str):
        return None
    path = (*given.path[:-1], given.path[-1].removesuffix(FILE_SUFFIX))
    try:
        key = catalogue.find(path)
    except UsageError:
        return None
    if not (key.secret or (key.secret is None and looks_secret(path))):
        return None
    file = absolute_paths(given.value, given.origin.base, env)
    return path, Entry(Secret({"file": file}), given.origin), True


def _typed(key: Key, given: Given) -> tuple[Any, bool]:
    """Gives a core setting its type; a provider's keeps what was given until the provider is opened."""
    if key.type is None:
        if given.text and key.path[0] == "models" and not looks_secret(key.path):
            return toml_value(given.value), False
        return given.value, given.text
    try:
        value = parse_text(given.value, key.type) if given.text else convert(given.value, key.type)
    except ValueError as error:
        raise _wrong(key, str(error), given) from None
    if isinstance(value, int | float) and not isinstance(value, bool):
        if key.minimum is not None and value < key.minimum:
            raise _wrong(key, f"{type_text(key.type)}, at least {key.minimum}", given)
        if key.maximum is not None and value > key.maximum:
            raise _wrong(key, f"{type_text(key.type)}, at most {key.maximum:g}", given)
        if key.above is not None and value <= key.above:
            raise _wrong(key, f"{type_text(key.type)} above {key.above}", given)
    return value, False


def _wrong(key: Key, wanted: str, given: Given) -> UsageError:
    shown = "" if key.secret else f", not {given.value!r}"
    return UsageError(f"{key.name} must be {wanted}{shown} ({given.origin.place})")


def lay(table: dict[KeyPath, Entry], layer: Mapping[KeyPath, Entry]) -> None:
    """Puts a layer on top: what it sets replaces a table by a value, a value by a table, and a role's other model."""
    for path, entry in layer.items():
        if path[0] == "models" and path[2:] == ("model",) and path in table:
            lower = str(table[path].value).partition(":")[0]
            if lower != str(entry.value).partition(":")[0]:
                # The address and key of one provider must not be used for another.
                _remove(table, path[:2])
    for path, entry in layer.items():
        for length in range(1, len(path)):
            table.pop(path[:length], None)
        _remove(table, path)
        table[path] = entry


def _remove(table: dict[KeyPath, Entry], path: KeyPath) -> None:
    for known in [known for known in table if known[: len(path)] == path]:
        del table[known]


def _reference(path: KeyPath, origin: Origin) -> dict[str, str]:
    if origin.kind == "env":
        return {"env": origin.where}
    if origin.kind == "file":
        return {"toml": origin.where, "key": key_text(path)}
    return {"given": origin.where}


def _is_inline(given: Given) -> bool:
    return given.text and isinstance(toml_value(given.value), Mapping)


def refusal(refused: list[tuple[KeyPath, Origin]]) -> UsageError:
    """Makes the error for settings that their file may not set, with their lines and the way out."""
    file = refused[0][1]
    lines = ", ".join(f"line {origin.line}: {key_text(path)}" for path, origin in refused[:5])
    more = f" and {len(refused) - 5} more" if len(refused) > 5 else ""
    why = "it has changed since it was trusted" if file.changed else "it is not trusted"
    return UsageError(
        f"{file.where} may not set {lines}{more}, because {why}", hint=f"kgot config trust {shlex.quote(file.where)}"
    )


def absolute_paths(value: Any, base: Path, env: Mapping[str, str]) -> Any:
    """Makes the paths of a setting absolute; in a list only what looks like a file, since modules stand there too."""
    if isinstance(value, list | tuple):
        return type(value)(absolute_paths(item, base, env) if _is_file(item) else item for item in value)
    if not isinstance(value, str) or not value:
        return value
    home = env.get("HOME") or env.get("USERPROFILE")
    if home and (value == "~" or value.startswith(("~/", "~\\"))):
        return str(Path(home, value[2:]))
    return str(base / value)


def _is_file(item: Any) -> bool:
    return isinstance(item, str) and (item.endswith(".py") or "/" in item or "\\" in item)
