"""How far a run got that was broken off: whether it is at its end, and what of its record no longer counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kgot_core.events import (
    CallEvent,
    GraphQueried,
    GraphState,
    GraphWritten,
    ModelCalled,
    RunFinished,
    ToolCalled,
    from_record,
)
from kgot_core.run.desks import graph_faults, model
from kgot_core.run.record.recorded import standing

OPEN = ("failed", "cancelled")
"""Ways to end after which a run may go on: something was away, or somebody stopped it."""


def final_answer(records: Sequence[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """Gives the recorded answer of a run that is at its end for good; ``None`` where it may go on."""
    ends = [record["answer"] for record in standing(records) if record["kind"] == RunFinished.kind]
    return ends[-1] if ends and ends[-1]["status"] not in OPEN else None


def superseded(records: Sequence[Mapping[str, Any]]) -> tuple[int, ...]:
    """Gives the numbers of events that no longer count once the run goes on.

    These are its end, and outside calls that failed for good and so led to it; those within a tool call that has its
    own record do not lead to anything any more.
    """
    listed = standing(records)
    calls = [(record, event) for record in listed if isinstance(event := from_record(record), CallEvent)]
    # A write of facts stands below the reply that brought them, but was not part of that call.
    steps = [record["step"] for record, event in calls if isinstance(event, ToolCalled)]
    found = [record["seq"] for record in listed if not record["step"] and _is_end(record)]
    for record, event in calls:
        if _is_lost(event) and not any(record["step"].startswith(f"{step}/") for step in steps):
            found.append(record["seq"])
    return tuple(sorted(found))


def _is_end(record: Mapping[str, Any]) -> bool:
    return record["kind"] in (RunFinished.kind, GraphState.kind)


def _is_lost(event: CallEvent) -> bool:
    if isinstance(event, ModelCalled):
        return model.is_lost(event)
    return isinstance(event, GraphQueried | GraphWritten) and graph_faults.is_lost(event)
