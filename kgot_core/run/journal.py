"""Answers an outside call from the record, or makes it and records it before its result is used."""

from __future__ import annotations

import datetime
import itertools
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from kgot_core.contracts.sink import Sink
from kgot_core.contracts.task import Usage
from kgot_core.errors import ReplayDiverged
from kgot_core.events import CallEvent, Event, ModelCalled, Notice, from_record, request_hash, to_fields
from kgot_core.graph.values import JsonValue
from kgot_core.run.folder import RunWriter

Call = TypeVar("Call", bound=CallEvent)


class Journal:
    """The event stream of one run.

    Args:
        run: The run's id.
        writer: Where records are kept; ``None`` for a run in memory.
        sinks: Who else is told; one that raises is dropped with a notice.
        recorded: Records of an earlier run to answer calls from.
        live: Calls that the record does not hold may be made.
        redact: Takes secrets out of a text.
    """

    def __init__(
        self,
        run: str,
        writer: RunWriter | None = None,
        sinks: Sequence[Sink] = (),
        recorded: Iterable[Mapping[str, Any]] = (),
        live: bool = True,
        redact: Callable[[str], str] = str,
    ) -> None:
        self.run = run
        self.usage = Usage()
        self._writer = writer
        self._sinks = list(sinks)
        self._recorded = list(recorded)
        self._places = {(item["step"], item["kind"]): index for index, item in enumerate(self._recorded)}
        self._live = live
        self._redact = redact
        self._numbers = itertools.count(1)
        self._began = time.monotonic()

    def emit(self, step: str, event: Event) -> None:
        """Records an event and tells the sinks."""
        if isinstance(event, ModelCalled):
            self.usage += Usage(**event.usage)  # type: ignore[arg-type]
        record: dict[str, JsonValue] = {
            "run": self.run,
            "seq": next(self._numbers),
            "at": datetime.datetime.now(datetime.UTC).isoformat(timespec="milliseconds"),
            "step": step,
            **self._clean(to_fields(event)),
        }
        if self._writer is not None:
            self._writer.emit(record)
            if isinstance(event, CallEvent):
                self._writer.sync()
        for sink in tuple(self._sinks):
            self._tell(sink, record)

    async def call(self, kind: type[Call], step: str, request: Any, make: Callable[[], Awaitable[Call]]) -> Call:
        """Gives an outside call's event: the recorded one, or that of ``make``.

        Events that ``make`` emits must stand at steps below ``step``: they come again with the recorded call.

        Raises:
            ReplayDiverged: The record holds another request at this step, or none while calls may not be made.
        """
        asked = request_hash(request)
        place = self._places.get((step, kind.kind))
        if place is not None:
            return self._repeat(kind, step, asked, place)
        if not self._live:
            raise ReplayDiverged(f"the record holds no {kind.kind} at {step}")
        began = time.monotonic()
        event = await make()
        event = replace(
            event,
            request=asked,
            started=round(began - self._began, 4),
            seconds=round(time.monotonic() - began, 4),
        )
        self.emit(step, event)
        return event

    def close(self) -> None:
        """Closes the writer and the sinks. Idempotent."""
        for sink in (*self._sinks, *([self._writer] if self._writer else [])):
            sink.close()

    def _repeat(self, kind: type[Call], step: str, asked: str, place: int) -> Call:
        record = self._recorded[place]
        if record["request"] != asked:
            raise ReplayDiverged(f"the run asks something else than the record at {step} ({kind.kind})")
        for earlier in self._recorded[:place]:
            if earlier["step"].startswith(f"{step}/") and (inner := from_record(earlier)) is not None:
                self.emit(earlier["step"], inner)
        event = from_record(record)
        assert isinstance(event, kind)
        self.emit(step, event)
        return event

    def _tell(self, sink: Sink, record: Mapping[str, JsonValue]) -> None:
        try:
            sink.emit(record)
        except Exception as error:  # a sink is a plugin; its fault must not end the run
            self._sinks.remove(sink)
            text = f"{type(sink).__name__} was dropped: {type(error).__name__}: {error}"
            self.emit(str(record["step"]), Notice(text=text))

    def _clean(self, value: Any) -> Any:
        if isinstance(value, str):
            return self._redact(value)
        if isinstance(value, dict):
            return {name: self._clean(item) for name, item in value.items()}
        if isinstance(value, list):
            return [self._clean(item) for item in value]
        return value
