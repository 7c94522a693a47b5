"""The run as its stages see it. A Protocol, so that contracts need nothing of ``kgot_core.run``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, Protocol

from kgot_core.contracts.backend import Row
from kgot_core.contracts.dialect import Dialect
from kgot_core.contracts.model import Reply, Role, ToolCallRequest, ToolSpec
from kgot_core.contracts.options import Origin, RunOptions
from kgot_core.contracts.sandbox import CodeJob, CodeResult, Sandbox
from kgot_core.contracts.solver import Solver
from kgot_core.contracts.task import JsonSchema, Task
from kgot_core.contracts.tools import RunFiles, ToolResult
from kgot_core.contracts.voter import Ballot, Choice
from kgot_core.events import Event
from kgot_core.graph.elements import GraphChange
from kgot_core.graph.fold import TaskGraph


class GraphHandle(Protocol):
    """The run's graph: asynchronous, journalled, with the core's own folded copy."""

    @property
    def dialect(self) -> Dialect:
        """The language of the store behind it."""

    @property
    def state(self) -> TaskGraph:
        """The graph as the core knows it; never changed by stages."""

    @property
    def concurrency(self) -> int:
        """How many writes may run at once."""

    @property
    def touched(self) -> Sequence[str]:
        """Ids of the elements added, changed or removed in this round, in the order of the changes."""

    async def write(self, step: str, chain: str, sources: Sequence[str]) -> GraphChange:
        """Runs one block; ``sources`` name the tool calls' steps, ``task`` or ``model`` that it rests on.

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
        """Takes neutral elements in, and gives the change as the store made it.

        Raises:
            QueryError: An element cannot be held; nothing was changed.
            StoreUnavailable: The store is away.
        """

    def mark_unsupported(self, element_id: str, names: Sequence[str]) -> None:
        """Notes the properties of an element whose values do not stand in its sources."""

    def origin(self, element_id: str) -> Origin | None:
        """Tells where an element came from, ``None`` for one that was there before the run."""


class Tools(Protocol):
    """The run's tools."""

    @property
    def specs(self) -> Sequence[ToolSpec]:
        """Tools on offer, in a fixed order."""

    def problem(self, call: ToolCallRequest) -> str:
        """Tells why a call cannot be made, for the model; empty where it can."""

    def result(self, step: str) -> ToolResult | None:
        """Gives the result of the call that was made at a step of the run, ``None`` where none was."""

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
    def options(self) -> RunOptions:
        """How the task is to be run."""

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
    def solver(self) -> Solver:
        """How the graph gives answers."""

    @property
    def sandbox(self) -> Sandbox:
        """Where model-written code runs, to know what it may use; run it with ``execute``."""

    def at(self, *steps: str | int) -> Run:
        """Gives the same run at a step below this one."""

    def prompt(self, name: str, **slots: str) -> str:
        """Fills one of the run's prompts (paper, appendix C)."""

    def prompt_text(self, name: str) -> str:
        """Gives a prompt with its slots unfilled, to recognise its examples in a reply."""

    async def ask(
        self,
        step: str,
        stage: str,
        prompt: Callable[[int], str] | str,
        *,
        role: Role = "graph",
        n: int = 1,
        schema: JsonSchema | None = None,
        temperature: float | None = None,
        max_tokens: int | None = None,
    ) -> Reply:
        """Asks a model one thing, without the state; journalled, retried, counted.

        Args:
            step: Place of the request.
            stage: Stage that asks.
            prompt: The text, or a function that makes it from the tokens that findings may take.
            role: Which model.
            n: Samples.
            schema: JSON schema that the reply should obey; a server that takes none is told it in the prompt.
            temperature: Sampling temperature.
            max_tokens: Limit of the reply.

        Raises:
            ModelError: The request failed for good.
        """

    async def ask_with_state(
        self,
        step: str,
        stage: str,
        tail: Callable[[int], str] | str,
        *,
        role: Literal["graph", "tool", "judge"] = "graph",
        n: int = 1,
        temperature: float | None = None,
        max_tokens: int | None = None,
    ) -> Reply:
        """Asks the graph chain, or the tool chain with the tools on offer: rules, task, state, then ``tail``.

        The role ``judge`` is asked by the graph chain, too.

        Where the model's context overflows, state and tail shrink and the request is sent again.

        Args:
            step: Place of the request.
            stage: Stage that asks.
            tail: The request's own text, or a function that makes it from the tokens that results may take.
            role: Which chain.
            n: Samples.
            temperature: Sampling temperature.
            max_tokens: Limit of the reply.

        Raises:
            ModelError: The request failed for good.
        """

    async def samples_at_once(self, step: str, role: Role) -> bool:
        """Tells whether the role's model answers several samples in one request, as far as is known."""

    async def embed(self, step: str, stage: str, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """Gives a vector for each text: by the model of the role ``embedding``, journalled, retried, counted.

        Without such a model the vectors tell what characters the texts have in common, and cost nothing.

        Args:
            step: Place of the request.
            stage: Stage that asks.
            texts: The texts, none of them empty.

        Raises:
            ModelError: The request failed for good.
        """

    async def vote(self, ballot: Ballot) -> Choice:
        """Puts a ballot to the stage's voter; where that fails, the majority of the samples counts."""

    async def execute(self, step: str, job: CodeJob) -> CodeResult:
        """Runs model-written Python in the sandbox, apart from the graph.

        Raises:
            SandboxError: The sandbox itself failed.
        """

    def release_reserve(self) -> None:
        """Lets the run spend the whole of its caps: until then a share is kept, and ``CapReached`` raised before it."""

    def refresh_state(self) -> None:
        """Writes the state anew that later requests begin with, after a change outside of a round."""

    def end_round(self, iteration: int, results: Sequence[ToolResult]) -> None:
        """Takes a round into the state that later requests begin with."""

    def emit(self, event: Event) -> None:
        """Records an event at this step."""

    def notice(self, text: str) -> None:
        """Records a line for the user, once a run for the same text."""
