"""Sinks that a session makes of what its caller gave."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from kgot_core.contracts.sink import Sink
from kgot_core.events import Event, from_record


class Kept(Sink):
    """A sink that belongs to the caller: it is told, but not closed."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self.name = type(sink).__name__

    def emit(self, record: Mapping[str, Any]) -> None:
        """Tells the caller's sink."""
        self._sink.emit(record)


class QueueSink(Sink):
    """Puts events into a queue."""

    def __init__(self, queue: asyncio.Queue[Event | None]) -> None:
        self._queue = queue

    def emit(self, record: Mapping[str, Any]) -> None:
        """Puts one event there; a kind that is not known here has no event."""
        event = from_record(record)
        if event is not None:
            self._queue.put_nowait(event)
