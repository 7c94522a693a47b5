"""Where model-written Python runs: never in the process that holds the keys."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeAlias

from kgot_core.graph.values import JsonValue

PythonKind: TypeAlias = Literal["full", "subset"]
LimitHit: TypeAlias = Literal["", "time", "memory", "output", "files", "processes"]


@dataclass(frozen=True)
class SandboxLimits:
    """What one job may use.

    Attributes:
        seconds: Wall time of a job.
        memory_mb: Memory of a job, in MiB.
        output_chars: Printed text that is kept; the rest is cut with a note.
        file_mb: All files that a job may write, in MiB.
        processes: Processes and threads at once.
    """

    seconds: float = 30.0
    memory_mb: int = 512
    output_chars: int = 20_000
    file_mb: int = 64
    processes: int = 32


@dataclass(frozen=True)
class Prelude:
    """Our own code that a session runs once, before any job.

    Attributes:
        code: Python source. In a ``full`` sandbox it runs once in the warm worker and its names stay there; in
            a ``subset`` sandbox it is run again before every job, so it must be cheap there.
        modules: Modules that the worker imports before it starts; each must be installed.
        packages: A folder of further packages that scripts may import, shown to them read-only; what is put into it
            later is seen too. Everybody must be able to read it. A ``subset`` sandbox cannot use any.
    """

    code: str = ""
    modules: tuple[str, ...] = ()
    packages: Path | None = None


@dataclass(frozen=True)
class CodeJob:
    """One script. It sees the prelude's names and ``inputs`` in a single namespace (functions may recurse).

    A job's own names are gone after it; only ``commit`` changes what later jobs see.

    Attributes:
        code: The script, untrusted.
        inputs: Variables set before the script, JSON values.
        before: Trusted code run in the job's namespace before the script.
        after: Trusted expression evaluated after a script that ended well; its JSON value is the result. Without
            it the value of the script's last expression, where there is one, is the result as text.
        commit: Trusted code run in the warm worker after a job that ended well, with ``value`` bound to the
            result: how a session keeps state. Only a ``full`` sandbox can; a ``subset`` one raises ValueError.
        files: Files that the script may read, by the name it sees in its working folder.
        collect: Folder that receives the files which the script wrote into its working folder; ``None``: dropped.
        limits: Limits of this job, the session's own where ``None``.
    """

    code: str
    inputs: Mapping[str, JsonValue] = field(default_factory=dict)
    before: str = ""
    after: str = ""
    commit: str = ""
    files: Mapping[str, Path] = field(default_factory=dict)
    collect: Path | None = None
    limits: SandboxLimits | None = None


@dataclass(frozen=True)
class CodeResult:
    """How a job ended.

    Attributes:
        output: What the script printed, cut to the limit with a note.
        value: The job's result as a JSON value, or ``None``.
        error: Empty where the script ended well; else the error's kind and text, with the last lines of the
            trace, at most 2,000 characters, naming no path of the host.
        line: 1-based line of the script at which it failed, 0 where unknown.
        limit: The limit that ended the script, empty where none did.
        exit_code: What the script passed to ``sys.exit``; 0 otherwise.
        files: Names of the files written to ``collect``, sorted.
        seconds: Wall time of the job.
    """

    output: str = ""
    value: JsonValue = None
    error: str = ""
    line: int = 0
    limit: LimitHit = ""
    exit_code: int = 0
    files: tuple[str, ...] = ()
    seconds: float = 0.0


class SandboxSession(ABC):
    """One jail for one run. Synchronous; jobs run one at a time; usable from any one thread at a time."""

    @abstractmethod
    def run(self, job: CodeJob) -> CodeResult:
        """Runs a job within its limits. Whatever the script does is a :class:`CodeResult`.

        Raises:
            SandboxError: The sandbox itself failed; the session may be tried again.
        """

    @abstractmethod
    def cancel(self) -> None:
        """Ends a running job within a second; called from another thread. ``run`` then reports ``time``."""

    @abstractmethod
    def close(self) -> None:
        """Ends the session and every process in it. Idempotent."""


class Sandbox(ABC):
    """A kind of jail.

    Attributes:
        name: Name for notices and ``kgot doctor``.
        python: ``full`` (CPython with its standard library) or ``subset``.
        about: What a script may use here, one or two sentences for the model.
        pip_options: Options by which pip fetches wheels for the Python in the jail; empty where it is the running one.
    """

    name: str
    python: PythonKind
    about: str
    pip_options: tuple[str, ...] = ()

    @abstractmethod
    def open(self, prelude: Prelude, limits: SandboxLimits) -> SandboxSession:
        """Starts a session.

        Raises:
            SandboxError: The jail cannot be built here; the message says why.
        """
