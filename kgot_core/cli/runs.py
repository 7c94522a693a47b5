"""``kgot runs``, ``show`` and ``replay``: what was run, and the same run once more from its record."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from kgot_core.cli.options import SettingsOptions, open_settings, read_sources, settings_options
from kgot_core.cli.output import echo
from kgot_core.errors import FAILED


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print one JSON array.")
@settings_options
def runs(as_json: bool, options: SettingsOptions) -> None:
    """List the runs of the folder runs_dir, oldest first."""
    from kgot_core.run.record.finding import run_folders

    rows = [_summary(folder) for folder in run_folders(runs_dir(options))]
    if as_json:
        echo(json.dumps(rows, ensure_ascii=False, indent=2))
        return
    for row in rows:
        cost = "cost unknown" if row["cost"] is None else f"${row['cost']:.4f}"
        echo(f"{row['run']}  {row['status']:<11} {cost:>12}  {_cut(row['question'], 70)}")
    if not rows:
        echo("no runs yet", err=True)


@click.command()
@click.argument("run")
@click.option("--events", is_flag=True, help="Print every event as one JSON line, long texts in full.")
@click.option("--why", is_flag=True, help="Print what the answer rests on, back to pages and files.")
@click.option("--json", "as_json", is_flag=True, help="Print the answer, or with --why what it rests on, as JSON.")
@settings_options
def show(run: str, events: bool, why: bool, as_json: bool, options: SettingsOptions) -> None:
    """Show a run: its course, the graph at its end, its answer. RUN is a path, an id, its beginning, or last."""
    from kgot_core.run.record.finding import find_run
    from kgot_core.run.record.folder import read_records

    folder = find_run(run, runs_dir(options))
    records = list(read_records(folder))
    if events:
        for record in records:
            echo(json.dumps(record, ensure_ascii=False))
        return
    if why:
        _show_why(records, as_json)
        return
    if as_json:
        found = _answer(records) or {"run": folder.name, "status": run_status(folder, records)}
        echo(json.dumps(found, ensure_ascii=False, indent=2))
        return
    for line in _story(records):
        echo(line)
    status = run_status(folder, records)
    if status in ("running", "interrupted", "unfinished"):
        echo(status + (f": kgot resume {folder.name} goes on with it" if status == "interrupted" else ""))


@click.command()
@click.argument("run")
@settings_options
def replay(run: str, options: SettingsOptions) -> int:
    """Run RUN again from its record, without model, tool, store or network, and compare the events.

    A run that was cancelled, or that failed outside what is recorded, is repeated as far as its record goes.
    """
    from kgot_core.run.record.finding import find_run
    from kgot_core.run.record.folder import read_records
    from kgot_core.run.record.journal import RecordEnds
    from kgot_core.run.record.recorded import standing
    from kgot_core.session.compare import difference
    from kgot_core.session.replay import replay_run
    from kgot_core.sinks.memory import MemorySink

    registry, settings = open_settings(options)
    folder = find_run(run, Path(settings.core.runs_dir))
    recorded = standing(read_records(folder))
    status = _answer(recorded).get("status", "unfinished")
    sink = MemorySink()
    whole = True
    try:
        asyncio.run(replay_run(registry, folder, env=os.environ, sinks=[sink]))
    except RecordEnds:
        whole = False
        if status not in ("cancelled", "failed", "unfinished"):
            raise
    found = difference(recorded, sink.records, whole=whole)
    if found is None and whole:
        echo(f"equal: {len(recorded)} events")
        return 0
    if found is None:
        echo(f"equal as far as the record goes: {len(sink.records)} of {len(recorded)} events ({status})")
        return 0
    echo(f"differs at {found.step or 'the run itself'}:")
    echo(f"  recorded {_cut(found.recorded, 300) or 'nothing'}\n  repeated {_cut(found.repeated, 300) or 'nothing'}")
    echo(f"{len(recorded)} events recorded, {len(sink.records)} repeated", err=True)
    return FAILED


def _show_why(records: list[dict[str, Any]], as_json: bool) -> None:
    from kgot_core.errors import UsageError
    from kgot_core.session.why import explain, why_lines

    why = explain(records)
    if why is None:
        raise UsageError("the run has no answer yet", hint="kgot show RUN tells its course so far")
    if as_json:
        echo(json.dumps(why.to_json(), ensure_ascii=False, indent=2))
        return
    for line in why_lines(why):
        echo(line)


def runs_dir(options: SettingsOptions) -> Path:
    """Gives the folder of the runs."""
    from kgot_core.settings import Settings

    return Path(Settings.build(read_sources(options)).core.runs_dir)


def _summary(folder: Path) -> Mapping[str, Any]:
    from kgot_core.errors import UsageError
    from kgot_core.run.record.folder import read_records

    try:
        records = list(read_records(folder))
    except UsageError as error:
        return {"run": folder.name, "status": "unreadable", "question": error.message, "cost": None, "answer": ""}
    answer = _answer(records)
    return {
        "run": folder.name,
        "status": run_status(folder, records),
        "question": records[0].get("question", "") if records else "",
        "cost": answer.get("cost"),
        "answer": answer.get("text", ""),
    }


def run_status(folder: Path, records: Sequence[Mapping[str, Any]]) -> str:
    """Tells how a run ended, or that it is ``running``, ``interrupted`` (it may go on), or never began properly."""
    from kgot_core.run.record.lease import is_running

    ended = str(_answer(records).get("status", ""))
    if ended and ended != "cancelled":
        return ended
    if not ended and is_running(folder):
        return "running"
    return "interrupted" if records and records[0]["kind"] == "run_started" else "unfinished"


def _answer(records: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    from kgot_core.run.record.recorded import standing

    ends = [record["answer"] for record in standing(records) if record["kind"] == "run_finished"]
    found: Mapping[str, Any] = ends[-1] if ends else {}
    return found


def _story(records: list[dict[str, Any]]) -> Iterator[str]:
    from kgot_core import events
    from kgot_core.contracts.dialect import dialect_from_json
    from kgot_core.sinks.lines import event_lines
    from kgot_core.sinks.progress import Totals

    dialect = None
    totals = Totals()
    for record in records:
        totals.take(record)
        event = events.from_record(record)
        if isinstance(event, events.GraphOpened):
            dialect = dialect_from_json(event.dialect)
        if event is not None:
            yield from event_lines(event, totals.graph)
    if dialect is not None and len(totals.graph):
        yield "graph:"
        yield from (f"  {line}" for line in dialect.lines(totals.graph, totals.graph))
    answer = _answer(records)
    if answer:
        yield f"answer: {answer['text']}"
        yield from (f"  rests on {item['text']}" for item in answer["evidence"])


def _cut(text: str, width: int) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= width else flat[: width - 3] + "..."
