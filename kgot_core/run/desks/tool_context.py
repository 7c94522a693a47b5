"""What a run's tools may use (see :class:`kgot_core.contracts.tools.ToolContext`)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import replace
from typing import Any, Protocol, TypeVar, cast

from kgot_core.contracts.model import Completion, Message, Reply, Request, Role, ToolCallRequest, ToolSpec
from kgot_core.contracts.sandbox import CodeJob, CodeResult, Sandbox
from kgot_core.contracts.tools import ToolResult
from kgot_core.errors import Unreadable
from kgot_core.events import OutsideCalled
from kgot_core.graph.values import JsonValue
from kgot_core.reading.reasoning import strip_reasoning
from kgot_core.reading.toolcalls import read_tool_calls
from kgot_core.run.concurrency.common import Common
from kgot_core.run.desks.embedding import EmbeddingDesk
from kgot_core.run.desks.files import FileShelf
from kgot_core.run.desks.model import ModelDesk
from kgot_core.run.record.journal import Journal

Thing = TypeVar("Thing")


class Desk(Protocol):
    """What is needed of the run's tools; see :class:`kgot_core.run.desks.toolbox.ToolDesk`."""

    @property
    def specs(self) -> Sequence[ToolSpec]:
        """The tools on offer."""

    def problem(self, call: ToolCallRequest) -> str:
        """Tells why a call cannot be made."""

    async def call(self, step: str, call: ToolCallRequest) -> ToolResult:
        """Calls a tool."""


class CallContext:
    """Attributes what a tool asks for to the call that is being made, also when calls run side by side.

    Args:
        question: The task's question.
        files: The run's files.
        sandbox: Where model-written code runs.
        models: The run's models.
        embedding: The run's embedding model.
        journal: The run's journal.
        run_code: Runs a job in the sandbox at a step.
        prompt: Fills a prompt of the run by its name.
        at_end: Takes what is to be called when the run ends.
        among_runs: What all runs of the session have in common.
    """

    def __init__(
        self,
        question: str,
        files: FileShelf,
        sandbox: Sandbox,
        models: ModelDesk,
        embedding: EmbeddingDesk,
        journal: Journal,
        run_code: Callable[[str, CodeJob, str], Awaitable[CodeResult]],
        prompt: Callable[..., str],
        at_end: Callable[[Callable[[], None]], None],
        among_runs: Common,
    ) -> None:
        self.question = question
        self.files = files
        self.sandbox = sandbox
        self.prompt = prompt
        self.at_end = at_end
        self._models = models
        self._embedding = embedding
        self._journal = journal
        self._run_code = run_code
        self._place: ContextVar[tuple[str, str]] = ContextVar("kgot-tool-call")
        self._asked: dict[str, int] = {}
        self._in_run, self._among_runs = Common(), among_runs
        self.left_out: dict[str, str] = {}
        self._desk: Desk | None = None

    def attach(self, desk: Desk) -> None:
        """Takes the run's tools, which are made with this context and so come later."""
        self._desk = desk

    def enter(self, step: str, tool: str) -> None:
        """Says that the current task makes this call."""
        self._place.set((step, tool))

    async def ask(
        self, messages: Sequence[Message], *, role: Role = "tool", tools: Sequence[ToolSpec] = (), n: int = 1
    ) -> Reply:
        """Asks the model of a role; calls that it wrote as text stand among its calls, as if it had made them."""
        step, tool = self._place.get()
        request = Request(tuple(messages), tuple(tools))
        reply = await self._models.ask(self._next(f"{step}/ask"), "tool", role, request, n, tool=tool)
        return replace(reply, completions=tuple(_with_calls(one, tools) for one in reply.completions))

    async def answer(self, prompt: str, *, role: Role = "tool", images: Sequence[str] = ()) -> str:
        """Asks one prompt and gives the reply's text, without a model's reasoning."""
        reply = await self.ask([Message("user", prompt, images=tuple(images))], role=role)
        return strip_reasoning(reply.completions[0].text)

    @property
    def embedding_model(self) -> str:
        """Name of the embedding model; empty where none is set."""
        return self._embedding.name

    async def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]] | None:
        """Gives a vector for each text; ``None`` where no embedding model is set."""
        step, tool = self._place.get()
        return await self._embedding.embed_for_tool(self._next(f"{step}/embed"), tool, texts)

    @property
    def tools(self) -> Sequence[str]:
        """Names of the run's tools."""
        return tuple(spec.name for spec in self._desk.specs) if self._desk is not None else ()

    async def call(self, name: str, arguments: Mapping[str, Any]) -> ToolResult:
        """Calls another tool of the run, as a part of this call."""
        step, _ = place = self._place.get()
        request = ToolCallRequest(name, dict(arguments))
        inner = self._next(f"{step}/call")
        if self._desk is None or (problem := self._desk.problem(request)):
            text = problem if self._desk is not None else "tools cannot be called while they are made"
            return ToolResult(inner, name, request.arguments, text, failed=True)
        try:
            return await self._desk.call(inner, request)
        finally:
            # The inner call has entered; what follows is this call's again.
            self._place.set(place)

    async def execute(self, job: CodeJob) -> CodeResult:
        """Runs model-written code in the sandbox."""
        step, tool = self._place.get()
        return await self._run_code(self._next(f"{step}/code"), job, tool)

    def share(self, key: str, make: Callable[[], Thing], *, among_runs: bool = False) -> Thing:
        """Gives what tools of this run, or of all runs of the session, have in common under a key."""
        return (self._among_runs if among_runs else self._in_run).get(key, make)

    def leave_out(self, name: str, cause: str) -> None:
        """Tells that a tool or a part of it is missing in this run."""
        self.left_out[name] = " ".join(cause.split())

    async def once(self, key: str, function: Callable[[], Awaitable[JsonValue]]) -> JsonValue:
        """Runs an outside call once for this tool call and key."""
        step, tool = self._place.get()

        async def make() -> OutsideCalled:
            return OutsideCalled(stage="tool", parent=tool, value=await function())

        event = await self._journal.call(OutsideCalled, f"{step}/once/{key}", {"key": key}, make)
        return event.value

    def _next(self, step: str) -> str:
        self._asked[step] = self._asked.get(step, 0) + 1
        return f"{step}-{self._asked[step]}"


def _with_calls(completion: Completion, tools: Sequence[ToolSpec]) -> Completion:
    """Takes calls that stand in a reply's text, which small models write there, for what they are."""
    if completion.tool_calls or not tools:
        return completion
    parameters = {tool.name: list(cast(Mapping[str, Any], tool.parameters.get("properties") or {})) for tool in tools}
    try:
        reading = read_tool_calls(completion.text, list(parameters), parameters)
    except Unreadable:
        return completion
    return replace(completion, tool_calls=tuple(reading.calls))
