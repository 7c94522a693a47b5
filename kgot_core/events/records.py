"""Events as records, and back."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Any

from kgot_core.events import calls, course, graph
from kgot_core.events.base import Event
from kgot_core.graph.values import JsonValue

CLASSES: tuple[type[Event], ...] = (
    course.RunStarted,
    course.RunResumed,
    calls.GraphOpened,
    calls.ToolsOpened,
    course.IterationStarted,
    calls.ModelCalled,
    course.ModelRetried,
    course.Voted,
    course.ToolStarted,
    course.ToolRetried,
    calls.TextsEmbedded,
    calls.ToolCalled,
    calls.GraphWritten,
    calls.GraphQueried,
    graph.GraphState,
    calls.CodeRan,
    calls.OutsideCalled,
    graph.StatementDropped,
    graph.ValueReplaced,
    course.CapHit,
    graph.SourcesChecked,
    graph.ElementRemoved,
    course.SolveFailed,
    course.Notice,
    course.RunFinished,
)


def event_classes() -> tuple[type[Event], ...]:
    """Gives every event class of the core, in the order in which a run has them."""
    return CLASSES


def to_fields(event: Event) -> dict[str, Any]:
    """Gives an event's fields with its kind, as JSON data."""
    fields = {item.name: _plain(getattr(event, item.name)) for item in dataclasses.fields(event)}
    return {"kind": event.kind, **fields}


def from_record(record: Mapping[str, Any]) -> Event | None:
    """Reads an event from its record; ``None`` for a kind that is not known here. Unknown fields are skipped."""
    for cls in CLASSES:
        if cls.kind == record.get("kind"):
            known = {item.name: item for item in dataclasses.fields(cls)}
            values = {name: _typed(record[name], item) for name, item in known.items() if name in record}
            return cls(**values)
    return None


def request_hash(data: JsonValue) -> str:
    """Hashes what is asked of the outside, so that a repeated run can tell whether it asks the same."""
    text = json.dumps(data, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(name): _plain(item) for name, item in value.items()}
    if isinstance(value, str) or not isinstance(value, Iterable):
        return value
    return [_plain(item) for item in value]


def _typed(value: Any, item: dataclasses.Field[Any]) -> Any:
    """Gives a list as the tuple that the field holds; a JSON value stays a list."""
    return tuple(value) if isinstance(value, list) and str(item.type).startswith("tuple") else value
