"""Where the events of a run go."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence

from kgot_core.graph.values import JsonValue


class Sink(ABC):
    """Receives each event's record as it happens. An exception drops the sink with one notice."""

    @abstractmethod
    def emit(self, record: Mapping[str, JsonValue]) -> None:
        """Takes one record ``{run, seq, at, step, kind, ...}``; must return quickly."""

    def resumed(self, records: Sequence[Mapping[str, JsonValue]]) -> None:  # noqa: B027 - most have nothing to catch up on
        """Takes in what a run that goes on has recorded already; none of it comes again by ``emit``."""

    def close(self) -> None:  # noqa: B027 - most sinks hold nothing
        """Flushes and gives everything back. Idempotent."""
