"""The built-in sandboxes as providers: settings and functions that import the real thing when they are called."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from kgot_core.providers import Problem, SandboxProvider

if TYPE_CHECKING:
    from kgot_core.contracts.sandbox import Sandbox


@dataclass(frozen=True)
class BwrapSettings:
    """Settings of the sandbox ``bwrap``."""

    path: str = field(default="bwrap", metadata={"help": "The bubblewrap program: a name or a path"})
    start_seconds: float = field(default=30.0, metadata={"help": "How long a worker may take to start"})
    input_mb: int = field(default=256, metadata={"help": "How large the files given to one script may be, in MiB"})


@dataclass(frozen=True)
class MontySettings:
    """Settings of the sandbox ``monty``."""

    input_mb: int = field(default=64, metadata={"help": "How large the files given to one script may be, in MiB"})


def check_bwrap(settings: BwrapSettings) -> Problem | None:
    """Builds a small jail and takes it down again."""
    from kgot_core.sandboxes.bwrap import check

    return check(settings)


def open_bwrap(settings: BwrapSettings) -> Sandbox:
    """Gives the sandbox ``bwrap``."""
    from kgot_core.sandboxes.bwrap import BwrapSandbox

    return BwrapSandbox(settings)


def check_monty(settings: MontySettings) -> Problem | None:
    """Runs one expression."""
    from kgot_core.sandboxes.monty import check

    return check(settings)


def open_monty(settings: MontySettings) -> Sandbox:
    """Gives the sandbox ``monty``."""
    from kgot_core.sandboxes.monty import MontySandbox

    return MontySandbox(settings)


BWRAP = SandboxProvider(
    name="bwrap",
    summary="Python in namespaces of the Linux kernel, through bubblewrap: a warm worker, a fork for each script.",
    settings=BwrapSettings,
    check=check_bwrap,
    open=open_bwrap,
    rank=10,
)
MONTY = SandboxProvider(
    name="monty",
    summary="A subset of Python in an interpreter of its own, on every platform.",
    settings=MontySettings,
    check=check_monty,
    open=open_monty,
    rank=90,
)
SANDBOXES = (BWRAP, MONTY)
