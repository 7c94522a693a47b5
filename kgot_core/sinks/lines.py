"""An event as lines for a person; used while a run goes on and when it is shown afterwards."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import singledispatch
from typing import Any

from kgot_core import events
from kgot_core.graph.fold import TaskGraph

WIDTH = 110


def event_lines(event: events.Event, graph: TaskGraph) -> Sequence[str]:
    """Gives an event as lines; empty for one that only a machine wants.

    Args:
        event: The event.
        graph: The graph after the event, for its size.
    """
    return _lines(event, graph)


@singledispatch
def _lines(event: Any, graph: TaskGraph) -> Sequence[str]:
    return ()


@_lines.register
def _(event: events.RunStarted, graph: TaskGraph) -> Sequence[str]:
    lines = [f"question: {one_line(event.question, 400)}", *(f"file: {file['name']}" for file in event.files)]
    choice = event.plan.get("sandbox_choice")
    return [*lines, one_line(str(choice), 400)] if choice else lines


@_lines.register
def _(event: events.RunResumed, graph: TaskGraph) -> Sequence[str]:
    return [f"the run goes on{' although this has changed: ' if event.changed else ''}{'; '.join(event.changed)}"]


@_lines.register
def _(event: events.GraphOpened, graph: TaskGraph) -> Sequence[str]:
    return [f"the store holds {_size(graph)}"] if len(graph) else ()


@_lines.register
def _(event: events.ToolsOpened, graph: TaskGraph) -> Sequence[str]:
    return [f"without the tool {name}: {cause}" for name, cause in event.left_out.items()]


@_lines.register
def _(event: events.IterationStarted, graph: TaskGraph) -> Sequence[str]:
    return [f"round {event.iteration} of {event.limit}"]


@_lines.register
def _(event: events.Voted, graph: TaskGraph) -> Sequence[str]:
    if event.stage == "parse":
        return ()
    if event.stage != "decide":
        what = {"choose_tools": "tools", "final": "answer"}.get(event.stage, event.stage)
        return [f"  vote on the {what}: {one_line(event.choice)} (agreement {event.agreement:.2f})"]
    shown = ", ".join(f"{name} {count}" for name, count in event.counts.items()) or "none readable"
    spoiled = f", unreadable {event.unreadable}" if event.unreadable else ""
    reason = f" - {one_line(event.reasons[0])}" if event.reasons else ""
    return [f"  vote: {event.choice} ({shown}{spoiled}){reason}"]


@_lines.register
def _(event: events.ToolStarted, graph: TaskGraph) -> Sequence[str]:
    return [f"  tool {event.tool}({_arguments(event.arguments)})"]


@_lines.register
def _(event: events.ToolCalled, graph: TaskGraph) -> Sequence[str]:
    outcome = "failed" if event.failed else "gave"
    return [f"    {event.tool} {outcome} after {event.seconds:.1f} s: {one_line(event.text)}"]


@_lines.register
def _(event: events.ToolRetried, graph: TaskGraph) -> Sequence[str]:
    return [f"    {event.tool} is tried again: {one_line(event.cause)}"]


@_lines.register
def _(event: events.ModelRetried, graph: TaskGraph) -> Sequence[str]:
    return [f"  the model is asked again in {event.wait:.0f} s: {one_line(event.cause)}"]


@_lines.register
def _(event: events.GraphWritten, graph: TaskGraph) -> Sequence[str]:
    if event.error:
        return [f"  graph write refused: {one_line(event.error)}"]
    counts = {name: len(event.change.get(name, ())) for name in ("added", "changed", "removed")}  # type: ignore[arg-type]
    shown = ", ".join(f"{count} {name}" for name, count in counts.items() if count) or "nothing new"
    what = "graph given" if event.sources == ("graph",) else "graph"
    return [f"  {what}: {shown}; now {_size(graph)}"]


@_lines.register
def _(event: events.GraphQueried, graph: TaskGraph) -> Sequence[str]:
    if event.error:
        return [f"  query refused: {one_line(event.error)}"]
    first = f": {one_line(str(dict(event.rows[0])))}" if event.rows else ""
    return [f"  query: {counted(len(event.rows), 'row')}{first}"]


@_lines.register
def _(event: events.CodeRan, graph: TaskGraph) -> Sequence[str]:
    return [f"  script: {one_line(event.error or event.output or str(event.value))}"]


@_lines.register
def _(event: events.StatementDropped, graph: TaskGraph) -> Sequence[str]:
    return [f"  left out: {one_line(event.statement, 60)} ({one_line(event.error)})"]


@_lines.register
def _(event: events.ValueReplaced, graph: TaskGraph) -> Sequence[str]:
    return [f"  corrected: {event.name} was {one_line(str(event.old), 40)}, is {one_line(str(event.new), 40)}"]


@_lines.register
def _(event: events.SourcesChecked, graph: TaskGraph) -> Sequence[str]:
    return [f"  not in their sources: values of {counted(len(event.unsupported), 'element')}"]


@_lines.register
def _(event: events.ElementRemoved, graph: TaskGraph) -> Sequence[str]:
    return [f"  removed: {one_line(event.line, 60)} ({one_line(event.reason)})"]


@_lines.register
def _(event: events.CapHit, graph: TaskGraph) -> Sequence[str]:
    return [f"  a cap is reached: {event.cap}; solving from what is there"]


@_lines.register
def _(event: events.SolveFailed, graph: TaskGraph) -> Sequence[str]:
    return [f"  no answer by {event.form}: {one_line(event.cause)}"]


@_lines.register
def _(event: events.Notice, graph: TaskGraph) -> Sequence[str]:
    return [f"note: {event.text}"]


@_lines.register
def _(event: events.RunFinished, graph: TaskGraph) -> Sequence[str]:
    answer: Mapping[str, Any] = event.answer
    usage = answer["usage"]
    cost = "cost unknown" if answer["cost"] is None else f"${answer['cost']:.4f}"
    tokens = f"{usage['input_tokens'] + usage['output_tokens']:,} tokens"
    how = f" by {answer['how']}" if answer["how"] else ""
    rounds, requests = counted(answer["iterations"], "round"), counted(usage["requests"], "request")
    return [f"{answer['status'].replace('_', ' ')}{how}: {rounds}, {requests}, {tokens}, {cost}"]


def _size(graph: TaskGraph) -> str:
    return f"{counted(len(graph.nodes), 'node')} and {counted(len(graph.edges), 'edge')}"


def counted(number: int, what: str) -> str:
    """Gives a number with its noun."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def one_line(text: str, width: int = WIDTH) -> str:
    """Gives a text on one line, cut to a width."""
    flat = " ".join(str(text).split())
    return flat if len(flat) <= width else flat[: width - 3] + "..."


def _arguments(arguments: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={one_line(str(value), 60)}" for name, value in arguments.items())
