"""The core's own providers, offered through the same hooks as a plugin's. Nothing is imported before it is used."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from kgot_core.hookspecs import hookimpl
from kgot_core.models.providers import MODEL_PROVIDERS
from kgot_core.providers import (
    FOLDER,
    FormatProvider,
    ModelProvider,
    SandboxProvider,
    SchedulerProvider,
    SolverProvider,
    StrategyProvider,
    ToolProvider,
    VoterProvider,
    later,
)
from kgot_core.sandboxes.providers import SANDBOXES
from kgot_core.tools.settings import PythonCodeSettings
from kgot_core.voters.settings import AdaptiveSettings, JudgeSettings, check_adaptive

if TYPE_CHECKING:
    from langchain_core.tools import BaseTool

    from kgot_core.contracts.solver import Solver
    from kgot_core.contracts.strategy import Strategy
    from kgot_core.contracts.tools import ToolContext
    from kgot_core.contracts.voter import Voter


def _query(settings: Any) -> Solver:
    from kgot_core.solvers.query import QuerySolver

    return QuerySolver()


def _direct(settings: Any) -> Solver:
    from kgot_core.solvers.direct import DirectSolver

    return DirectSolver()


def _kgot(settings: Any) -> Strategy:
    from kgot_core.strategies.kgot_loop import KGoTLoop

    return KGoTLoop()


def _ask_graph(settings: Any) -> Strategy:
    from kgot_core.strategies.ask_graph import AskGraph

    return AskGraph()


def _majority(settings: Any) -> Voter:
    from kgot_core.voters.majority import MajorityVoter

    return MajorityVoter()


def _adaptive(settings: Any) -> Voter:
    from kgot_core.voters.adaptive import AdaptiveVoter

    return AdaptiveVoter(settings.confidence)


def _judge(settings: Any) -> Voter:
    from kgot_core.voters.judge import JudgeVoter

    return JudgeVoter(settings.both_orders)


def _stability(settings: Any) -> Voter:
    from kgot_core.voters.stability import StabilityVoter

    return StabilityVoter()


def _ask_llm(settings: Any, context: ToolContext) -> Sequence[BaseTool]:
    from kgot_core.tools.ask_llm import AskLlm

    return [AskLlm(context)]


def _run_python_code(settings: Any, context: ToolContext) -> Sequence[BaseTool]:
    from kgot_core.tools.python_code import RunPythonCode

    return [RunPythonCode(context, settings)]


@hookimpl
def kgot_solvers() -> Iterable[SolverProvider]:
    """The two solvers of the paper (section 2.3)."""
    return [
        SolverProvider(name="query", summary="A query on the graph, in the backend's language.", open=_query),
        SolverProvider(name="direct", summary="The model reads the graph and answers.", open=_direct),
    ]


@hookimpl
def kgot_strategies() -> Iterable[StrategyProvider]:
    """The loop, and its end alone."""
    return [
        StrategyProvider(name="kgot", summary="Enhance a graph of the task, then solve from it.", open=_kgot),
        StrategyProvider(name="ask_graph", summary="Solve from a graph that is there, without tools.", open=_ask_graph),
    ]


@hookimpl
def kgot_voters() -> Iterable[VoterProvider]:
    """Self-consistency, and what may take its place."""
    return [
        VoterProvider(name="majority", summary="What most samples are for.", open=_majority),
        VoterProvider(
            name="adaptive",
            summary="What most samples are for, with no more of them than make that sure enough.",
            settings=AdaptiveSettings,
            check=check_adaptive,
            open=_adaptive,
        ),
        VoterProvider(
            name="judge",
            summary="Where samples disagree, a model weighs their reasons.",
            settings=JudgeSettings,
            open=_judge,
        ),
        VoterProvider(
            name="stability",
            summary="The sample that is most like all others, compared as embedded texts.",
            open=_stability,
        ),
    ]


@hookimpl
def kgot_tools() -> Iterable[ToolProvider]:
    """Tools that need nothing but a model and a sandbox."""
    return [
        ToolProvider(name="ask_llm", summary="Asks a model one question.", create=_ask_llm),
        ToolProvider(
            name="run_python_code",
            summary="Runs a script in the sandbox, with the task's files.",
            settings=PythonCodeSettings,
            create=_run_python_code,
        ),
    ]


@hookimpl
def kgot_schedulers() -> Iterable[SchedulerProvider]:
    """A batch in this process."""
    return [
        SchedulerProvider(
            name="local",
            summary="Runs the tasks of a batch in this process, several at once.",
            open=later("kgot_core.schedulers.local:open_local"),
        )
    ]


@hookimpl
def kgot_models() -> Iterable[ModelProvider]:
    """Models through LangChain."""
    return MODEL_PROVIDERS


@hookimpl
def kgot_sandboxes() -> Iterable[SandboxProvider]:
    """Jails that need no service."""
    return SANDBOXES


@hookimpl
def kgot_graph_formats() -> Iterable[FormatProvider]:
    """Formats that need no library."""
    return [
        FormatProvider(
            name="snapshot",
            summary="A graph as JSON that keeps everything, the same for every backend.",
            suffixes=(".json",),
            read=later("kgot_core.formats.snapshot:read_snapshot"),
            write=later("kgot_core.formats.snapshot:write_snapshot"),
        ),
        FormatProvider(
            name="csv",
            summary="nodes.csv and edges.csv in a folder or a zip, as neo4j-admin database import takes them.",
            suffixes=(FOLDER, ".zip"),
            read=later("kgot_core.formats.csv:read_csv"),
            write=later("kgot_core.formats.csv:write_csv"),
            text=False,
        ),
    ]
