"""The layers of settings, each as a list of keys with what was given and where: files, environment, ``--set``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

from kgot_core.errors import UsageError
from kgot_core.settings.files import FILE_NAME, SettingsFile, find_file, flatten, read_file
from kgot_core.settings.names import PREFIX, KeyPath, normal, parse_key, variable_path
from kgot_core.settings.trust import TrustStore
from kgot_core.settings.values import plain

RESERVED = frozenset({"KGOT_CACHE_DIR", "KGOT_CONFIG_DIR", "KGOT_DEBUG"})
"""Variables that are no settings: traces of errors, and the user's config folder."""


@dataclass(frozen=True)
class Override:
    """A setting that a caller gives, above files and environment.

    Attributes:
        key: Dotted key.
        value: Its value, of the setting's own type; tables are mappings.
        origin: Where it comes from, as shown to the user, for example ``--backend``.
    """

    key: str
    value: Any
    origin: str = "code"


@dataclass(frozen=True)
class Origin:
    """Where a setting comes from.

    Attributes:
        kind: Kind of layer.
        where: As shown: a file's path, a variable's name, ``--set``, or ``default``.
        base: Folder at which a relative path starts.
        line: Line of the file, 0 where there is none.
        trusted: It may set everything.
        changed: It is a file that was trusted with another content.
    """

    kind: Literal["default", "file", "env", "given"]
    where: str
    base: Path
    line: int = 0
    trusted: bool = True
    changed: bool = False

    @property
    def place(self) -> str:
        """The origin for a message, with the line."""
        return f"{self.where} line {self.line}" if self.line else self.where


@dataclass(frozen=True)
class Given:
    """A key with what was given for it.

    Attributes:
        path: The key.
        value: The value; text where ``text`` is set.
        origin: Where it comes from.
        text: It is text whose type the setting decides.
    """

    path: KeyPath
    value: Any
    origin: Origin
    text: bool = False


Layer: TypeAlias = list[Given]


@dataclass(frozen=True)
class Sources:
    """Everything that was given, lowest layer first, not yet checked.

    Attributes:
        layers: The user's file, the nearer file, the environment, overrides.
        folder: The working folder.
        env: The environment, from which secrets are read when they are used.
    """

    layers: tuple[Layer, ...]
    folder: Path
    env: Mapping[str, str]

    @classmethod
    def read(
        cls,
        folder: Path,
        env: Mapping[str, str],
        overrides: Iterable[str | Override] = (),
        config_dir: Path | None = None,
    ) -> Sources:
        """Reads all layers.

        Args:
            folder: The working folder, from which ``kgot.toml`` is looked for upwards.
            env: The environment.
            overrides: ``KEY=VALUE`` of ``--set``, and what callers give.
            config_dir: The user's config folder.

        Raises:
            UsageError: A file, a variable or an override cannot be read.
        """
        folder = folder.resolve()
        layers = [file_layer(file, TrustStore(config_dir)) for file in _files(folder, config_dir)]
        layers.append(list(_variables(env, folder)))
        layers.append(override_layer(overrides, folder))
        return cls(tuple(layers), folder, env)


def override_layer(overrides: Iterable[str | Override], folder: Path) -> Layer:
    """Reads ``KEY=VALUE`` of ``--set``, and what callers give.

    Raises:
        UsageError: One of them has no value or no proper key.
    """
    return [given for override in overrides for given in _override(override, folder)]


def _files(folder: Path, config_dir: Path | None) -> list[SettingsFile]:
    own = config_dir / FILE_NAME if config_dir is not None else None
    files = [read_file(own.resolve())] if own is not None and own.is_file() else []
    near = find_file(folder)
    if near is not None and all(near != file.path for file in files):
        files.append(read_file(near))
    return files


def file_layer(file: SettingsFile, store: TrustStore) -> Layer:
    """Gives what a file sets, with line numbers, marked as trusted or not."""
    trusted = store.trusts(file)
    changed = not trusted and store.knew(file)
    layer: Layer = []
    for path, value in flatten((), file.table):
        origin = Origin("file", str(file.path), file.path.parent, file.line(path), trusted, changed)
        layer.append(Given(path, _plain(path, value, origin), origin))
    return layer


def _variables(env: Mapping[str, str], folder: Path) -> Iterator[Given]:
    for name in sorted(env):
        if name.startswith(PREFIX) and name not in RESERVED:
            path = variable_path(name)
            if not all(path):
                raise UsageError(f"the variable {name} names no setting", hint="KGOT_<SECTION>__<KEY>")
            yield Given(normal(path), env[name], Origin("env", name, folder), text=True)


def _override(override: str | Override, folder: Path) -> Iterator[Given]:
    if isinstance(override, str):
        key, equals, value = override.partition("=")
        if not equals:
            raise UsageError(f"--set {override} has no value", hint="--set KEY=VALUE")
        yield Given(_key(key.strip()), value, Origin("given", "--set", folder), text=True)
        return
    origin = Origin("given", override.origin, folder)
    for path, value in flatten(_key(override.key), override.value):
        yield Given(path, _plain(path, value, origin), origin)


def _key(text: str) -> KeyPath:
    try:
        return normal(parse_key(text))
    except ValueError as error:
        raise UsageError(f"{error}", hint="a key is written like loop.max_iterations") from error


def _plain(path: KeyPath, value: Any, origin: Origin) -> Any:
    try:
        return plain(value)
    except ValueError as error:
        raise UsageError(f"{'.'.join(path)} must be {error} ({origin.place})") from error
