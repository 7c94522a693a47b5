"""Progress of a run for a person: plain lines, and a live status line on a terminal."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TextIO

from kgot_core.contracts.dialect import Dialect, dialect_from_json
from kgot_core.contracts.sink import Sink
from kgot_core.events import PARTS, Event, GraphOpened, GraphWritten, RunStarted, from_record
from kgot_core.graph.elements import change_from_json, snapshot_from_json
from kgot_core.graph.fold import TaskGraph
from kgot_core.graph.visible import visible
from kgot_core.sinks.lines import counted, event_lines, one_line


class Stage:
    """How far a run is and what it has used so far, folded from its records."""

    def __init__(self) -> None:
        self.tokens = 0
        self.cost = 0.0
        self.unpriced = False
        self.iteration = ""
        self.running: dict[str, str] = {}
        self.stage = "starting"

    def take(self, record: Mapping[str, Any]) -> None:
        """Folds one record in."""
        kind, step = record["kind"], record["step"]
        if kind in ("model_called", "texts_embedded"):
            usage = record["usage"]
            self.tokens += usage.get("input_tokens", 0) + usage.get("output_tokens", 0)
            self.cost += usage.get("cost", 0.0)
            self.unpriced = self.unpriced or bool(usage.get("unpriced"))
            self.stage = record["stage"] if record["stage"] in PARTS else self.stage
        elif kind == "iteration_started":
            self.iteration = f"round {record['iteration']} of {record['limit']}"
            self.stage = "decide"
        elif kind == "tool_started":
            self.running[step] = record["tool"]
        elif kind == "tool_called":
            self.running.pop(step, None)

    @property
    def words(self) -> str:
        """The stage, and the tools that are running."""
        # Another thread may look while a tool begins.
        tools = ", ".join(list(self.running.values()))
        return f"running {tools}" if tools else self.stage.replace("_", " ")


class Totals(Stage):
    """The same, with the graph."""

    def __init__(self) -> None:
        super().__init__()
        self.graph = TaskGraph()

    def take(self, record: Mapping[str, Any]) -> None:
        """Folds one record in."""
        super().take(record)
        kind = record["kind"]
        if kind == "graph_opened":
            self.graph = TaskGraph(snapshot_from_json(record["snapshot"]))
        elif kind == "graph_written" and not record["error"]:
            self.graph.apply(change_from_json(record["change"]))

    def line(self) -> str:
        """Gives the state of the run on one line."""
        parts = [self.iteration] if self.iteration else []
        parts.append(self.words)
        parts.append(f"{len(self.graph.nodes)} nodes, {len(self.graph.edges)} edges")
        parts.append(f"{self.tokens:,} tokens")
        parts.append("cost unknown" if self.unpriced else f"${self.cost:.4f}")
        return " · ".join(parts)


class ProgressSink(Sink):
    """Writes a line for each event that a person wants to see; on a terminal also a live status line.

    Args:
        stream: Where to write, usually standard error.
        live: Whether the stream is a terminal that can show a status line.
        graph: Whether to show what each write brought into the graph.
    """

    def __init__(self, stream: TextIO, live: bool, graph: bool = False) -> None:
        self._totals = Totals()
        self._write: Callable[[str], None] = lambda text: _plain_line(stream, text)
        self._status: Any = None
        self._graph = graph
        self._dialect: Dialect | None = None
        if live:
            from rich.console import Console

            console = Console(file=stream, highlight=False)
            self._status = console.status(self._totals.line())
            self._status.start()
            self._write = lambda text: console.print(visible(text), markup=False)

    def emit(self, record: Mapping[str, Any]) -> None:
        """Shows one record."""
        self._totals.take(record)
        event = from_record(record)
        if event is not None:
            for line in (*event_lines(event, self._totals.graph), *self._grown(event)):
                self._write(line)
        if self._status is not None:
            self._status.update(visible(one_line(self._totals.line(), 160)).replace("[", r"\["))

    def resumed(self, records: Sequence[Mapping[str, Any]]) -> None:
        """Counts what was recorded before the run went on; the task is shown once more, the rest is not."""
        for record in records:
            self._totals.take(record)
            event = from_record(record)
            if isinstance(event, GraphOpened):
                self._dialect = dialect_from_json(event.dialect)
            if isinstance(event, RunStarted):
                for line in event_lines(event, self._totals.graph):
                    self._write(line)
        self._totals.running.clear()
        self._write(f"going on after {counted(len(records), 'event')}: {self._totals.line()}")

    def close(self) -> None:
        """Takes the status line away. Idempotent."""
        if self._status is not None:
            self._status.stop()
            self._status = None

    def _grown(self, event: Event) -> Sequence[str]:
        if isinstance(event, GraphOpened):
            self._dialect = dialect_from_json(event.dialect)
        if not (self._graph and self._dialect and isinstance(event, GraphWritten)) or event.error:
            return ()
        change = change_from_json(event.change)
        lines = self._dialect.lines((*change.added, *change.changed), self._totals.graph)
        return [f"    + {line}" for line in lines] + [f"    - {len(change.removed)} removed"] * bool(change.removed)


def _plain_line(stream: TextIO, text: str) -> None:
    stream.write(visible(text) + "\n")
    stream.flush()
