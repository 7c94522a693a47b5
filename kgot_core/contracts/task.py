"""What a run is given and what it gives back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeAlias

from kgot_core.errors import KgotError
from kgot_core.graph.values import JsonValue

Status: TypeAlias = Literal["answered", "no_solution", "abstained", "capped", "failed", "cancelled"]
AnswerFormat: TypeAlias = Literal["plain", "gaia"]
NO_SOLUTION = "No solution found"


@dataclass(frozen=True)
class Task:
    """One question. It holds no truth: expected answers are kept apart and joined when scoring.

    Attributes:
        question: The question in any language; never empty.
        files: Attachments, absolute paths.
        id: Name of the task within a batch; empty for a single question.
    """

    question: str
    files: tuple[Path, ...] = ()
    id: str = ""


@dataclass(frozen=True)
class Usage:
    """Tokens, requests and cost of one request or of a run.

    Attributes:
        requests: Requests answered; one for a request with several samples.
        input_tokens: Prompt tokens, counted once for all samples of a request.
        output_tokens: Reply tokens over all samples.
        cached_tokens: The part of ``input_tokens`` that the provider read from its prompt cache.
        cost: US dollars of all requests whose price is known.
        unpriced: Requests whose price is unknown.
    """

    requests: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    cost: float = 0.0
    unpriced: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.requests + other.requests,
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.cached_tokens + other.cached_tokens,
            self.cost + other.cost,
            self.unpriced + other.unpriced,
        )


@dataclass(frozen=True)
class Evidence:
    """A graph element that the answer rests on, and where it came from.

    Attributes:
        element: Neutral id of the element.
        text: The element as the state text shows it.
        sources: What it was taken from: steps of tool calls, ``task``, ``model``, or ``graph`` where the run was given
            it; empty for what the store held before.
        iteration: Iteration that brought it, counted from 1; 0 if it was there before.
        unsupported: Properties whose values do not stand in those sources: the model's own thought.
    """

    element: str
    text: str
    sources: tuple[str, ...] = ()
    iteration: int = 0
    unsupported: tuple[str, ...] = ()


@dataclass(frozen=True)
class Answer:
    """The end of a run, whatever it was.

    Attributes:
        text: The answer; for another status than ``answered`` what to tell the user.
        status: How the run ended.
        how: How the answer came about: ``voted query``, ``forced query``, ``voted direct``,
            ``forced direct``, ``fallback direct`` or empty.
        value: The answer under the task's JSON schema, ``None`` where none was given.
        reason: Why there is no answer, or the agreement behind it.
        evidence: Graph elements that the answer rests on.
        iterations: Enhance rounds made.
        agreement: How far the samples behind the answer agree, 0 to 1, as the voters measure it; the least of the
            votes on it. ``None`` where there was no answer to vote on.
        usage: All requests of the run.
        run: The run's id.
        folder: The run's folder; ``None`` for a run in memory.
    """

    text: str
    status: Status
    how: str = ""
    value: Any = None
    reason: str = ""
    evidence: tuple[Evidence, ...] = ()
    iterations: int = 0
    agreement: float | None = None
    usage: Usage = field(default_factory=Usage)
    run: str = ""
    folder: Path | None = None

    @property
    def cost(self) -> float | None:
        """US dollars, or ``None`` where a model's price is unknown."""
        return None if self.usage.unpriced else self.usage.cost

    def raise_for_status(self) -> Answer:
        """Gives the answer itself if there is one.

        Raises:
            KgotError: The run ended without an answer.
        """
        if self.status not in ("answered", "capped"):
            raise KgotError(self.reason or self.text)
        return self


@dataclass(frozen=True)
class Outcome:
    """What a strategy hands back: an answer without the run's own figures."""

    text: str
    status: Status
    how: str = ""
    value: Any = None
    reason: str = ""
    evidence: tuple[Evidence, ...] = ()
    iterations: int = 0
    agreement: float | None = None


JsonSchema: TypeAlias = Mapping[str, JsonValue]
