"""The providers of each kind: what opens the real thing, and what has to be known of it before."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from kgot_core.providers.base import Problem, Provider, ProviderKind

if TYPE_CHECKING:
    from langchain_core.embeddings import Embeddings
    from langchain_core.language_models import BaseChatModel
    from langchain_core.tools import BaseTool

    from kgot_core.contracts.backend import GraphBackend, OpenContext
    from kgot_core.contracts.dialect import Dialect
    from kgot_core.contracts.model import ModelSpec
    from kgot_core.contracts.sandbox import Sandbox
    from kgot_core.contracts.scheduler import Scheduler
    from kgot_core.contracts.servers import Servers
    from kgot_core.contracts.sink import Sink
    from kgot_core.contracts.solver import Solver
    from kgot_core.contracts.strategy import Strategy
    from kgot_core.contracts.tools import ToolContext, ToolPart
    from kgot_core.contracts.trial import Trial
    from kgot_core.contracts.voter import Voter
    from kgot_core.graph.elements import GraphSnapshot
    from kgot_core.graph.losses import Losses

FOLDER = "/"
"""The ending of a format that is a folder of files."""


def keeps_nothing(settings: Any, name: str) -> Problem:
    """The answer of a backend whose graphs end with their runs."""
    return Problem("it keeps no graph when a run ends", "start from the graph of an earlier run: --graph RUN")


@dataclass(frozen=True, kw_only=True)
class BackendProvider(Provider):
    """A graph store. ``open(settings, context)`` gives one open graph.

    Attributes:
        dialect: Gives the class of its dialects where that is a subclass of ``Dialect``: a run that is repeated from
            its record shows elements by it, without the store.
        reach: Where there is a server: ``reach(settings, keep)`` tells ``kgot doctor`` why a run could not start on it,
            and changes nothing; ``keep`` says that runs go on with what the store holds (``graph.keep``). ``check``,
            which is asked before each run, need not wait for a server.
        keeps: ``keeps(settings, name)`` tells why the store cannot open a scope with ``keep`` or ``read_only``, and
            ``None`` where it can. The name is the user's, empty where the store's own settings say which graph.
        servers: Where a run needs a server of its own: how a pool starts some.
    """

    kind: ClassVar[ProviderKind] = "backend"
    open: Callable[[Any, OpenContext], GraphBackend]
    dialect: Callable[[], type[Dialect]] | None = None
    reach: Callable[[Any, bool], Problem | None] | None = None
    keeps: Callable[[Any, str], Problem | None] = keeps_nothing
    servers: Servers | None = None


@dataclass(frozen=True, kw_only=True)
class SolverProvider(Provider):
    """A way to answer from a graph."""

    kind: ClassVar[ProviderKind] = "solver"
    open: Callable[[Any], Solver]


@dataclass(frozen=True, kw_only=True)
class ToolProvider(Provider):
    """Tools of one kind, made anew for each run.

    Attributes:
        create: ``create(settings, context)`` gives LangChain tools.
        effect: ``read``: may be retried, cached and run again on resume; ``write``: never. A tool whose ``metadata``
            holds an ``effect`` says so for itself.
        parallel: Calls of it may run side by side.
        seconds: Wall time of one call.
        default: Offered without being asked for by name.
        parts: Tells ``kgot doctor`` and ``kgot tools list`` what each place, such as a server, that the tools come from
            offers now.
        needs: What has to be set or given before there is any tool, in a few words; empty where there always is one.
        trial: ``trial(settings, folder)`` gives what ``kgot plugins check`` tries the tools with, where the examples of
            their descriptions need more than a small table: files, a server. It is closed after each test.
    """

    kind: ClassVar[ProviderKind] = "tool"
    create: Callable[[Any, ToolContext], Sequence[BaseTool]]
    effect: Literal["read", "write"] = "read"
    parallel: bool = True
    seconds: float = 300.0
    default: bool = True
    parts: Callable[[Any], Sequence[ToolPart]] | None = None
    needs: str = ""
    trial: Callable[[Any, Path], AbstractContextManager[Trial]] | None = None


@dataclass(frozen=True, kw_only=True)
class VoterProvider(Provider):
    """A way to turn samples into a choice."""

    kind: ClassVar[ProviderKind] = "voter"
    open: Callable[[Any], Voter]


def _alone() -> bool:
    """Tells that no process is one of several."""
    return False


@dataclass(frozen=True, kw_only=True)
class SchedulerProvider(Provider):
    """A way to run many tasks.

    Attributes:
        launch: For a scheduler that works in several processes: ``launch(settings, first, again)`` starts them, waits
            for their end and gives the exit code of the whole; ``None`` lets this process do the batch itself.
            ``first`` and ``again`` are command lines, program first: the batch from the start, and going on with it
            after processes were lost. Called before anything of the batch is written, and before ``open``, which then
            is not called here.
        is_rank: Tells whether this process was started as one of several of a batch; ``launch`` is not called then.
    """

    kind: ClassVar[ProviderKind] = "scheduler"
    open: Callable[[Any], Scheduler]
    launch: Callable[[Any, Sequence[str], Sequence[str]], int | None] | None = None
    is_rank: Callable[[], bool] = _alone


@dataclass(frozen=True, kw_only=True)
class StrategyProvider(Provider):
    """Who runs the whole task."""

    kind: ClassVar[ProviderKind] = "strategy"
    open: Callable[[Any], Strategy]


@dataclass(frozen=True, kw_only=True)
class ModelProvider(Provider):
    """Models by ``<name>:<model>``. ``open(settings, spec)`` gives a LangChain chat model.

    The client's own retries must be off: the core retries.

    Attributes:
        embed: ``embed(settings, spec)`` gives a LangChain embedding model, for the role ``embedding``; ``None`` where
            the provider has none.
    """

    kind: ClassVar[ProviderKind] = "model"
    open: Callable[[Any, ModelSpec], BaseChatModel]
    embed: Callable[[Any, ModelSpec], Embeddings] | None = None


@dataclass(frozen=True, kw_only=True)
class SandboxProvider(Provider):
    """A jail for model-written Python.

    Attributes:
        rank: Order in which ``auto`` tries the sandboxes, lowest first; ``None``: never by itself.
    """

    kind: ClassVar[ProviderKind] = "sandbox"
    open: Callable[[Any], Sandbox]
    rank: int | None = None


@dataclass(frozen=True, kw_only=True)
class SinkProvider(Provider):
    """A further place for a run's events. ``open(settings, run)`` gets the run's id and its folder (or None)."""

    kind: ClassVar[ProviderKind] = "sink"
    open: Callable[[Any, Mapping[str, Any]], Sink]


@dataclass(frozen=True, kw_only=True)
class FormatProvider(Provider):
    """A file format of graphs.

    What the format or the graph cannot carry goes into the :class:`~kgot_core.graph.losses.Losses`, and only that. A
    file that cannot be read raises ``UsageError``, which says where and why.

    Attributes:
        suffixes: Endings of its files in lower case, with the dot; the longest that fits a name decides, ``/`` is
            that of a folder. None where the format is only used by name.
        read: ``read(settings, path, losses)`` gives the graph of a file; ``None``: cannot be read.
        write: ``write(settings, graph, path, losses)`` makes the file, or the folder; ``None``: cannot be written.
        text: A file of it is one text, which may go to standard output.
    """

    kind: ClassVar[ProviderKind] = "format"
    suffixes: tuple[str, ...] = ()
    read: Callable[[Any, Path, Losses], GraphSnapshot] | None = None
    write: Callable[[Any, GraphSnapshot, Path, Losses], None] | None = None
    text: bool = True
