"""The run's tools: opened, described, called within limits, retried, journalled."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from kgot_core.contracts.model import ToolCallRequest, ToolSpec
from kgot_core.contracts.tools import Source, ToolArtifact, ToolResult
from kgot_core.errors import CapReached, KgotError, ReplayDiverged, TransientToolError
from kgot_core.events import ToolCalled, ToolRetried, ToolStarted
from kgot_core.providers import ToolProvider
from kgot_core.reading.toolcalls import nearest
from kgot_core.run.caps import Budget
from kgot_core.run.concurrency.threads import in_thread
from kgot_core.run.ending import was_cancelled
from kgot_core.run.faults import said
from kgot_core.run.record.journal import Journal

if TYPE_CHECKING:
    from langchain_core.tools import BaseTool

SAME_CALL_LIMIT = 2
LONGEST_WAIT = 30.0
GONE = "this tool is not there any more"
IN_DOUBT = (
    "the run was broken off during this call, which may or may not have taken effect, so it was not made again; find"
    " out whether it did before you repeat it"
)


class ToolFailed(KgotError):
    """A tool call ended without a result; the message is for the model."""


@dataclass(frozen=True)
class OpenTool:
    """A LangChain tool of the run with what its provider declares."""

    tool: BaseTool
    provider: ToolProvider


class ToolDesk:
    """The run's tools, as the stages use them (see :class:`kgot_core.contracts.run.Tools`).

    Args:
        journal: The run's journal.
        specs: Tools on offer, in a fixed order.
        tools: The tools behind them; empty for a replay.
        max_retries: Retries of a call whose error may pass (paper, B.1).
        enter: Tells the tools' context which step is being run.
        budget: What the run may spend; a call ends at the run's deadline.
        sleep: Waits between retries.
        reveal: Makes files known that a recorded call had handed over.
    """

    def __init__(
        self,
        journal: Journal,
        specs: Sequence[ToolSpec],
        tools: Mapping[str, OpenTool],
        max_retries: int,
        enter: Callable[[str, str], None],
        budget: Budget,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        reveal: Callable[[Sequence[str]], None] = lambda names: None,
    ) -> None:
        self.specs = tuple(specs)
        self._journal = journal
        self._tools = tools
        self._max_retries = max_retries
        self._enter = enter
        self._budget = budget
        self._sleep = sleep
        self._reveal = reveal
        self._alone = asyncio.Lock()
        self._within: ContextVar[bool] = ContextVar("kgot-alone", default=False)
        self._done: dict[str, ToolResult] = {}
        self._results: dict[str, ToolResult] = {}
        self._tries: dict[str, int] = {}

    def problem(self, call: ToolCallRequest) -> str:
        """Tells why a call cannot be made, for the model; empty where it can."""
        from jsonschema import Draft202012Validator

        spec = next((spec for spec in self.specs if spec.name == call.name), None)
        if spec is None:
            names = [spec.name for spec in self.specs]
            return unknown_tool(call.name, nearest(call.name, names), names)
        errors = sorted(Draft202012Validator(dict(spec.parameters)).iter_errors(dict(call.arguments)), key=str)
        return "; ".join(f"{call.name}: {error.message}" for error in errors[:3])

    def result(self, step: str) -> ToolResult | None:
        """Gives the result of the call that was made at a step."""
        return self._results.get(step)

    async def call(self, step: str, call: ToolCallRequest) -> ToolResult:
        """Calls a tool; its failure is a result with ``failed`` set. An equal successful call is not made again."""
        arguments = dict(call.arguments)
        same = json.dumps([call.name, arguments], sort_keys=True, default=str)
        if same in self._done:
            return self._done[same]
        self._tries[same] = self._tries.get(same, 0) + 1
        if self._tries[same] > SAME_CALL_LIMIT:
            text = "not called again: the same call has failed twice; try another way"
            return ToolResult(step, call.name, arguments, text, failed=True)
        begun = self._journal.recorded.started(step)
        self._journal.emit(step, ToolStarted(tool=call.name, arguments=arguments))
        asked = {"tool": call.name, "arguments": arguments}
        event = await self._journal.call(ToolCalled, step, asked, lambda: self._make(step, call.name, arguments, begun))
        self._reveal(event.files)
        artifact = ToolArtifact(
            tuple(Source(**source) for source in event.sources),  # type: ignore[arg-type]
            event.files,
        )
        result = ToolResult(step, call.name, arguments, event.text, event.failed, artifact)
        self._results[step] = result
        if not result.failed:
            self._done[same] = result
        return result

    async def _make(self, step: str, name: str, arguments: dict[str, Any], begun: bool) -> ToolCalled:
        entry = self._tools.get(name)
        if entry is None:
            return ToolCalled(tool=name, arguments=arguments, text=GONE, failed=True)
        if begun and entry.provider.effect == "write":
            return ToolCalled(tool=name, arguments=arguments, text=IN_DOUBT, failed=True)
        retries = self._max_retries if entry.provider.effect == "read" else 0
        for attempt in range(retries + 1):
            try:
                if entry.provider.parallel:
                    text, artifact = await self._invoke(step, entry, arguments)
                else:
                    async with self._one_at_a_time():
                        text, artifact = await self._invoke(step, entry, arguments)
            except TransientToolError as error:
                cause = str(error)
                if attempt == retries:
                    break
                self._journal.emit(
                    f"{step}/retry-{attempt + 1}", ToolRetried(tool=name, attempt=attempt + 1, cause=cause)
                )
                await self._sleep(min(LONGEST_WAIT, 2.0**attempt))
            except ReplayDiverged:
                raise
            except CapReached as reached:  # the next request of the run meets it again
                cause = f"stopped: {reached}"
                break
            except asyncio.CancelledError as error:
                if was_cancelled():
                    raise
                cause = said(error)
                break
            except (Exception, SystemExit) as error:  # a tool's failure never ends a run; its words reach the model
                cause = said(error, lines=True)
                break
            else:
                sources = tuple(asdict(source) for source in artifact.sources)
                return ToolCalled(
                    tool=name, arguments=arguments, text=text, sources=sources, files=tuple(artifact.files)
                )
        return ToolCalled(tool=name, arguments=arguments, text=cause, failed=True)

    @contextlib.asynccontextmanager
    async def _one_at_a_time(self) -> AsyncIterator[None]:
        """Waits for other such calls, but not for the one that makes this call."""
        if self._within.get():
            yield
            return
        async with self._alone:
            token = self._within.set(True)
            try:
                yield
            finally:
                self._within.reset(token)

    async def _invoke(self, step: str, entry: OpenTool, arguments: dict[str, Any]) -> tuple[str, ToolArtifact]:
        tool = entry.tool
        request = {"type": "tool_call", "name": tool.name, "args": arguments, "id": step}
        self._enter(step, tool.name)
        try:
            left = self._budget.seconds_left
            seconds = entry.provider.seconds if left is None else min(left, entry.provider.seconds)
            async with asyncio.timeout(seconds) as limit:
                message = await (tool.ainvoke(request) if _is_async(tool) else in_thread(lambda: tool.invoke(request)))
        except TimeoutError:
            if limit.expired() and seconds < entry.provider.seconds:
                raise CapReached(self._budget.deadline) from None
            if limit.expired():
                raise ToolFailed(f"{tool.name} took longer than {entry.provider.seconds:g} seconds") from None
            raise
        artifact = getattr(message, "artifact", None)
        text = getattr(message, "text", None)
        text = text() if callable(text) and not isinstance(text, str) else text
        shown = str(text if text is not None else message).strip()
        if getattr(message, "status", "") == "error":
            # A tool that turns its own errors into messages (handle_tool_error) has failed all the same.
            raise ToolFailed(shown or f"{tool.name} failed without a word")
        return shown or "(the tool gave nothing)", artifact if isinstance(artifact, ToolArtifact) else ToolArtifact()


def unknown_tool(name: str, suggestion: str, names: Sequence[str]) -> str:
    """Tells the model that there is no such tool, and which it may have meant."""
    meant = f"did you mean {suggestion}?" if suggestion else f"use one of: {', '.join(names)}"
    return f"there is no tool {name!r}; {meant}"


def describe(tool: BaseTool) -> ToolSpec:
    """Gives a tool as it is offered to a model."""
    from langchain_core.utils.function_calling import convert_to_openai_tool

    function = convert_to_openai_tool(tool)["function"]
    parameters = function.get("parameters") or {"type": "object", "properties": {}}
    properties = {name: _told(schema) for name, schema in parameters.get("properties", {}).items()}
    return ToolSpec(function["name"], function.get("description", ""), {**parameters, "properties": properties})


def _told(schema: Any) -> Any:
    """Leaves out of an argument's schema what a model can do without: that nothing is given where nothing is given."""
    if not isinstance(schema, dict):
        return schema
    empty = {"default": ("", False, None), "minLength": (1,)}
    return {key: value for key, value in schema.items() if key not in empty or value not in empty[key]}


def _is_async(tool: BaseTool) -> bool:
    from langchain_core.tools import BaseTool as Base

    if hasattr(tool, "coroutine"):
        # LangChain's own kinds define both ways, and run a plain function on threads that outlive a cancelled run.
        return tool.coroutine is not None
    return type(tool)._arun is not Base._arun
