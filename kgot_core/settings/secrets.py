"""Secrets: kept as a reference to where they come from, and read where they are used."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kgot_core.errors import UsageError
from kgot_core.settings.files import flatten, read_file
from kgot_core.settings.names import KeyPath, key_text, parse_key, variable

MASK = "********"


class SecretText(str):
    """A secret on its way to where it is used; ``repr`` does not show it."""

    __slots__ = ()

    def __repr__(self) -> str:
        return repr(MASK)


@dataclass(frozen=True)
class Secret:
    """A secret setting.

    Attributes:
        reference: Where it comes from: ``{"env": NAME}``, ``{"file": PATH}``, ``{"toml": PATH, "key": KEY}``, or
            ``{"given": WHERE}`` for what was typed or passed and is kept nowhere.
        known: Its value, where it was read already.
    """

    reference: Mapping[str, str]
    known: Any = field(default=None, repr=False, compare=False)

    def read(self, path: KeyPath, env: Mapping[str, str]) -> Any:
        """Gives the secret's value.

        Args:
            path: The setting, for messages.
            env: The environment.

        Raises:
            UsageError: It cannot be read any more; the message says where it came from.
        """
        value = self._value(path, env) if self.known is None else self.known
        return SecretText(value) if isinstance(value, str) else value

    def _value(self, path: KeyPath, env: Mapping[str, str]) -> Any:
        key = key_text(path)
        if name := self.reference.get("env"):
            if name in env:
                return env[name]
            raise UsageError(f"{key} is read from the variable {name}, which is not set", hint=f"set {name}")
        if file := self.reference.get("file"):
            try:
                return Path(file).read_text(encoding="utf-8").strip()
            except (OSError, ValueError) as error:
                raise UsageError(f"{key} is read from the file {file}, which cannot be read") from error
        if file := self.reference.get("toml"):
            return self._from_toml(key, Path(file))
        raise UsageError(
            f"{key} was given by {self.reference.get('given', 'its caller')}, which is not kept with the run",
            hint=f"set {variable(path)} or {variable(path)}_FILE",
        )

    def _from_toml(self, key: str, file: Path) -> Any:
        wanted = parse_key(self.reference.get("key", key))
        for found, value in flatten((), read_file(file).table):
            if found == wanted:
                return value
        raise UsageError(f"{key} is read from {file}, which does not set it any more")
