"""Every event of a run as a frozen dataclass. A run is its event stream: all that is shown or resumed reads these.

An event's record is one JSON object ``{run, seq, at, step, kind, ...fields}``. Events whose class is a
:class:`CallEvent` are outside calls: they carry the hash of what was asked, and a repeated run is answered from them.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from kgot_core.graph.values import JsonValue

SCHEMA_VERSION = 1

PARTS: Mapping[str, str] = {
    "decide": "graph executor",
    "extract": "graph executor",
    "retrieve": "graph executor",
    "direct": "graph executor",
    "repair": "robustness",
    "choose_tools": "tool executor",
    "tool": "tool invocation",
    "compute": "formatting",
    "parse": "formatting",
}
"""The part of the system (paper, figures of the cost and time analysis) that a stage belongs to."""


@dataclass(frozen=True, kw_only=True)
class Event:
    """Something that happened."""

    kind: ClassVar[str]


@dataclass(frozen=True, kw_only=True)
class CallEvent(Event):
    """An outside call that has ended.

    Attributes:
        part: Part of the system (see ``PARTS``), for the figures of time and cost.
        stage: Stage that made the call.
        role: Model role; empty where no model was asked.
        parent: Tool within which the call was made; empty for the loop's own.
        request: Hash of what was asked, 16 hexadecimal digits.
        started: Seconds since the start of the run.
        seconds: Duration.
    """

    part: str = ""
    stage: str = ""
    role: str = ""
    parent: str = ""
    request: str = ""
    started: float = 0.0
    seconds: float = 0.0


@dataclass(frozen=True, kw_only=True)
class RunStarted(Event):
    """The first event: what was asked, with what."""

    kind: ClassVar[str] = "run_started"
    schema: int = SCHEMA_VERSION
    versions: Mapping[str, str] = field(default_factory=dict)
    question: str = ""
    files: tuple[Mapping[str, JsonValue], ...] = ()
    plan: Mapping[str, JsonValue] = field(default_factory=dict)
    prompts: str = ""


@dataclass(frozen=True, kw_only=True)
class GraphOpened(CallEvent):
    """A store was opened: its name and its dialect, so that a replay needs no store."""

    kind: ClassVar[str] = "graph_opened"
    part: str = PARTS["extract"]
    stage: str = "open"
    backend: str = ""
    dialect: Mapping[str, JsonValue] = field(default_factory=dict)
    snapshot: Mapping[str, JsonValue] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class ToolsOpened(CallEvent):
    """The tools on offer, and those left out with the cause."""

    kind: ClassVar[str] = "tools_opened"
    part: str = PARTS["tool"]
    stage: str = "open"
    specs: tuple[Mapping[str, JsonValue], ...] = ()
    left_out: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class IterationStarted(Event):
    """A round of the loop begins (paper, section 4)."""

    kind: ClassVar[str] = "iteration_started"
    iteration: int = 0
    limit: int = 0


@dataclass(frozen=True, kw_only=True)
class ModelCalled(CallEvent):
    """A request to a model was answered.

    Attributes:
        model: Model as the provider names it.
        messages: The messages sent.
        tools: Names of the tools on offer.
        samples: Samples asked for.
        completions: The samples, each with ``text``, ``tool_calls``, ``truncated``.
        usage: Requests, tokens and cost.
        error: Why the request failed for good; empty otherwise.
    """

    kind: ClassVar[str] = "model_called"
    model: str = ""
    messages: tuple[Mapping[str, JsonValue], ...] = ()
    tools: tuple[str, ...] = ()
    samples: int = 1
    completions: tuple[Mapping[str, JsonValue], ...] = ()
    usage: Mapping[str, JsonValue] = field(default_factory=dict)
    error: str = ""


@dataclass(frozen=True, kw_only=True)
class ModelRetried(Event):
    """A model request failed and will be tried again."""

    kind: ClassVar[str] = "model_retried"
    stage: str = ""
    attempt: int = 0
    wait: float = 0.0
    cause: str = ""


@dataclass(frozen=True, kw_only=True)
class Voted(Event):
    """Samples became a choice."""

    kind: ClassVar[str] = "voted"
    stage: str = ""
    choice: str = ""
    counts: Mapping[str, int] = field(default_factory=dict)
    unreadable: int = 0
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class ToolStarted(Event):
    """A tool call begins."""

    kind: ClassVar[str] = "tool_started"
    tool: str = ""
    arguments: Mapping[str, JsonValue] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class ToolRetried(Event):
    """A tool call failed in a way that may pass, and will be tried again."""

    kind: ClassVar[str] = "tool_retried"
    tool: str = ""
    attempt: int = 0
    cause: str = ""


@dataclass(frozen=True, kw_only=True)
class ToolCalled(CallEvent):
    """A tool call ended, well or not."""

    kind: ClassVar[str] = "tool_called"
    part: str = PARTS["tool"]
    stage: str = "tool"
    tool: str = ""
    arguments: Mapping[str, JsonValue] = field(default_factory=dict)
    text: str = ""
    failed: bool = False
    sources: tuple[Mapping[str, JsonValue], ...] = ()
    files: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class GraphWritten(CallEvent):
    """A block was written to the graph, or refused.

    Attributes:
        form: ``statements`` or ``elements`` (facts and other neutral elements).
        statement: The block; empty for elements.
        sources: What it rests on: steps of tool calls, ``task`` or ``model``.
        iteration: Iteration that wrote it.
        change: The change, JSON form.
        error: The statement's fault, empty where it was written.
        line: Line of the fault, 0 where unknown.
        column: Column of the fault, 0 where unknown.
    """

    kind: ClassVar[str] = "graph_written"
    part: str = PARTS["extract"]
    stage: str = "extract"
    form: str = "statements"
    statement: str = ""
    sources: tuple[str, ...] = ()
    iteration: int = 0
    change: Mapping[str, JsonValue] = field(default_factory=dict)
    error: str = ""
    line: int = 0
    column: int = 0


@dataclass(frozen=True, kw_only=True)
class GraphQueried(CallEvent):
    """A reading statement was run, or refused."""

    kind: ClassVar[str] = "graph_queried"
    part: str = PARTS["retrieve"]
    stage: str = "retrieve"
    statement: str = ""
    rows: tuple[Mapping[str, JsonValue], ...] = ()
    error: str = ""
    line: int = 0
    column: int = 0


@dataclass(frozen=True, kw_only=True)
class GraphState(Event):
    """The whole graph, from time to time, so that a reader need not fold from the start."""

    kind: ClassVar[str] = "graph_state"
    snapshot: Mapping[str, JsonValue] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class CodeRan(CallEvent):
    """Model-written Python ran in the sandbox, apart from the graph."""

    kind: ClassVar[str] = "code_ran"
    part: str = PARTS["tool"]
    code: str = ""
    output: str = ""
    value: JsonValue = None
    error: str = ""
    limit: str = ""
    exit_code: int = 0
    line: int = 0
    files: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class OutsideCalled(CallEvent):
    """A tool's own outside call, recorded so that a resumed run need not make it again."""

    kind: ClassVar[str] = "outside_called"
    part: str = PARTS["tool"]
    value: JsonValue = None


@dataclass(frozen=True, kw_only=True)
class StatementDropped(Event):
    """A statement could not be mended and was passed over (paper, section 3.6)."""

    kind: ClassVar[str] = "statement_dropped"
    statement: str = ""
    error: str = ""


@dataclass(frozen=True, kw_only=True)
class ValueReplaced(Event):
    """A fact contradicted a value that stood in the graph, and replaced it; both are kept here."""

    kind: ClassVar[str] = "value_replaced"
    element: str = ""
    name: str = ""
    old: JsonValue = None
    new: JsonValue = None


@dataclass(frozen=True, kw_only=True)
class SolveFailed(Event):
    """A way to solve gave nothing; the next one is tried."""

    kind: ClassVar[str] = "solve_failed"
    form: str = ""
    cause: str = ""


@dataclass(frozen=True, kw_only=True)
class Notice(Event):
    """A line for the user: something was done another way, or left out."""

    kind: ClassVar[str] = "notice"
    text: str = ""


@dataclass(frozen=True, kw_only=True)
class RunFinished(Event):
    """The last event: the answer as printed by ``--json``."""

    kind: ClassVar[str] = "run_finished"
    answer: Mapping[str, JsonValue] = field(default_factory=dict)


def event_classes() -> tuple[type[Event], ...]:
    """Gives every event class of the core, in the order of this page."""
    found: list[type[Event]] = []
    pending: list[type[Event]] = [Event]
    while pending:
        current = pending.pop(0)
        pending.extend(current.__subclasses__())
        if "kind" in current.__dict__:
            found.append(current)
    return tuple(sorted(found, key=lambda cls: list(globals()).index(cls.__name__)))


def to_fields(event: Event) -> dict[str, Any]:
    """Gives an event's fields with its kind, as JSON data."""
    fields = {item.name: _plain(getattr(event, item.name)) for item in dataclasses.fields(event)}
    return {"kind": event.kind, **fields}


def from_record(record: Mapping[str, Any]) -> Event | None:
    """Reads an event from its record; ``None`` for a kind that is not known here. Unknown fields are skipped."""
    for cls in event_classes():
        if cls.kind == record.get("kind"):
            known = {item.name: item for item in dataclasses.fields(cls)}
            values = {name: _tupled(record[name]) for name in known if name in record}
            return cls(**values)
    return None


def request_hash(data: JsonValue) -> str:
    """Hashes what is asked of the outside, so that a repeated run can tell whether it asks the same."""
    text = json.dumps(data, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(name): _plain(item) for name, item in value.items()}
    if isinstance(value, str) or not isinstance(value, Iterable):
        return value
    return [_plain(item) for item in value]


def _tupled(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value
