"""Which keys exist: the core's own, and those of the providers that are installed."""

from __future__ import annotations

import dataclasses
import difflib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, get_args, get_origin, get_type_hints

from kgot_core.errors import UsageError
from kgot_core.settings.names import KeyPath, fold, key_text
from kgot_core.settings.schema import SECTIONS, CoreSettings, ModelSettings

if TYPE_CHECKING:
    from kgot_core.plugins import PluginRegistry
    from kgot_core.providers import Provider

NAMED = "<name>"
"""Stands in a key for the name of a table that the user chooses."""


@dataclass(frozen=True)
class Key:
    """One setting.

    Attributes:
        path: Its place; that of a role's setting has the role in it.
        type: Its type; ``None`` where it is a provider's, whose own types decide.
        default: Its default.
        help: What it is for.
        secret: Never shown; ``None``: its name decides.
        trusted: Needs a trusted file; ``None``: its name decides.
        matters: A run that goes on is refused where it has changed.
        is_path: A relative path starts where it was set.
        minimum: Least number, if any.
        maximum: Largest number, if any.
        above: A number that it must exceed, if any.
    """

    path: KeyPath
    type: Any = None
    default: Any = None
    help: str = ""
    secret: bool | None = None
    trusted: bool | None = None
    is_path: bool = False
    matters: bool = True
    minimum: float | None = None
    maximum: float | None = None
    above: float | None = None

    @property
    def name(self) -> str:
        """The key as it is written."""
        return key_text(self.path)


def keys_of(kind: type, path: KeyPath = ()) -> Iterator[Key]:
    """Lists the settings of a dataclass, those of nested ones too.

    Args:
        kind: A dataclass of settings.
        path: The table that it describes.
    """
    yield from _keys(kind, path, {})


def _keys(kind: type, path: KeyPath, described: Mapping[str, Mapping[str, Any]]) -> Iterator[Key]:
    hints = _hints(kind)
    for field in dataclasses.fields(kind):
        said: Mapping[str, Any] = {**field.metadata, **described.get(field.name, {})}
        inner = hints.get(field.name, Any)
        place = (*path, field.name)
        if dataclasses.is_dataclass(inner) and isinstance(inner, type):
            yield from _keys(inner, place, field.metadata.get("fields", {}))
            continue
        if (table := named_tables(inner)) is not None:
            yield from _keys(table, (*place, NAMED), {})
            continue
        default = field.default if field.default_factory is dataclasses.MISSING else field.default_factory()
        yield Key(
            place,
            inner,
            default,
            str(said.get("help", "")),
            said.get("secret"),
            said.get("trusted"),
            bool(said.get("path", False)),
            bool(said.get("matters", True)),
            said.get("minimum"),
            said.get("maximum"),
            said.get("above"),
        )


def named_tables(kind: Any) -> type | None:
    """Gives the dataclass of a setting that holds tables under names of the user's: ``Mapping[str, Kind]``."""
    inner = get_args(kind)[-1] if get_origin(kind) in (Mapping, dict) else None
    return inner if isinstance(inner, type) and dataclasses.is_dataclass(inner) else None


def _hints(kind: type) -> Mapping[str, Any]:
    if kind is CoreSettings:
        from kgot_core.contracts.options import Caps, LoopLimits

        return get_type_hints(kind, localns={"Caps": Caps, "LoopLimits": LoopLimits})
    try:
        return get_type_hints(kind)
    except (NameError, TypeError, AttributeError):  # types of a plugin that only its type checker can see
        return {}


def roles() -> tuple[str, ...]:
    """Lists the roles that a model can have."""
    from kgot_core.contracts.model import Role

    return get_args(Role)


class Catalogue:
    """Every key there is.

    Args:
        registry: Whose providers' settings are known; without one every table of a provider is let pass, judged by
            its keys' names, until it is opened.
        only: The single section of the core that is looked at, to save time.
    """

    def __init__(self, registry: PluginRegistry | None = None, *, only: Mapping[str, type] | None = None) -> None:
        self._registry = registry
        if only is None:
            self._roles = roles()
            found = [*keys_of(CoreSettings)]
            for role in self._roles:
                found.extend(keys_of(ModelSettings, ("models", role)))
        else:
            self._roles = ()
            found = [key for name, kind in only.items() for key in keys_of(kind, (name,))]
        self.core: Mapping[KeyPath, Key] = {key.path: key for key in found}

    def is_table(self, path: KeyPath) -> bool:
        """Tells whether a path is a table, not a setting."""
        if any(known[: len(path)] == path and len(known) > len(path) for known in self.core):
            return True
        if path in self.core:
            return self.core[path].path[-1] == "options"
        return path[0] in SECTIONS.values() and len(path) <= 2

    def find(self, path: KeyPath) -> Key:
        """Finds a setting.

        Raises:
            UsageError: There is none; the hint names a similar one.
        """
        if path in self.core:
            return self.core[path]
        if path[0] == "models" and len(path) > 3 and path[1] in self._roles and path[2] == "options":
            return Key(path, trusted=True)
        if path[0] in SECTIONS.values() and len(path) > 2 and path[:2] not in self.core:
            return self._of_provider(path)
        if path[0] == "pool" and len(path) == 2 and self._has_servers(fold(path[1])):
            # Whoever may name the servers learns all that runs write there.
            return Key(path, tuple[str, ...], trusted=True, matters=False)
        raise unknown(path, [key.name for key in self.core.values()])

    def _of_provider(self, path: KeyPath) -> Key:
        providers = self._providers(path[0], path[1])
        known = [_called(key, path) for provider in providers for key in keys_of(provider.settings, path[:2])]
        # A setting may itself be a table: what it is marked as holds for all below it.
        matches = [key for key in known if path[: len(key.path)] == key.path]
        nested = [key for key in known if key.path[: len(path)] == path]
        if providers and not matches and not nested:
            raise unknown(path, [key.name for key in known])
        marks = matches or nested
        return Key(
            path,
            secret=_either([key.secret for key in marks]),
            trusted=_either([key.trusted for key in marks]),
            is_path=any(key.is_path for key in matches if key.path == path),
            matters=all(key.matters for key in marks),
        )

    def _has_servers(self, name: str) -> bool:
        if self._registry is None:
            return True
        return any(getattr(one, "servers", None) is not None for one in self._providers(SECTIONS["backend"], name))

    def _providers(self, section: str, name: str) -> list[Provider]:
        if self._registry is None:
            return []
        kind = next(kind for kind, title in SECTIONS.items() if title == section)
        return [provider for _, provider in self._registry.all(kind) if fold(provider.settings_table) == name]


def unknown(path: KeyPath, names: Iterable[str]) -> UsageError:
    """Makes the error for a setting that does not exist, with a similar one that does."""
    wanted, names = key_text(path), list(names)
    same_end = [name for name in names if name.rpartition(".")[2] == path[-1]]
    near = difflib.get_close_matches(wanted, names, n=1) or same_end[:1]
    return UsageError(f"there is no setting {wanted}", hint=f"did you mean {near[0]}?" if near else "kgot config show")


def _called(key: Key, path: KeyPath) -> Key:
    """Gives the key of a table that the user named, with the name that a path has in its place."""
    named = (path[at] if part == NAMED and at < len(path) else part for at, part in enumerate(key.path))
    return dataclasses.replace(key, path=tuple(named)) if NAMED in key.path else key


def _either(marks: Iterable[bool | None]) -> bool | None:
    """Says yes where any does, no where one does and none says yes, and leaves it open where nobody says."""
    given = [mark for mark in marks if mark is not None]
    return any(given) if given else None
