"""Draws the schedule of a batch as SVG: a lane for each place of each process, a bar for each task."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from xml.sax.saxutils import escape, quoteattr

from kgot_core.batch.results import read_results
from kgot_core.batch.schedule import Mark, Schedule, Span, read_schedule
from kgot_core.errors import UsageError
from kgot_core.graph.visible import visible

WIDTH = 1200
LEFT = 90
RIGHT = 40
TOP = 64
LANE = 18
GAP = 10
LETTER = 6.2
"""Width of a letter at the size of the bars' names, in pixels."""
COLOURS: Mapping[str, str] = MappingProxyType(
    {
        "answered": "#4c9f70",
        "capped": "#8fbf6a",
        "no_solution": "#e0a63a",
        "abstained": "#e0c35a",
        "failed": "#c8553d",
        "cancelled": "#8d99ae",
    }
)
_STEPS = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 28800, 86400)


def write_timeline(folder: Path, path: Path) -> None:
    """Draws the schedule of a batch into a file.

    Args:
        folder: The batch's folder.
        path: The file, SVG.

    Raises:
        UsageError: Nothing has run yet, or the file cannot be written.
    """
    schedule = read_schedule(folder)
    if not schedule.spans:
        raise UsageError(f"no task of the batch in {folder} has begun yet, so there is no timeline to draw")
    statuses = {task: str(row["status"]) for task, row in read_results(folder).items()}
    try:
        path.write_text("\n".join(_Drawing(schedule, statuses, folder.absolute().name).lines()) + "\n", "utf-8")
    except OSError as error:
        raise UsageError(f"the timeline cannot be written to {path}: {error.strerror}") from None


class _Drawing:
    def __init__(self, schedule: Schedule, statuses: Mapping[str, str], name: str) -> None:
        self._schedule = schedule
        self._statuses = statuses
        self._name = name
        self._scale = (WIDTH - LEFT - RIGHT) / max(schedule.seconds, 0.001)
        self._tops: dict[int, float] = {}
        place = float(TOP)
        for rank in schedule.ranks:
            self._tops[rank] = place
            place += schedule.lanes[rank] * LANE + GAP
        self._bottom = place
        # Whatever came before the last time that a task ran was broken off, or failed and was tried again.
        self._last = {span.task: span for span in schedule.spans}

    def lines(self) -> Iterator[str]:
        height = self._bottom + 30
        yield (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:g}" width="{WIDTH}" '
            f'height="{height:g}" font-family="sans-serif" font-size="11">'
        )
        yield f'<rect width="{WIDTH}" height="{height:g}" fill="white"/>'
        yield from self._head()
        yield from self._axis()
        for rank in self._schedule.ranks:
            yield from self._rank(rank)
        for span in self._schedule.spans:
            yield from self._bar(span)
        for mark in self._schedule.marks:
            yield from self._mark(mark)
        yield "</svg>"

    def _head(self) -> Iterator[str]:
        tasks = len({span.task for span in self._schedule.spans if span.task})
        said = f"{self._name}: {tasks} tasks, {_time(self._schedule.seconds)}"
        yield f'<text x="{LEFT}" y="20" font-size="15" font-weight="bold">{_text(said)}</text>'
        place = float(LEFT)
        found = {self._status(span) for span in self._schedule.spans if span.task}
        shown = [name for name in COLOURS if name in found]
        marks = {mark.kind for mark in self._schedule.marks}
        for name in shown:
            yield f'<rect x="{place:g}" y="31" width="11" height="11" rx="2" fill="{COLOURS[name]}"/>'
            yield f'<text x="{place + 16:g}" y="41">{_word(name)}</text>'
            place += 34 + LETTER * len(_word(name))
        if any(not span.task for span in self._schedule.spans):
            yield f'<rect x="{place:g}" y="35" width="22" height="3" fill="#b8bec9"/>'
            yield f'<text x="{place + 28:g}" y="41">waits</text>'
            place += 70
        for kind, said in (("stole", "stolen from"), ("took_over", "taken over"), ("lost", "lost")):
            if kind in marks:
                yield from _sign(kind, place + 5, 37)
                yield f'<text x="{place + 16:g}" y="41">{said}</text>'
                place += 34 + LETTER * len(said)

    def _axis(self) -> Iterator[str]:
        seconds = self._schedule.seconds
        step = next((step for step in _STEPS if seconds / step <= 12), _STEPS[-1])
        for number in range(int(seconds // step) + 1):
            x = self._x(number * step)
            yield f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{TOP - 6}" y2="{self._bottom:g}" stroke="#e6e8ec"/>'
            place = f'x="{x:.1f}" y="{self._bottom + 16:g}"'
            yield f'<text {place} text-anchor="middle" fill="#555">{_time(number * step)}</text>'
        for begin in self._schedule.breaks:
            x = self._x(begin)
            yield (
                f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{TOP - 10}" y2="{self._bottom:g}" stroke="#555" '
                'stroke-dasharray="4 3"><title>the batch went on here</title></line>'
            )

    def _rank(self, rank: int) -> Iterator[str]:
        top, height = self._tops[rank], self._schedule.lanes[rank] * LANE
        size = f'width="{WIDTH - LEFT - RIGHT}" height="{height}"'
        yield f'<rect x="{LEFT}" y="{top:g}" {size} fill="#f4f5f7" opacity="0.6"/>'
        yield f'<text x="{LEFT - 10}" y="{top + height / 2 + 4:g}" text-anchor="end">rank {rank}</text>'

    def _bar(self, span: Span) -> Iterator[str]:
        x, width = self._x(span.begin), max(1.0, (span.end - span.begin) * self._scale)
        y = self._tops[span.rank] + span.lane * LANE
        if not span.task:
            yield (
                f'<rect x="{x:.1f}" y="{y + LANE / 2 - 1.5:g}" width="{width:.1f}" height="3" fill="#b8bec9">'
                f"<title>waits {_time(span.end - span.begin)}</title></rect>"
            )
            return
        status = self._status(span)
        colour = COLOURS[status]
        said = f"{span.task}: {_word(status)} after {_time(span.end - span.begin)}"
        broken = ' stroke="#c8553d" stroke-dasharray="3 2"' if span.broken else ""
        yield (
            f'<rect x="{x:.1f}" y="{y + 1:g}" width="{max(1.0, width - 1):.1f}" height="{LANE - 2}" rx="2" '
            f'fill="{colour}"{broken}><title>{_text(said)}</title></rect>'
        )
        if len(span.task) * LETTER < width - 6:
            place = f'x="{x + 4:.1f}" y="{y + LANE - 5:g}"'
            yield f'<text {place} fill="white" pointer-events="none">{_text(span.task)}</text>'

    def _mark(self, mark: Mark) -> Iterator[str]:
        x, y = self._x(mark.at), self._tops[mark.rank] - 2
        if mark.peer in self._tops:
            yield (
                f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{self._tops[mark.peer] + LANE / 2:g}" y2="{y + LANE / 2:g}" '
                'stroke="#33415c" stroke-width="0.7" opacity="0.5"/>'
            )
        said = f"{mark.kind.replace('_', ' ')} {mark.task}" + (f" (rank {mark.peer})" if mark.peer >= 0 else "")
        yield f"<g><title>{_text(said)}</title>"
        yield from _sign(mark.kind, x, y)
        yield "</g>"

    def _status(self, span: Span) -> str:
        last = self._last[span.task] is span and not span.broken
        status = self._statuses.get(span.task, "") if last else "cancelled"
        return status if status in COLOURS else "cancelled"

    def _x(self, seconds: float) -> float:
        return LEFT + seconds * self._scale


def _sign(kind: str, x: float, y: float) -> Iterator[str]:
    if kind == "lost":
        yield (
            f'<path d="M {x - 4:.1f} {y - 4:.1f} l 8 8 m -8 0 l 8 -8" stroke={quoteattr(COLOURS["failed"])} '
            'stroke-width="2.5"/>'
        )
        return
    colour = "#33415c" if kind == "stole" else COLOURS["failed"]
    yield f'<path d="M {x - 4:.1f} {y - 4:.1f} h 8 l -4 7 z" fill={quoteattr(colour)}/>'


def _word(status: str) -> str:
    return "broken off" if status == "cancelled" else status.replace("_", " ")


def _text(text: str) -> str:
    return escape(" ".join(visible(text).split())[:200])


def _time(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:.3g} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes}:{rest:02d} min" if minutes < 60 else f"{minutes // 60}:{minutes % 60:02d} h"
