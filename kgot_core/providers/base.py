"""What every provider has, and what helps to write one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any, ClassVar, Literal, TypeAlias

ProviderKind: TypeAlias = Literal[
    "backend", "solver", "tool", "voter", "scheduler", "strategy", "model", "sandbox", "sink", "format"
]


@dataclass(frozen=True)
class Problem:
    """Why something is not ready, and the next step."""

    message: str
    hint: str = ""


@dataclass(frozen=True)
class NoSettings:
    """The settings of a provider that has none."""


def ready(settings: Any) -> Problem | None:
    """The check of a provider that is always ready."""
    return None


def later(target: str) -> Callable[..., Any]:
    """Gives a function that imports another one when it is called, so that the module of a plugin stays light.

    Args:
        target: ``module:function``.
    """

    def call(*args: Any) -> Any:
        module, _, name = target.partition(":")
        return getattr(import_module(module), name)(*args)

    return call


@dataclass(frozen=True, kw_only=True)
class Provider:
    """Fields that every provider has.

    Attributes:
        name: Name in settings and on the command line: lower case, digits, ``-`` and ``_``.
        summary: One sentence for ``kgot plugins show``.
        settings: Frozen dataclass of its settings, every field with a default; a field whose ``metadata`` has
            ``"secret": True`` is never shown, one with ``"matters": False`` may change before a run goes on (addresses,
            time limits), and ``"help"`` describes it. Those of a tool stand under ``tools.<name>``, those of a backend
            under ``backends.<name>``, and so on.
        table: Name of the table of settings that several providers of a package share (``tools.<table>``); they have
            one class of settings then. Empty where the provider has a table of its own name.
        check: Cheap test of readiness, with the settings: a :class:`Problem`, or ``None``.
    """

    kind: ClassVar[ProviderKind]
    name: str
    summary: str
    settings: type = NoSettings
    table: str = ""
    check: Callable[[Any], Problem | None] = ready

    @property
    def settings_table(self) -> str:
        """Name of its table of settings."""
        return self.table or self.name
