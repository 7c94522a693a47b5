"""What a run's record holds: the answers to its outside calls, and which of its events still count."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from kgot_core.contracts.task import Usage
from kgot_core.events import (
    Event,
    ModelCalled,
    RunResumed,
    TextsEmbedded,
    ToolStarted,
    event_classes,
    from_record,
)
from kgot_core.events.base import CallEvent

E = TypeVar("E", bound=Event)
Record = Mapping[str, Any]
_HEAD = ("run", "seq", "at")
_CALLS = frozenset(cls.kind for cls in event_classes() if issubclass(cls, CallEvent))


def standing(records: Iterable[Record]) -> list[Record]:
    """Gives the events that still count: a run that was broken off has the same as one that was not."""
    listed = list(records)
    resumed = [record for record in listed if record["kind"] == RunResumed.kind]
    gone = {number for record in resumed for number in record["superseded"]}
    gone |= {record["seq"] for record in resumed}
    return [record for record in listed if record.get("seq") not in gone]


class Recorded:
    """The record of a run that is repeated, or that goes on.

    Args:
        records: Its events, oldest first.

    Attributes:
        everything: The same.
        resumed: How often the run went on.
        last: Number of the last event.
        seconds: How long the run took, as far as it got.
        usage_before: What was spent on requests that no longer count.
    """

    def __init__(self, records: Iterable[Record] = ()) -> None:
        self.everything = everything = list(records)
        self._records = standing(everything)
        self._places = {(item["step"], item["kind"]): index for index, item in enumerate(self._records)}
        self._numbers = {id(record): index for index, record in enumerate(self._records)}
        self._used: set[int] = set()
        self._waiting: dict[str, list[int]] = {}
        for index, record in enumerate(self._records):
            if record["kind"] not in _CALLS:
                self._waiting.setdefault(_comparable(record), []).append(index)
        self.resumed = sum(record["kind"] == RunResumed.kind for record in everything)
        self.last = max((int(record["seq"]) for record in everything), default=0)
        self.seconds = max((item["started"] + item["seconds"] for item in everything if "started" in item), default=0.0)
        self.usage_before = _usage(record for record in everything if id(record) not in self._numbers)

    def call(self, step: str, kind: str) -> Record | None:
        """Gives the recorded outside call of a step."""
        place = self._places.get((step, kind))
        return None if place is None else self._records[place]

    def inner(self, record: Record) -> list[Record]:
        """Gives what was recorded within an outside call before it ended."""
        place = self._places[record["step"], record["kind"]]
        below = f"{record['step']}/"
        return [item for item in self._records[:place] if item["step"].startswith(below)]

    def events(self, kind: type[E]) -> Iterator[tuple[str, E]]:
        """Gives the steps and events of a kind, oldest first."""
        for record in self._records:
            if record["kind"] == kind.kind and isinstance(event := from_record(record), kind):
                yield record["step"], event

    def started(self, step: str) -> bool:
        """Tells whether a tool call had begun at a step."""
        return (step, ToolStarted.kind) in self._places

    def take(self, record: Record) -> Record | None:
        """Gives the recorded event that is equal to one that comes again, each only once."""
        waiting = self._waiting.get(_comparable(record))
        if not waiting:
            return None
        place = waiting.pop(0)
        self._used.add(place)
        return self._records[place]

    def use(self, records: Sequence[Record]) -> Usage:
        """Takes recorded events as done; gives what the model requests among them cost."""
        fresh = [record for record in records if self._numbers[id(record)] not in self._used]
        self._used.update(self._numbers[id(record)] for record in fresh)
        return _usage(fresh)

    def left_below(self, step: str) -> list[Record]:
        """Gives what was recorded below a step and did not come again."""
        below = f"{step}/"
        found = [(index, item) for index, item in enumerate(self._records) if item["step"].startswith(below)]
        return [item for index, item in found if index not in self._used]


def _usage(records: Iterable[Record]) -> Usage:
    total = Usage()
    for record in records:
        if record["kind"] in (ModelCalled.kind, TextsEmbedded.kind):
            total += Usage(**record["usage"])
    return total


def _comparable(record: Record) -> str:
    kept = {name: value for name, value in record.items() if name not in _HEAD}
    return json.dumps(kept, sort_keys=True, ensure_ascii=False)
