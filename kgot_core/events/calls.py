"""Outside calls: each is on disk before its result is used, and a repeated run is answered from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from kgot_core.events.base import PARTS, CallEvent
from kgot_core.graph.values import JsonValue


@dataclass(frozen=True, kw_only=True)
class GraphOpened(CallEvent):
    """A store was opened: its name and its dialect, so that a replay needs no store.

    Attributes:
        backend: The backend.
        dialect: Language, guide, examples and the way in which elements are shown.
        snapshot: The graph that was in the store already.
    """

    kind: ClassVar[str] = "graph_opened"
    part: str = PARTS["extract"]
    stage: str = "open"
    backend: str = ""
    dialect: Mapping[str, JsonValue] = field(default_factory=dict)
    snapshot: Mapping[str, JsonValue] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class ToolsOpened(CallEvent):
    """The tools on offer, and those left out with the cause.

    Attributes:
        specs: Name, description and JSON schema of each tool.
        left_out: Causes by the name of a tool that is not ready.
    """

    kind: ClassVar[str] = "tools_opened"
    part: str = PARTS["tool"]
    stage: str = "open"
    specs: tuple[Mapping[str, JsonValue], ...] = ()
    left_out: Mapping[str, str] = field(default_factory=dict)


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
        learned: All that was found out so far about what the model offers; empty where nothing was added.
    """

    kind: ClassVar[str] = "model_called"
    model: str = ""
    messages: tuple[Mapping[str, JsonValue], ...] = ()
    tools: tuple[str, ...] = ()
    samples: int = 1
    completions: tuple[Mapping[str, JsonValue], ...] = ()
    usage: Mapping[str, JsonValue] = field(default_factory=dict)
    error: str = ""
    learned: Mapping[str, JsonValue] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class TextsEmbedded(CallEvent):
    """Texts were embedded, so that they can be compared.

    Attributes:
        model: Model as the provider names it.
        texts: The texts.
        vectors: A vector for each text.
        usage: Requests, tokens (estimated) and cost.
        error: Why the request failed for good; empty otherwise.
    """

    kind: ClassVar[str] = "texts_embedded"
    role: str = "embedding"
    model: str = ""
    texts: tuple[str, ...] = ()
    vectors: tuple[tuple[float, ...], ...] = ()
    usage: Mapping[str, JsonValue] = field(default_factory=dict)
    error: str = ""


@dataclass(frozen=True, kw_only=True)
class ToolCalled(CallEvent):
    """A tool call ended, well or not.

    Attributes:
        tool: The tool.
        arguments: What it was called with.
        text: What it gave, or its error's text.
        failed: It ended in an error.
        sources: Where its result came from: address, title, place, time and hash.
        files: Names of files that it made.
    """

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
        sources: What it rests on: steps of tool calls, ``task``, ``model``, or ``graph`` for a given graph.
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
    """A reading statement was run, or refused.

    Attributes:
        statement: The statement.
        rows: What it gave.
        error: The statement's fault, empty where it was run.
        line: Line of the fault, 0 where unknown.
        column: Column of the fault, 0 where unknown.
    """

    kind: ClassVar[str] = "graph_queried"
    part: str = PARTS["retrieve"]
    stage: str = "retrieve"
    statement: str = ""
    rows: tuple[Mapping[str, JsonValue], ...] = ()
    error: str = ""
    line: int = 0
    column: int = 0


@dataclass(frozen=True, kw_only=True)
class CodeRan(CallEvent):
    """Model-written Python ran in the sandbox, apart from the graph.

    Attributes:
        code: The script.
        output: What it printed.
        value: Its result, a JSON value.
        error: Its error; empty where there was none.
        limit: The limit that ended it: time, memory, ...; empty where none did.
        exit_code: Exit code of the script.
        line: Line of its error, 0 where unknown.
        files: Names of files that it made.
    """

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
    """A tool's own outside call, recorded so that a resumed run need not make it again.

    Attributes:
        value: What it gave.
    """

    kind: ClassVar[str] = "outside_called"
    part: str = PARTS["tool"]
    value: JsonValue = None
