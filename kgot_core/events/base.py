"""What every event has, and what every outside call has."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

SCHEMA_VERSION = 1

PARTS: Mapping[str, str] = {
    "decide": "graph executor",
    "extract": "graph executor",
    "retrieve": "graph executor",
    "direct": "graph executor",
    "repair": "robustness",
    "check": "robustness",
    "clean": "robustness",
    "choose_tools": "tool executor",
    "tool": "tool invocation",
    "compute": "formatting",
    "parse": "formatting",
    "final": "formatting",
}
"""The part of the system (paper, figures of the cost and time analysis) that a stage belongs to."""


@dataclass(frozen=True, kw_only=True)
class Event:
    """Something that happened.

    ``durable`` events are on the disk before the run goes on.
    """

    kind: ClassVar[str]
    durable: ClassVar[bool] = False


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

    durable: ClassVar[bool] = True
    part: str = ""
    stage: str = ""
    role: str = ""
    parent: str = ""
    request: str = ""
    started: float = 0.0
    seconds: float = 0.0
