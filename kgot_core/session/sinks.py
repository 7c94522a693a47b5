"""The sinks of a run: those that the settings name, and what is made of those that its caller gave."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias, cast

from kgot_core.contracts.sink import Sink
from kgot_core.events import Event, from_record
from kgot_core.plugins import PluginRegistry
from kgot_core.providers import SinkProvider
from kgot_core.session.checks import opened, ready_settings
from kgot_core.settings import Settings

NamedSink: TypeAlias = tuple[SinkProvider, Any]


def find_sinks(registry: PluginRegistry, settings: Settings) -> list[NamedSink]:
    """Finds the sinks that the settings name, each with its settings.

    Raises:
        UsageError: One is not ready.
        PluginError: One is not installed.
    """
    providers = [cast(SinkProvider, registry.get("sink", name)) for name in settings.core.sinks.enabled]
    return [(provider, ready_settings(settings, provider)) for provider in providers]


class Opened(Sink):
    """A sink of a plugin, opened with the first event, so that one which cannot be opened is dropped like any other.

    Args:
        named: The provider and its settings.
        run: Id and folder of the run, for the provider.
    """

    def __init__(self, named: NamedSink, run: Mapping[str, Any]) -> None:
        self._provider, self._settings = named
        self._run = run
        self._sink: Sink | None = None
        self.name = f"the sink {self._provider.name}"

    def emit(self, record: Mapping[str, Any]) -> None:
        """Tells the sink."""
        self._opened().emit(record)

    def resumed(self, records: Sequence[Mapping[str, Any]]) -> None:
        """Tells the sink what was recorded before the run went on."""
        self._opened().resumed(records)

    def close(self) -> None:
        """Closes the sink. Idempotent."""
        if self._sink is not None:
            self._sink.close()

    def _opened(self) -> Sink:
        if self._sink is None:
            self._sink = opened(self._provider, lambda: self._provider.open(self._settings, self._run))
        return self._sink


class Kept(Sink):
    """A sink that belongs to the caller: it is told, but not closed."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self.name = type(sink).__name__

    def emit(self, record: Mapping[str, Any]) -> None:
        """Tells the caller's sink."""
        self._sink.emit(record)

    def resumed(self, records: Sequence[Mapping[str, Any]]) -> None:
        """Tells the caller's sink what was recorded before the run went on."""
        # An object with ``emit`` alone is a sink, too.
        if (resumed := getattr(self._sink, "resumed", None)) is not None:
            resumed(records)


class QueueSink(Sink):
    """Puts events into a queue."""

    def __init__(self, queue: asyncio.Queue[Event | None]) -> None:
        self._queue = queue

    def emit(self, record: Mapping[str, Any]) -> None:
        """Puts one event there; a kind that is not known here has no event."""
        event = from_record(record)
        if event is not None:
            self._queue.put_nowait(event)
