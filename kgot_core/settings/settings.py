"""The settings in force: typed for the core, raw for providers, with where each comes from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kgot_core.errors import UsageError
from kgot_core.settings.build import Entry, build
from kgot_core.settings.keys import Catalogue, Key
from kgot_core.settings.layers import Override, Sources, override_layer
from kgot_core.settings.names import KeyPath, fold, key_text, normal, parse_key
from kgot_core.settings.schema import CoreSettings, ModelSettings
from kgot_core.settings.secrets import MASK, Secret
from kgot_core.settings.typed import core_settings
from kgot_core.settings.values import toml_value

if TYPE_CHECKING:
    from kgot_core.contracts.model import ModelSpec, Role
    from kgot_core.plugins import PluginRegistry


@dataclass(frozen=True)
class Item:
    """One setting for display.

    Attributes:
        key: Dotted key.
        value: JSON value; a secret is masked.
        origin: ``default``, a file's path, a variable's name, ``--set`` or another option.
        secret: It is masked.
    """

    key: str
    value: Any
    origin: str
    secret: bool = False


@dataclass(frozen=True)
class Settings:
    """All settings of a run. Made by :meth:`load`.

    Attributes:
        core: The core's own, except models.
        entries: Everything in force that is not a default.
        folder: The working folder at loading; relative paths are absolute already.
    """

    core: CoreSettings
    entries: Mapping[KeyPath, Entry] = field(repr=False)
    folder: Path
    env: Mapping[str, str] = field(repr=False)

    @classmethod
    def load(
        cls,
        cwd: Path,
        env: Mapping[str, str],
        overrides: Iterable[str | Override] = (),
        registry: PluginRegistry | None = None,
        *,
        config_dir: Path | None = None,
    ) -> Settings:
        """Reads, checks and merges all layers: defaults, the user's file, the nearer file, environment, overrides.

        Args:
            cwd: The working folder.
            env: The environment.
            overrides: ``KEY=VALUE`` of ``--set``, and what callers give.
            registry: Whose providers' keys are checked; other tables are let pass until they are opened.
            config_dir: The user's config folder, whose ``kgot.toml`` is read and may set everything.

        Raises:
            UsageError: Something was given that does not exist, is of the wrong type, or may not be set there.
        """
        return cls.build(Sources.read(cwd, env, overrides, config_dir), registry)

    @classmethod
    def build(cls, sources: Sources, registry: PluginRegistry | None = None) -> Settings:
        """Checks and merges what was read.

        Raises:
            UsageError: As for :meth:`load`.
        """
        catalogue = Catalogue(registry)
        return cls.of(build(sources.layers, catalogue, sources.env), sources.folder, sources.env, catalogue)

    @classmethod
    def of(
        cls, entries: Mapping[KeyPath, Entry], folder: Path, env: Mapping[str, str], catalogue: Catalogue
    ) -> Settings:
        """Makes settings of checked entries."""
        return cls(core_settings(entries, folder, catalogue), dict(entries), folder, env)

    def with_overrides(self, overrides: Iterable[str | Override], registry: PluginRegistry | None = None) -> Settings:
        """Gives the same settings with more on top.

        Raises:
            UsageError: As for :meth:`load`.
        """
        catalogue = Catalogue(registry)
        entries = build([override_layer(overrides, self.folder)], catalogue, self.env, self.entries)
        return Settings.of(entries, self.folder, self.env, catalogue)

    def to_json(self) -> dict[str, Any]:
        """Gives plain JSON that :meth:`from_json` reads; secrets are references to where they come from."""
        from kgot_core.settings.plain import to_json

        return to_json(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any], env: Mapping[str, str]) -> Settings:
        """Reads what :meth:`to_json` gave. A secret is read where it is used, from where it came.

        Args:
            data: The JSON object.
            env: The environment, for secrets.

        Raises:
            UsageError: It is not such an object, or holds a setting that this version does not have.
        """
        from kgot_core.settings.plain import from_json

        return from_json(data, env)

    def raw(self, section: str, name: str) -> dict[str, Any]:
        """Gives what is set in a provider's or role's table, secrets read. Not to be written anywhere.

        Args:
            section: For example ``backends``.
            name: The provider's name; ``-`` and ``_`` are the same in it.

        Raises:
            UsageError: A secret cannot be read.
        """
        table: dict[str, Any] = {}
        for path, entry in self.under(section, name).items():
            place = table
            for part in path[2:-1]:
                place = place.setdefault(part, {})
            value = self.value(path, entry)
            place[path[-1]] = toml_value(value) if entry.text else value
        return table

    def under(self, section: str, name: str) -> dict[KeyPath, Entry]:
        """Gives the entries of a provider's or role's table."""
        head = (section, fold(name))
        return {path: entry for path, entry in self.entries.items() if path[:2] == head and len(path) > 2}

    def value(self, path: KeyPath, entry: Entry) -> Any:
        """Gives an entry's value, read where it is a secret.

        Raises:
            UsageError: The secret cannot be read.
        """
        return entry.value.read(path, self.env) if isinstance(entry.value, Secret) else entry.value

    def model(self, role: Role) -> ModelSpec | None:
        """Gives the model of a role; that of ``graph`` where the role has none and asks a chat model.

        A role's table without ``model`` changes what it sets and takes all else from ``graph``.

        Returns:
            Name and settings (see :class:`~kgot_core.settings.schema.ModelSettings`: those that are set, and
            ``timeout``), or ``None`` where no model is set at all.

        Raises:
            UsageError: The name is not ``provider:name``, or the key cannot be read.
        """
        from kgot_core.contracts.model import ModelSpec

        own = self.raw("models", role)
        named = role if own.get("model") or role == "embedding" else "graph"
        table = own if named == role else {**self.raw("models", "graph"), **own}
        name = table.pop("model", "")
        if not name:
            return None
        table.setdefault("timeout", ModelSettings().timeout)
        try:
            return ModelSpec.parse(name, {key: value for key, value in table.items() if value not in (None, "")})
        except ValueError as error:
            raise UsageError(f"models.{named}: {error} ({self.origin(f'models.{named}.model')})") from None

    def voter(self, stage: str) -> str:
        """Gives the name of the voter of a stage: ``decide``, ``choose_tools``, ``parse`` or ``final``."""
        return str(getattr(self.core.voters, stage) or self.core.voter)

    def origin(self, key: str) -> str:
        """Tells where a setting comes from: ``default``, a file's path, a variable's name, ``--set``, ..."""
        entry = self.entries.get(normal(parse_key(key)))
        return entry.origin.where if entry else "default"

    def items(self) -> list[Item]:
        """Lists the core's settings and all that is set of models and providers, secrets masked."""
        listed: list[Item] = []
        for key in Catalogue().core.values():
            if key.path[0] != "models" and key.path not in self.entries:
                listed.append(Item(key.name, _shown(self.default(key)), "default"))
            elif key.path in self.entries:
                listed.append(_item(key.path, self.entries[key.path]))
        rest = sorted(path for path in self.entries if key_text(path) not in {item.key for item in listed})
        return listed + [_item(path, self.entries[path]) for path in rest]

    def default(self, key: Key) -> Any:
        """Gives the default of a core setting as it is in force here."""
        value: Any = self.core
        for part in key.path:
            value = getattr(value, part)
        return value

    def secrets(self) -> set[str]:
        """Gives the text of every secret that can be read, so that it can be kept out of what is written."""
        found: set[str] = set()
        for path, entry in self.entries.items():
            if isinstance(entry.value, Secret):
                try:
                    value = entry.value.read(path, self.env)
                except UsageError:
                    continue
                found.update([str(value)] if isinstance(value, str) and value else [])
        return found


def _item(path: KeyPath, entry: Entry) -> Item:
    secret = isinstance(entry.value, Secret)
    return Item(key_text(path), MASK if secret else _shown(entry.value), entry.origin.where, secret)


def _shown(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value
