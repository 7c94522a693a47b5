"""Answers an outside call from the record, or makes it and records it before its result is used."""

from __future__ import annotations

import contextlib
import datetime
import itertools
import math
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, TypeAlias, TypeVar

from kgot_core.contracts.sink import Sink
from kgot_core.contracts.task import Usage
from kgot_core.errors import ReplayDiverged
from kgot_core.events import (
    CallEvent,
    Event,
    ModelCalled,
    Notice,
    RunResumed,
    TextsEmbedded,
    from_record,
    request_hash,
    to_fields,
)
from kgot_core.graph.values import JsonValue
from kgot_core.run.faults import said
from kgot_core.run.record.folder import RunWriter
from kgot_core.run.record.recorded import Recorded

Call = TypeVar("Call", bound=CallEvent)
Mode: TypeAlias = Literal["begin", "repeat", "go on"]


class RecordEnds(ReplayDiverged):
    """A repeated run has come to a call that its record does not hold."""


class Journal:
    """The event stream of one run.

    Args:
        run: The run's id.
        writer: Where records are kept; ``None`` for a run in memory.
        sinks: Who else is told; one that raises is dropped with a notice.
        recorded: Records to answer calls from.
        mode: ``repeat``: calls that the record does not hold may not be made, and all events come again; ``go on``:
            they are made, and events that the record holds do not come again.
        strict: A recorded call answers the very same request only; otherwise whatever is asked at its step.
        redact: Takes secrets out of a text.
    """

    def __init__(
        self,
        run: str,
        writer: RunWriter | None = None,
        sinks: Sequence[Sink] = (),
        recorded: Iterable[Mapping[str, Any]] = (),
        mode: Mode = "begin",
        strict: bool = True,
        redact: Callable[[str], str] = str,
    ) -> None:
        self.run = run
        self.mode = mode
        self.strict = strict
        self.recorded = Recorded(recorded)
        self.usage = self.recorded.usage_before
        self._writer = writer
        self._sinks = list(sinks)
        self._redact = redact
        goes_on = mode == "go on"
        self._numbers = itertools.count(self.recorded.last + 1 if goes_on else 1)
        self._began = time.monotonic() - (self.recorded.seconds if goes_on else 0.0)

    @property
    def seconds(self) -> float:
        """Seconds since the run began, without those between its being broken off and going on."""
        return time.monotonic() - self._began

    def emit(self, step: str, event: Event) -> Mapping[str, JsonValue]:
        """Records an event and tells the sinks.

        Returns:
            The record: plain JSON without secrets; that of the same event, where the run goes on and has it already.

        Raises:
            KgotError: The record cannot be written; the sinks have been told all the same.
        """
        fields = {"step": step, **self.plain(to_fields(event))}
        if self.mode == "go on" and (known := self.recorded.take(fields)) is not None:
            return known
        if isinstance(event, ModelCalled | TextsEmbedded):
            self.usage += Usage(**event.usage)  # type: ignore[arg-type]
        record: dict[str, JsonValue] = {
            "run": self.run,
            "seq": next(self._numbers),
            "at": datetime.datetime.now(datetime.UTC).isoformat(timespec="milliseconds"),
            **fields,
        }
        try:
            if self._writer is not None:
                self._writer.emit(record)
                if event.durable:
                    self._writer.sync()
        finally:
            self._tell(step, lambda sink: sink.emit(record))
        return record

    async def call(self, kind: type[Call], step: str, request: Any, make: Callable[[], Awaitable[Call]]) -> Call:
        """Gives an outside call's event: the recorded one, or that of ``make``.

        Either is the event as it is recorded, so that a repeated run goes on from the same. Events that ``make`` emits
        must stand at steps below ``step``: they come again with the recorded call.

        Raises:
            ReplayDiverged: The record holds another request at this step.
            RecordEnds: The record holds none, and calls may not be made.
        """
        asked = request_hash(self.plain(request))
        known = self.recorded.call(step, kind.kind)
        if known is not None:
            if known["request"] != asked and self.strict:
                raise ReplayDiverged(f"the run asks something else than the record at {step} ({kind.kind})")
            return self._repeat(kind, known)
        if self.mode == "repeat":
            raise RecordEnds(f"the record holds no {kind.kind} at {step}")
        began = self.seconds
        event = await make()
        # What such a call did in vain before it was broken off belongs to it.
        self.usage += self.recorded.use(self.recorded.left_below(step))
        event = replace(event, request=asked, started=round(began, 4), seconds=round(self.seconds - began, 4))
        recorded = from_record(self.emit(step, event))
        return recorded if isinstance(recorded, kind) else event

    def redact(self, text: str) -> str:
        """Takes secrets out of a text that goes elsewhere than into the record."""
        return self._redact(text)

    def go_on(self, event: RunResumed) -> None:
        """Tells the sinks what the record holds already, and records that the run goes on."""
        earlier = self.recorded.everything
        self._tell("", lambda sink: sink.resumed(earlier))
        self.recorded = Recorded([*earlier, self.emit("", event)])
        self.usage = self.recorded.usage_before

    def close(self) -> None:
        """Closes the writer and the sinks. Idempotent."""
        for sink in (*self._sinks, *([self._writer] if self._writer else [])):
            # A sink is a plugin: its fault must not hide how the run ended.
            with contextlib.suppress(Exception, SystemExit):
                sink.close()

    def _repeat(self, kind: type[Call], known: Mapping[str, Any]) -> Call:
        event = from_record(known)
        assert isinstance(event, kind)
        records = [*self.recorded.inner(known), known]
        if self.mode == "go on":
            self.usage += self.recorded.use(records)
            return event
        for record in records:
            if (again := from_record(record)) is not None:
                self.emit(str(record["step"]), again)
        return event

    def _tell(self, step: str, tell: Callable[[Sink], None]) -> None:
        """Tells the sinks; one that raises is dropped, since a plugin's fault must not end the run."""
        faults = []
        for sink in self._sinks:
            try:
                tell(sink)
            except (Exception, SystemExit) as error:
                name = getattr(sink, "name", type(sink).__name__)
                faults.append((sink, f"{name} was dropped: {said(error)}"))
        self._sinks = [sink for sink in self._sinks if all(sink is not faulty for faulty, _ in faults)]
        for _, text in faults:
            self.emit(step, Notice(text=text))

    def plain(self, value: Any) -> Any:
        """Gives plain JSON without secrets and without what cannot be written as UTF-8."""
        if isinstance(value, str):
            return self._redact(unicode_text(value))
        if value is None or isinstance(value, int) or (isinstance(value, float) and math.isfinite(value)):
            return value
        if isinstance(value, Mapping):
            return {self.plain(str(name)): self.plain(item) for name, item in value.items()}
        if isinstance(value, list | tuple):
            return [self.plain(item) for item in value]
        return self._redact(unicode_text(str(value)))


def unicode_text(text: str) -> str:
    """Replaces halves of surrogate pairs, which no encoding can write."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text
