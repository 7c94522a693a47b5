"""What is known about one plugin after it was loaded, or was not."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, TypeAlias

from kgot_core.providers import Provider

State: TypeAlias = Literal["ok", "broken", "incompatible", "disabled"]

CORE = "kgot-core"


@dataclass(frozen=True)
class PluginRecord:
    """One plugin and how its loading ended.

    Attributes:
        name: Name of its entry point.
        distribution: Name of its package; of a module or file given by ``--plugin``, that module's name.
        version: Version of the package, empty where there is none.
        module: Where it is loaded from.
        state: ``ok``; ``broken``: it failed; ``incompatible``: it asks for another version of the core;
            ``disabled``: by the setting ``plugins.disabled``.
        message: Why it is not ``ok``, on one line.
        traceback: The trace of an exception, empty where there was none.
        hooks: Names of the hooks that it implements, sorted; empty unless it is ``ok``.
        providers: What it offers; empty unless it is ``ok``.
    """

    name: str
    distribution: str
    version: str
    module: str
    state: State = "ok"
    message: str = ""
    traceback: str = ""
    hooks: tuple[str, ...] = ()
    providers: tuple[Provider, ...] = ()

    @property
    def failed(self) -> bool:
        """It was wanted, and cannot be used."""
        return self.state in ("broken", "incompatible")

    @property
    def line(self) -> str:
        """The plugin and its trouble, on one line."""
        return f"plugin {self.distribution} is {self.state}" + (f": {self.message}" if self.message else "")

    def answers_to(self, name: str) -> bool:
        """Tells whether a user may mean this plugin by a name: its package's, its entry point's or its module's."""
        wanted = canonical(name)
        return wanted in (canonical(self.distribution), canonical(self.name)) or name == self.module


def canonical(name: str) -> str:
    """Gives the form in which two spellings of one package name are equal."""
    return re.sub(r"[-_.]+", "-", name).lower()


def one_line(error: BaseException) -> str:
    """Gives an exception's kind and text on one line."""
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
