"""Answers an outside call from the record, or makes it and records it before its result is used."""

from __future__ import annotations

import contextlib
import datetime
import itertools
import math
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from kgot_core.contracts.sink import Sink
from kgot_core.contracts.task import Usage
from kgot_core.errors import ReplayDiverged
from kgot_core.events import CallEvent, Event, ModelCalled, Notice, TextsEmbedded, from_record, request_hash, to_fields
from kgot_core.graph.values import JsonValue
from kgot_core.run.faults import said
from kgot_core.run.folder import RunWriter

Call = TypeVar("Call", bound=CallEvent)


class RecordEnds(ReplayDiverged):
    """A repeated run has come to a call that its record does not hold."""


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

    def emit(self, step: str, event: Event) -> Mapping[str, JsonValue]:
        """Records an event and tells the sinks.

        Returns:
            The record: plain JSON without secrets.

        Raises:
            KgotError: The record cannot be written; the sinks have been told all the same.
        """
        if isinstance(event, ModelCalled | TextsEmbedded):
            self.usage += Usage(**event.usage)  # type: ignore[arg-type]
        record: dict[str, JsonValue] = {
            "run": self.run,
            "seq": next(self._numbers),
            "at": datetime.datetime.now(datetime.UTC).isoformat(timespec="milliseconds"),
            "step": step,
            **self._clean(to_fields(event)),
        }
        try:
            if self._writer is not None:
                self._writer.emit(record)
                if isinstance(event, CallEvent):
                    self._writer.sync()
        finally:
            self._tell(record)
        return record

    async def call(self, kind: type[Call], step: str, request: Any, make: Callable[[], Awaitable[Call]]) -> Call:
        """Gives an outside call's event: the recorded one, or that of ``make``.

        Either is the event as it is recorded, so that a repeated run goes on from the same. Events that ``make`` emits
        must stand at steps below ``step``: they come again with the recorded call.

        Raises:
            ReplayDiverged: The record holds another request at this step.
            RecordEnds: The record holds none, and calls may not be made.
        """
        asked = request_hash(self._clean(request))
        place = self._places.get((step, kind.kind))
        if place is not None:
            return self._repeat(kind, step, asked, place)
        if not self._live:
            raise RecordEnds(f"the record holds no {kind.kind} at {step}")
        began = time.monotonic()
        event = await make()
        event = replace(
            event,
            request=asked,
            started=round(began - self._began, 4),
            seconds=round(time.monotonic() - began, 4),
        )
        recorded = from_record(self.emit(step, event))
        return recorded if isinstance(recorded, kind) else event

    def redact(self, text: str) -> str:
        """Takes secrets out of a text that goes elsewhere than into the record."""
        return self._redact(text)

    def close(self) -> None:
        """Closes the writer and the sinks. Idempotent."""
        for sink in (*self._sinks, *([self._writer] if self._writer else [])):
            # A sink is a plugin: its fault must not hide how the run ended.
            with contextlib.suppress(Exception, SystemExit):
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

    def _tell(self, record: Mapping[str, JsonValue]) -> None:
        """Tells the sinks; one that raises is dropped, since a plugin's fault must not end the run."""
        faults = []
        for sink in self._sinks:
            try:
                sink.emit(record)
            except (Exception, SystemExit) as error:
                name = getattr(sink, "name", type(sink).__name__)
                faults.append((sink, f"{name} was dropped: {said(error)}"))
        self._sinks = [sink for sink in self._sinks if all(sink is not faulty for faulty, _ in faults)]
        for _, text in faults:
            self.emit(str(record["step"]), Notice(text=text))

    def _clean(self, value: Any) -> Any:
        """Gives plain JSON without secrets and without what cannot be written as UTF-8."""
        if isinstance(value, str):
            return self._redact(unicode_text(value))
        if value is None or isinstance(value, int) or (isinstance(value, float) and math.isfinite(value)):
            return value
        if isinstance(value, Mapping):
            return {self._clean(str(name)): self._clean(item) for name, item in value.items()}
        if isinstance(value, list | tuple):
            return [self._clean(item) for item in value]
        return self._redact(unicode_text(str(value)))


def unicode_text(text: str) -> str:
    """Replaces halves of surrogate pairs, which no encoding can write."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text
