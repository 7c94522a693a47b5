"""What the processes of a batch noted about who ran what when, as spans on one axis of time."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kgot_core.batch.lines import read_lines

BREAK_SECONDS = 1.0
"""Room between two sittings on the axis, whatever time was between them."""


@dataclass(frozen=True)
class Span:
    """A task on a process, or a time in which the process waited.

    Attributes:
        rank: The process.
        lane: Which of the process's places, from 0.
        task: The task; empty where it waited.
        begin: Seconds on the axis.
        end: Likewise.
        broken: It had no end: the process was gone.
    """

    rank: int
    lane: int
    task: str
    begin: float
    end: float
    broken: bool = False


@dataclass(frozen=True)
class Mark:
    """Something at one moment: ``stole``, ``took_over`` or ``lost``; ``peer`` is the other process, or -1."""

    kind: str
    rank: int
    peer: int
    task: str
    at: float


@dataclass(frozen=True)
class Schedule:
    """A batch's schedule.

    Attributes:
        spans: Tasks and waits, by their beginnings.
        marks: Steals, take-overs and losses.
        ranks: The processes.
        lanes: How many places each has, by rank.
        breaks: Where on the axis a later sitting begins.
        seconds: Length of the axis.
    """

    spans: Sequence[Span]
    marks: Sequence[Mark]
    ranks: Sequence[int]
    lanes: Mapping[int, int]
    breaks: Sequence[float]
    seconds: float


def read_schedule(folder: Path) -> Schedule:
    """Reads the schedule of a batch."""
    rows = [row for path in sorted(folder.glob("schedule.*.jsonl")) for row in read_lines(path) if _is_note(row)]
    rows.sort(key=lambda row: row["at"])
    ends: dict[str, float] = {}
    sitting: dict[int, str] = {}
    for row in rows:
        if row["kind"] == "opened":
            sitting[row["rank"]] = str(row.get("session", ""))
        row["session"] = sitting.get(row["rank"], "")
        ends[row["session"]] = row["at"]
    begins: dict[str, float] = {}
    for row in rows:
        begins.setdefault(row["session"], row["at"])
    offsets: dict[str, float] = {}
    breaks: list[float] = []
    place = 0.0
    for session, begin in begins.items():
        if offsets:
            place += BREAK_SECONDS
            breaks.append(place)
        offsets[session] = place - begin
        place += ends[session] - begin
    spans: list[Span] = []
    for session, offset in offsets.items():
        for rank in sorted({row["rank"] for row in rows}):
            own = [row for row in rows if row["session"] == session and row["rank"] == rank]
            spans += _spans(rank, own, offset, ends[session] + offset)
    marks = [
        Mark(
            row["kind"],
            row["rank"],
            int(row.get("peer", -1)),
            str(row.get("task", "")),
            row["at"] + offsets[row["session"]],
        )
        for row in rows
        if row["kind"] in ("stole", "took_over", "lost")
    ]
    ranks = sorted({row["rank"] for row in rows})
    lanes = {rank: 1 + max((span.lane for span in spans if span.rank == rank), default=0) for rank in ranks}
    return Schedule(sorted(spans, key=lambda span: span.begin), marks, ranks, lanes, breaks, place)


def _spans(rank: int, rows: Iterable[Mapping[str, Any]], offset: float, end: float) -> list[Span]:
    free: list[int] = []
    lanes = 0
    running: dict[str, tuple[float, int]] = {}
    waits: float | None = None
    spans: list[Span] = []
    last = end
    for row in rows:
        at, kind, task = row["at"] + offset, row["kind"], str(row.get("task", ""))
        if waits is not None and kind in ("started", "closed", "stole", "took_over"):
            spans.append(Span(rank, 0, "", waits, at))
            waits = None
        if kind == "started" and task not in running:
            if free:
                lane = heapq.heappop(free)
            else:
                lane, lanes = lanes, lanes + 1
            running[task] = (at, lane)
        elif kind == "ended" and task in running:
            begin, lane = running.pop(task)
            heapq.heappush(free, lane)
            spans.append(Span(rank, lane, task, begin, at))
        elif kind == "waits" and waits is None and not running:
            waits = at
        last = at
    # Without its last note the process was killed: it worked as long as it is known to have.
    spans += [Span(rank, lane, task, begin, max(begin, last), broken=True) for task, (begin, lane) in running.items()]
    if waits is not None:
        spans.append(Span(rank, 0, "", waits, last))
    return spans


def _is_note(row: Mapping[str, Any]) -> bool:
    return isinstance(row.get("at"), int | float) and isinstance(row.get("rank"), int) and "kind" in row
