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
class DockerSettings:
    """Settings of the sandbox ``docker``."""

    host: str = field(
        default="",
        metadata={"help": "Address of the engine; empty takes that of DOCKER_HOST or of the current docker context"},
    )
    image: str = field(default="kgot-sandbox", metadata={"help": "The image; kgot sandbox build makes it"})
    runtime: str = field(
        default="", metadata={"help": "The engine's runtime for the container, such as runsc; empty takes its default"}
    )
    cpus: float = field(default=1.0, metadata={"help": "Processors that a container may use"})
    spare_mb: int = field(
        default=256,
        metadata={"help": "Memory of a container beyond what a script may use, for the warm worker, in MiB"},
    )
    start_seconds: float = field(default=60.0, metadata={"help": "How long a worker may take to start"})
    input_mb: int = field(default=256, metadata={"help": "How large the files given to one script may be, in MiB"})


@dataclass(frozen=True)
class SarusSettings:
    """Settings of the sandbox ``sarus``."""

    path: str = field(default="sarus", metadata={"help": "The sarus program: a name or a path"})
    image: str = field(
        default="load/library/kgot-sandbox",
        metadata={"help": "The image; made by kgot sandbox build --archive FILE, then sarus load FILE kgot-sandbox"},
    )
    start_seconds: float = field(default=60.0, metadata={"help": "How long a worker may take to start"})
    input_mb: int = field(default=256, metadata={"help": "How large the files given to one script may be, in MiB"})


@dataclass(frozen=True)
class MontySettings:
    """Settings of the sandbox ``monty``."""

    input_mb: int = field(default=64, metadata={"help": "How large the files given to one script may be, in MiB"})


def check_bwrap(settings: BwrapSettings) -> Problem | None:
    """Builds a small jail and takes it down again."""
    from kgot_core.sandboxes.bwrap.sandbox import check

    return check(settings)


def open_bwrap(settings: BwrapSettings) -> Sandbox:
    """Gives the sandbox ``bwrap``."""
    from kgot_core.sandboxes.bwrap.sandbox import BwrapSandbox

    return BwrapSandbox(settings)


def check_docker(settings: DockerSettings) -> Problem | None:
    """Asks the engine for the image."""
    from kgot_core.sandboxes.docker.sandbox import check

    return check(settings)


def open_docker(settings: DockerSettings) -> Sandbox:
    """Gives the sandbox ``docker``."""
    from kgot_core.sandboxes.docker.sandbox import DockerSandbox

    return DockerSandbox(settings)


def check_sarus(settings: SarusSettings) -> Problem | None:
    """Asks sarus for the image."""
    from kgot_core.sandboxes.sarus import check

    return check(settings)


def open_sarus(settings: SarusSettings) -> Sandbox:
    """Gives the sandbox ``sarus``."""
    from kgot_core.sandboxes.sarus import SarusSandbox

    return SarusSandbox(settings)


def check_monty(settings: MontySettings) -> Problem | None:
    """Runs one expression."""
    from kgot_core.sandboxes.monty.sandbox import check

    return check(settings)


def open_monty(settings: MontySettings) -> Sandbox:
    """Gives the sandbox ``monty``."""
    from kgot_core.sandboxes.monty.sandbox import MontySandbox

    return MontySandbox(settings)


BWRAP = SandboxProvider(
    name="bwrap",
    summary="Python in namespaces of the Linux kernel, through bubblewrap: a warm worker, a fork for each script.",
    settings=BwrapSettings,
    check=check_bwrap,
    open=open_bwrap,
    rank=10,
)
DOCKER = SandboxProvider(
    name="docker",
    summary="Python in a closed container of Docker or Podman: a warm worker, a fork for each script.",
    settings=DockerSettings,
    check=check_docker,
    open=open_docker,
    rank=20,
)
SARUS = SandboxProvider(
    name="sarus",
    summary="Python in a container of Sarus, on clusters: a warm worker, a fork for each script.",
    settings=SarusSettings,
    check=check_sarus,
    open=open_sarus,
    rank=30,
)
MONTY = SandboxProvider(
    name="monty",
    summary="A subset of Python in an interpreter of its own, on every platform.",
    settings=MontySettings,
    check=check_monty,
    open=open_monty,
    rank=90,
)
SANDBOXES = (BWRAP, DOCKER, SARUS, MONTY)
