"""The run as its stages see it. A Protocol, so that contracts need nothing of ``kgot_core.run``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from kgot_core.contracts.backend import Row
from kgot_core.contracts.dialect import Dialect
from kgot_core.contracts.model import Message, Reply, Role, ToolCallRequest, ToolSpec
from kgot_core.contracts.sandbox import CodeJob, CodeResult
from kgot_core.contracts.solver import Solver
from kgot_core.contracts.task import AnswerFormat, JsonSchema, Task
from kgot_core.contracts.tools import RunFiles, ToolResult
from kgot_core.contracts.voter import Ballot, Choice
from kgot_core.graph.elements import GraphChange
from kgot_core.graph.fold import TaskGraph


@dataclass(frozen=True)
class LoopLimits:
    """The loop's parameters with the paper's meaning and defaults (B.1, B.2, B.3.2).

    Attributes:
        num_next_steps_decision: Votes on Solve or Enhance in each iteration.
        max_retrieve_query_retry: New queries after one that could not be used, for a Solve.
        max_query_fixing_retry: Repairs of one statement that fails (the paper's ``max_cypher_fixing_retry``).
        max_final_solution_parsing: Samples of the final parse.
        max_tool_retries: Retries of a tool call whose error may pass.
        max_iterations: Enhance rounds.
        max_llm_attempts: Attempts of one model request.
    """

    num_next_steps_decision: int = 5
    max_retrieve_query_retry: int = 3
    max_query_fixing_retry: int = 3
    max_final_solution_parsing: int = 3
    max_tool_retries: int = 6
    max_iterations: int = 7
    max_llm_attempts: int = 6


class GraphHandle(Protocol):
    """The run's graph: asynchronous, journalled, with the core's own folded copy."""

    @property
    def dialect(self) -> Dialect:
        """The language of the store behind it."""

    @property
    def state(self) -> TaskGraph:
        """The graph as the core knows it; never changed by stages."""

    async def write(self, step: str, chain: str, sources: Sequence[str]) -> GraphChange:
        """Runs one block; ``sources`` name the tool results, ``task`` or ``model`` that it rests on.

        Raises:
            QueryError: The statement's fault; nothing was changed.
            StoreUnavailable: The store is away.
        """

    async def query(self, step: str, statement: str) -> Sequence[Row]:
        """Runs a reading statement.

        Raises:
            QueryError: The statement's fault.
            StoreUnavailable: The store is away.
        """

    async def apply(self, step: str, change: GraphChange, sources: Sequence[str]) -> GraphChange:
        """Takes neutral elements in, and gives the change as the store made it."""


class Tools(Protocol):
    """The run's tools."""

    @property
    def specs(self) -> Sequence[ToolSpec]:
        """Tools on offer, in a fixed order."""

    async def call(self, step: str, call: ToolCallRequest) -> ToolResult:
        """Calls a tool. Its failure is a result with ``failed`` set, not an exception."""


class Run(Protocol):
    """One task on its way, at one step. ``step`` names given to it are relative to ``path``."""

    @property
    def task(self) -> Task:
        """The question and its attachments."""

    @property
    def path(self) -> str:
        """Place in the run, for example ``2/enhance``; the same after a resume."""

    @property
    def graph(self) -> GraphHandle:
        """The task's graph."""

    @property
    def tools(self) -> Tools:
        """The tools on offer."""

    @property
    def files(self) -> RunFiles:
        """Attachments, and what tools made."""

    @property
    def limits(self) -> LoopLimits:
        """The loop's parameters."""

    @property
    def solver(self) -> Solver:
        """How the graph gives answers."""

    @property
    def answer_format(self) -> AnswerFormat:
        """How the final answer is written."""

    @property
    def answer_schema(self) -> JsonSchema | None:
        """JSON schema of the answer's value, if one was asked for."""

    def at(self, *steps: str) -> Run:
        """Gives the same run at a step below this one."""

    async def ask(
        self,
        step: str,
        stage: str,
        messages: Sequence[Message],
        *,
        role: Role = "graph",
        n: int = 1,
        tools: Sequence[ToolSpec] = (),
        schema: JsonSchema | None = None,
        temperature: float | None = None,
        max_tokens: int | None = None,
    ) -> Reply:
        """Asks a model; journalled, retried, counted.

        Raises:
            ModelError: The request failed for good.
        """

    async def vote(self, ballot: Ballot) -> Choice:
        """Puts a ballot to the stage's voter."""

    async def execute(self, step: str, job: CodeJob) -> CodeResult:
        """Runs model-written Python in the sandbox, apart from the graph."""

    def samples_at_once(self, role: Role) -> bool:
        """Tells whether the role's model answers several samples in one request, as far as is known."""

    def emit(self, kind: str, **fields: Any) -> None:
        """Records an event of a known kind at this step."""

    def notice(self, text: str) -> None:
        """Records a line for the user, once a run for the same text."""
