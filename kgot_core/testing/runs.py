"""A real run for tests: a graph in memory, a scripted model, and whatever part of it is to be tried."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from kgot_core.contracts.backend import Call, GraphBackend, GraphScope, OpenContext
from kgot_core.contracts.options import LoopLimits, RunOptions
from kgot_core.contracts.run import Run
from kgot_core.contracts.sandbox import Sandbox
from kgot_core.contracts.solver import Solver
from kgot_core.contracts.strategy import Strategy
from kgot_core.contracts.task import Answer, Outcome, Task
from kgot_core.contracts.voter import Voter
from kgot_core.models.client import ModelClient
from kgot_core.models.embedding import EmbeddingClient
from kgot_core.models.retry import RetryPolicy
from kgot_core.run.desks.files import FileShelf
from kgot_core.run.lifecycle import run_task, started
from kgot_core.run.parts import Parts, ToolEntry
from kgot_core.run.prompting.prompts import Prompts
from kgot_core.run.record.journal import Journal
from kgot_core.sandboxes.providers import MONTY
from kgot_core.sinks.memory import MemorySink
from kgot_core.solvers.query import QuerySolver
from kgot_core.testing.memory_backend import MemoryBackend
from kgot_core.testing.scripted_model import ScriptedModel
from kgot_core.voters.majority import MajorityVoter

if TYPE_CHECKING:
    from langchain_core.embeddings import Embeddings

T = TypeVar("T")
QUESTION = "How deep is the lake into which the Ulmet flows?"
# Not the dialect's own example: a reply that repeats that one is no answer.
CHAINS = (
    "(Lake: Corrie Water) depth = 61\n(River: Ulmet) -[FLOWS_INTO]-> (Lake: Corrie Water)",
    "(River: Sike Burn) -[FLOWS_INTO]-> (Lake: Corrie Water)",
)
NOTHING = "I do not know."
_STAGES = ("decide", "choose_tools", "parse", "final")


@dataclass(frozen=True)
class Setting:
    """What a run for a test is made of.

    Attributes:
        script: Script of the model, see :class:`kgot_core.testing.scripted_model.ScriptedModel`.
        question: The task.
        files: Attachments.
        chains: Facts that the graph holds at the start.
        solver: The solver.
        voter: The voter of all stages.
        tools: Tools on offer.
        sandbox: Where scripts run.
        limits: The loop's limits.
        folder: Folder for files of the run.
        folders: Folders of the user's that tools may search and read.
        allowed: Further files and folders that tools may read.
        embeddings: An embedding model of LangChain; none where ``None``.
    """

    script: Any = field(default_factory=lambda: lambda asked: NOTHING)
    question: str = QUESTION
    files: Sequence[Path] = ()
    chains: Sequence[str] = CHAINS
    solver: Solver = field(default_factory=QuerySolver)
    voter: Voter = field(default_factory=MajorityVoter)
    tools: Sequence[ToolEntry] = ()
    sandbox: Sandbox = field(default_factory=lambda: MONTY.open(MONTY.settings()))
    limits: LoopLimits = field(default_factory=lambda: LoopLimits(max_iterations=2, max_llm_attempts=1))
    folder: Path | None = None
    folders: Sequence[Path] = ()
    allowed: Sequence[Path] = ()
    embeddings: Embeddings | None = None


@dataclass(frozen=True)
class Ended(Generic[T]):
    """A run that has ended.

    Attributes:
        answer: How it ended.
        result: What the function that was tried returned.
        records: The run's events.
        requests: The text of each request to the model.
    """

    answer: Answer
    result: T
    records: Sequence[Mapping[str, Any]]
    requests: Sequence[str]


class _Probe(Strategy, Generic[T]):
    def __init__(self, work: Callable[[Run], Awaitable[T]]) -> None:
        self._work = work
        self.error: BaseException | None = None
        self.result: T | None = None

    async def run(self, run: Run) -> Outcome:
        try:
            self.result = await self._work(run.at("probe"))
        except BaseException as error:
            self.error = error
            raise
        return Outcome("tried", "answered")


def try_in_run(work: Callable[[Run], Awaitable[T]], setting: Setting | None = None) -> Ended[T]:
    """Runs a function in the place of a strategy; what it raises is raised."""
    probe = _Probe(work)
    ended = try_strategy(probe, setting)
    if probe.error is not None:
        raise probe.error
    return Ended(ended.answer, probe.result, ended.records, ended.requests)  # type: ignore[arg-type]


def try_strategy(strategy: Strategy, setting: Setting | None = None) -> Ended[None]:
    """Runs a task by a strategy."""
    return asyncio.run(run_strategy(strategy, setting or Setting()))


async def run_strategy(strategy: Strategy, setting: Setting) -> Ended[None]:
    """Runs a task by a strategy, for tests that want to cancel it."""
    model, sink = ScriptedModel(setting.script), MemorySink()
    policy = RetryPolicy(attempts=setting.limits.max_llm_attempts)
    parts = Parts(
        options=RunOptions(limits=setting.limits),
        plan={},
        versions={},
        backend="memory",
        open_backend=lambda context: _filled(context, setting.chains),
        solver=setting.solver,
        strategy=strategy,
        voters=dict.fromkeys(_STAGES, setting.voter),
        sandbox=setting.sandbox,
        clients={"graph": ModelClient(model, policy=policy)},
        model_names={"graph": "scripted", **({"embedding": "scripted"} if setting.embeddings else {})},
        embedder=EmbeddingClient(setting.embeddings, policy=policy) if setting.embeddings else None,
        prompts=Prompts(None),
        tools=setting.tools,
    )
    task = Task(setting.question, tuple(setting.files))
    files = FileShelf(task.files, setting.folder, setting.folders, setting.allowed)
    journal = Journal("suite", None, [sink])
    context = OpenContext(GraphScope("suite"), setting.sandbox)
    answer = await run_task(parts, task, files, started(parts, task, files), journal, None, context)
    journal.close()
    return Ended(answer, None, sink.records, [_shown(asked) for asked in model.requests])


def _filled(context: OpenContext, chains: Sequence[str]) -> GraphBackend:
    backend = MemoryBackend(context)
    for number, chain in enumerate(chains):
        backend.write(chain, Call(f"given {number}"))
    return backend


def _shown(asked: Any) -> str:
    return f"{asked.prompt}\n{json.dumps(dict(asked.arguments), sort_keys=True, default=str)}"
