"""The course of a run between its outside calls."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from kgot_core.events.base import SCHEMA_VERSION, Event
from kgot_core.graph.values import JsonValue


@dataclass(frozen=True, kw_only=True)
class RunStarted(Event):
    """The first event: what was asked, with what.

    Attributes:
        schema: Version of the form of these events; readers refuse a newer one.
        versions: Versions by package.
        question: The question.
        files: Name, path, size and hash of each attachment.
        plan: Settings, models, backend and sandbox in force, without secrets.
        prompts: Hash of the prompts.
        seal: Shows to the same user that the plan is of their own making; empty for a run in memory.
    """

    kind: ClassVar[str] = "run_started"
    durable: ClassVar[bool] = True
    schema: int = SCHEMA_VERSION
    versions: Mapping[str, str] = field(default_factory=dict)
    question: str = ""
    files: tuple[Mapping[str, JsonValue], ...] = ()
    plan: Mapping[str, JsonValue] = field(default_factory=dict)
    prompts: str = ""
    seal: str = ""


@dataclass(frozen=True, kw_only=True)
class RunResumed(Event):
    """The run goes on after it was broken off; what was recorded is not asked again.

    Attributes:
        versions: Versions by package, now.
        changed: What has changed since the run began, and was let pass.
        superseded: Numbers (``seq``) of earlier events that no longer count: how the run ended then, and outside calls
            that failed for good.
    """

    kind: ClassVar[str] = "run_resumed"
    durable: ClassVar[bool] = True
    versions: Mapping[str, str] = field(default_factory=dict)
    changed: tuple[str, ...] = ()
    superseded: tuple[int, ...] = ()


@dataclass(frozen=True, kw_only=True)
class IterationStarted(Event):
    """A round of the loop begins (paper, section 4).

    Attributes:
        iteration: Number of the round, from 1.
        limit: Rounds at most.
    """

    kind: ClassVar[str] = "iteration_started"
    iteration: int = 0
    limit: int = 0


@dataclass(frozen=True, kw_only=True)
class ModelRetried(Event):
    """A model request failed and will be tried again.

    Attributes:
        stage: Stage that asks.
        attempt: Number of the attempt that failed.
        wait: Seconds until the next one.
        cause: Why it failed.
    """

    kind: ClassVar[str] = "model_retried"
    stage: str = ""
    attempt: int = 0
    wait: float = 0.0
    cause: str = ""


@dataclass(frozen=True, kw_only=True)
class Voted(Event):
    """Samples became a choice.

    Attributes:
        stage: Stage that voted.
        choice: What was chosen.
        counts: Votes by choice.
        unreadable: Samples that could not be read.
        reasons: Distinct reasons of the votes.
        agreement: How far the samples agree, 0 to 1, by the voter's measure.
        spared: Samples of the stage that were not needed, and so never asked for.
    """

    kind: ClassVar[str] = "voted"
    stage: str = ""
    choice: str = ""
    counts: Mapping[str, int] = field(default_factory=dict)
    unreadable: int = 0
    reasons: tuple[str, ...] = ()
    agreement: float = 0.0
    spared: int = 0


@dataclass(frozen=True, kw_only=True)
class ToolStarted(Event):
    """A tool call begins.

    Attributes:
        tool: The tool.
        arguments: What it is called with.
    """

    kind: ClassVar[str] = "tool_started"
    durable: ClassVar[bool] = True
    tool: str = ""
    arguments: Mapping[str, JsonValue] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class ToolRetried(Event):
    """A tool call failed in a way that may pass, and will be tried again.

    Attributes:
        tool: The tool.
        attempt: Number of the attempt that failed.
        cause: Why it failed.
    """

    kind: ClassVar[str] = "tool_retried"
    tool: str = ""
    attempt: int = 0
    cause: str = ""


@dataclass(frozen=True, kw_only=True)
class CapHit(Event):
    """A cap of the run was reached; the run solves from what is there, within the cap's reserve.

    Attributes:
        cap: The cap, and what is spent of it.
    """

    kind: ClassVar[str] = "cap_hit"
    cap: str = ""


@dataclass(frozen=True, kw_only=True)
class SolveFailed(Event):
    """A way to solve gave nothing; the next one is tried.

    Attributes:
        form: The way: ``query`` or ``direct``.
        cause: Why it gave nothing.
    """

    kind: ClassVar[str] = "solve_failed"
    form: str = ""
    cause: str = ""


@dataclass(frozen=True, kw_only=True)
class Notice(Event):
    """A line for the user: something was done another way, or left out.

    Attributes:
        text: The line.
    """

    kind: ClassVar[str] = "notice"
    text: str = ""


@dataclass(frozen=True, kw_only=True)
class RunFinished(Event):
    """The last event: the answer as printed by ``--json``.

    Attributes:
        answer: Text, value, status, how it came about, evidence, usage and cost.
    """

    kind: ClassVar[str] = "run_finished"
    durable: ClassVar[bool] = True
    answer: Mapping[str, JsonValue] = field(default_factory=dict)
