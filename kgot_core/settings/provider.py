"""Opens a provider's table of settings: checked against the provider's own dataclass, only when it is needed."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args, get_type_hints

from kgot_core.errors import PluginError, UsageError
from kgot_core.settings.build import Entry, absolute_paths, refusal
from kgot_core.settings.keys import named_tables, unknown
from kgot_core.settings.names import FILE_SUFFIX, KeyPath, fold, key_text, looks_secret
from kgot_core.settings.schema import SECTIONS
from kgot_core.settings.secrets import Secret, SecretText
from kgot_core.settings.settings import Settings
from kgot_core.settings.values import split_list, toml_value, type_text

if TYPE_CHECKING:
    from pydantic import ValidationError

    from kgot_core.providers import Provider


def provider_settings(settings: Settings, provider: Provider) -> Any:
    """Gives the settings of a provider as an instance of its own dataclass, secrets read.

    Args:
        settings: All settings.
        provider: The provider to open.

    Raises:
        UsageError: A key does not exist or has a wrong value; the message names key, value and type.
        PluginError: The provider's dataclass itself cannot be used.
    """
    from pydantic import TypeAdapter, ValidationError

    head = (SECTIONS[provider.kind], fold(provider.settings_table))
    entries = _with_files(provider.settings, settings.under(*head), settings.env)
    try:
        hints = get_type_hints(provider.settings)
        adapter: TypeAdapter[Any] = TypeAdapter(provider.settings)
    except Exception as error:  # whatever a plugin's types can raise
        raise PluginError(f"the settings of the {provider.kind} {provider.name} cannot be used: {error}") from error
    _refuse_unknown(provider.settings, entries)
    candidates = {path: _candidates(settings, path, entry, provider.settings, hints) for path, entry in entries.items()}
    for _ in range(2 * len(candidates) + 1):
        try:
            made = adapter.validate_python(_tree({path: options[0] for path, options in candidates.items()}))
        except ValidationError as error:
            # The text of a variable is tried as text first, then as TOML, then as a list between commas.
            wrong = [path for path in candidates if _concerns(error, path) and len(candidates[path]) > 1]
            if not wrong:
                raise _wrong(error, head, entries, hints) from None
            for path in wrong:
                candidates[path].pop(0)
        else:
            return _veiled(made, entries)
    raise AssertionError("each round takes a reading away, and a text has three")


def _with_files(kind: type, entries: Mapping[KeyPath, Entry], env: Mapping[str, str]) -> dict[KeyPath, Entry]:
    """Applies what the provider's own marks say to entries that were read before the provider was known.

    ``<key>_file`` becomes the secret ``<key>`` that the file holds; a key that needs a trusted file is refused.
    """
    marks = {field.name: field.metadata for field in dataclasses.fields(kind)}
    found: dict[KeyPath, Entry] = {}
    for path, entry in entries.items():
        name = path[2].removesuffix(FILE_SUFFIX)
        secret = name in marks and marks[name].get("secret", looks_secret((*path[:2], name)))
        if secret and path[2] not in marks and len(path) == 3 and isinstance(entry.value, str):
            file = absolute_paths(entry.value, entry.origin.base, env)
            path, entry = (*path[:2], name), Entry(Secret({"file": file}), entry.origin)
        if not entry.origin.trusted and path[2] in marks and marks[path[2]].get("trusted"):
            raise refusal([(path, entry.origin)])
        found[path] = entry
    return found


def _candidates(settings: Settings, path: KeyPath, entry: Entry, kind: type, hints: Mapping[str, Any]) -> list[Any]:
    value = settings.value(path, entry)
    marked = next((field.metadata.get("path") for field in dataclasses.fields(kind) if field.name == path[2]), False)
    if marked or Path in (hints.get(path[2]), *get_args(hints.get(path[2]))):
        value = absolute_paths(value, entry.origin.base, settings.env)
    return [value, toml_value(value), split_list(value)] if entry.text else [value]


def _veiled(made: Any, entries: Mapping[KeyPath, Entry]) -> Any:
    """Keeps secrets out of the ``repr`` of the settings, which ends up in traces and logs."""
    for path, entry in entries.items():
        value = getattr(made, path[2], None)
        if isinstance(entry.value, Secret) and isinstance(value, str):
            object.__setattr__(made, path[2], SecretText(value))
    return made


def _tree(values: Mapping[KeyPath, Any]) -> dict[str, Any]:
    tree: dict[str, Any] = {}
    for path, value in values.items():
        place = tree
        for part in path[2:-1]:
            place = place.setdefault(part, {})
        place[path[-1]] = value
    return tree


def _refuse_unknown(kind: type, entries: Mapping[KeyPath, Entry]) -> None:
    """Refuses keys that the dataclass, or one inside it, does not have: pydantic would let them pass."""
    for path, entry in entries.items():
        inner: Any = kind
        for depth in range(2, len(path)):
            if (table := named_tables(inner)) is not None:
                inner = table
                continue
            if not (isinstance(inner, type) and dataclasses.is_dataclass(inner)):
                break
            names = [field.name for field in dataclasses.fields(inner) if field.init]
            if path[depth] not in names:
                known = [key_text((*path[:depth], name)) for name in names]
                error = unknown(path[: depth + 1], known)
                raise UsageError(f"{error.message} ({entry.origin.place})", hint=error.hint)
            inner = _without_none(get_type_hints(inner).get(path[depth]))


def _without_none(kind: Any) -> Any:
    if named_tables(kind) is not None:
        return kind
    return next((item for item in get_args(kind) if dataclasses.is_dataclass(item)), kind)


def _concerns(error: ValidationError, path: KeyPath) -> bool:
    return any(item["loc"][: len(path) - 2] == path[2:] for item in error.errors(include_url=False))


def _wrong(
    error: ValidationError,
    head: KeyPath,
    entries: Mapping[KeyPath, Entry],
    hints: Mapping[str, Any],
) -> UsageError:
    """Says in one line which key has which wrong value, and what is allowed."""
    first = error.errors(include_url=False)[0]
    place = tuple(str(part) for part in first["loc"])
    path = next((path for path in entries if path[2:] == place[: len(path) - 2]), None)
    reason = str(first["msg"]).removeprefix("Value error, ").removeprefix("Assertion failed, ")
    if path is None:
        return UsageError(f"{key_text((*head, *place))}: {reason}")
    entry = entries[path]
    wanted = f"must be {type_text(hints[path[2]])}" if len(path) == 3 and len(place) <= 1 else f"is wrong: {reason}"
    custom = first["type"] in ("value_error", "assertion_error")
    shown = "" if isinstance(entry.value, Secret) else f", not {entry.value!r}"
    said = f"is wrong: {reason}" if custom else wanted
    return UsageError(f"{key_text(path)} {said}{shown} ({entry.origin.place})")
