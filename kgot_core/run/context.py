"""The run that stages see: what belongs to it, and where in it they are."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from kgot_core.contracts.model import Reply, Request, Role, system, user
from kgot_core.contracts.options import RunOptions
from kgot_core.contracts.sandbox import CodeJob, CodeResult, Sandbox
from kgot_core.contracts.solver import Solver
from kgot_core.contracts.task import JsonSchema, Task
from kgot_core.contracts.tools import ToolResult
from kgot_core.contracts.voter import Ballot, Choice, Voter
from kgot_core.errors import ContextOverflow
from kgot_core.events import PARTS, Event, GraphState, Notice, OutsideCalled
from kgot_core.graph.elements import snapshot_to_json
from kgot_core.run.caps import Budget
from kgot_core.run.desks.code import CodeDesk
from kgot_core.run.desks.embedding import EmbeddingDesk
from kgot_core.run.desks.files import FileShelf
from kgot_core.run.desks.graph import GraphDesk
from kgot_core.run.desks.model import ModelDesk
from kgot_core.run.desks.toolbox import ToolDesk
from kgot_core.run.desks.voting import put
from kgot_core.run.prompting.prompts import Prompts
from kgot_core.run.prompting.transcript import Transcript
from kgot_core.run.record.journal import Journal

SMALLEST_RESULTS = 400
MOST_SHRINKS = 20


@dataclass
class Progress:
    """What changes during a run besides the graph: shared by all views of it.

    Attributes:
        noticed: Notices given so far.
        result_tokens: Tokens that tool results may take in a request.
        state_size: Elements in the graph when it was last recorded whole.
    """

    result_tokens: int
    noticed: set[str] = field(default_factory=set)
    state_size: int = 0


@dataclass(frozen=True)
class RunContext:
    """One task on its way (see :class:`kgot_core.contracts.run.Run`)."""

    task: Task
    options: RunOptions
    graph: GraphDesk
    tools: ToolDesk
    files: FileShelf
    solver: Solver
    sandbox: Sandbox
    journal: Journal
    models: ModelDesk
    embedding: EmbeddingDesk
    code: CodeDesk
    prompts: Prompts
    transcript: Transcript
    voters: Mapping[str, Voter]
    rules: Mapping[str, str]
    progress: Progress
    budget: Budget
    path: str = ""

    def at(self, *steps: str | int) -> RunContext:
        """Gives the same run at a step below this one."""
        return replace(self, path=self._below("/".join(map(str, steps))))

    def prompt(self, name: str, **slots: str) -> str:
        """Fills one of the run's prompts."""
        return self.prompts.fill(name, **slots)

    def prompt_text(self, name: str) -> str:
        """Gives a prompt with its slots unfilled."""
        return self.prompts.text(name)

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
        """Asks a model one thing, without the state."""

        def build() -> Request:
            text = prompt if isinstance(prompt, str) else prompt(self.progress.result_tokens)
            return Request((user(text),), schema=schema, temperature=temperature, max_tokens=max_tokens)

        return await self._ask_fitting(step, stage, role, build, n, state=False)

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
        """Asks a chain: its rules, the task and the state, then the tail."""

        def build() -> Request:
            text = tail if isinstance(tail, str) else tail(self.progress.result_tokens)
            return Request(
                messages=(system(self.rules[role]), user(f"{self.transcript.text}\n{text}")),
                tools=self.tools.specs if role == "tool" else (),
                temperature=temperature,
                max_tokens=max_tokens,
            )

        return await self._ask_fitting(step, stage, role, build, n, state=True)

    async def _ask_fitting(
        self, step: str, stage: str, role: Role, build: Callable[[], Request], n: int, *, state: bool
    ) -> Reply:
        """Asks; where the model's context overflows, state and results shrink and it is asked again."""
        place, request = self._below(step), build()
        for attempt in range(1, MOST_SHRINKS):
            try:
                return await self.models.ask(place, stage, role, request, n)
            except ContextOverflow:
                smaller = self._smaller(request, build, state)
                if smaller is None:
                    raise
                request, place = smaller, f"{self._below(step)}-smaller-{attempt}"
        return await self.models.ask(place, stage, role, request, n)

    def _smaller(self, request: Request, build: Callable[[], Request], state: bool) -> Request | None:
        """Shrinks until the request is shorter; ``None`` where nothing is left: it is never sent unchanged."""
        while self._shrink(state):
            smaller = build()
            if _size(smaller) < _size(request):
                return smaller
        return None

    async def samples_at_once(self, step: str, role: Role) -> bool:
        """Tells whether the role's model answers several samples in one request; recorded, since it may change."""

        async def make() -> OutsideCalled:
            return OutsideCalled(part=PARTS["decide"], stage="vote", role=role, value=self.models.samples_at_once(role))

        event = await self.journal.call(OutsideCalled, self._below(step), {"at_once": role}, make)
        return bool(event.value)

    async def embed(self, step: str, stage: str, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """Gives a vector for each text."""
        return await self.embedding.embed(self._below(step), stage, texts)

    async def vote(self, ballot: Ballot) -> Choice:
        """Puts a ballot to the stage's voter."""
        return await put(self, self.voters[ballot.stage], ballot)

    async def execute(self, step: str, job: CodeJob) -> CodeResult:
        """Runs model-written Python in the sandbox, apart from the graph."""
        return await self.code.run(self._below(step), job)

    def release_reserve(self) -> None:
        """Lets the run spend the whole of its caps."""
        self.budget.release_reserve()

    def refresh_state(self) -> None:
        """Writes the state anew, where the graph has changed since."""
        if self.graph.take_unseen():
            self.transcript.rebase()

    def end_round(self, iteration: int, results: Sequence[ToolResult]) -> None:
        """Takes a round into the state that later requests begin with."""
        self.transcript.add_round(iteration, results, self.graph.take_unseen(), self.graph.take_conflicts())
        if len(self.graph.state) > 2 * self.progress.state_size:
            self.record_state()

    def record_state(self) -> None:
        """Records the whole graph."""
        self.progress.state_size = len(self.graph.state)
        self.emit(GraphState(snapshot=snapshot_to_json(self.graph.state.snapshot())))

    def emit(self, event: Event) -> None:
        """Records an event at this step."""
        self.journal.emit(self.path, event)

    def notice(self, text: str) -> None:
        """Records a line for the user, once a run for the same text."""
        if text not in self.progress.noticed:
            self.progress.noticed.add(text)
            self.emit(Notice(text=text))

    def _below(self, step: str) -> str:
        return f"{self.path}/{step}" if self.path else step

    def _shrink(self, state: bool) -> bool:
        """Halves what results may take, and the state too where the request holds it."""
        results = self.progress.result_tokens > SMALLEST_RESULTS
        self.progress.result_tokens = max(SMALLEST_RESULTS, self.progress.result_tokens // 2)
        return (state and self.transcript.shrink()) or results


def _size(request: Request) -> int:
    return sum(len(message.text) for message in request.messages)
