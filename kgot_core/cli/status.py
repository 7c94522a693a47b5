"""``kgot status``: how a batch or a run is, from its files alone."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from kgot_core.cli.options import SettingsOptions, settings_options
from kgot_core.cli.output import echo


@click.command()
@click.argument("folder")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.option("--timeline", metavar="FILE.svg", help="Draw who ran which task when into a file.")
@settings_options
def status(folder: str, as_json: bool, timeline: str | None, options: SettingsOptions) -> None:
    """Tell how the batch in FOLDER is: done, running, waiting, failed, cost, time left. It may run elsewhere.

    FOLDER may be a single run too: its path, its id, the beginning of it, or last.
    """
    from kgot_core.batch.folder import is_batch
    from kgot_core.errors import UsageError

    if not is_batch(Path(folder)):
        if timeline:
            raise UsageError(f"there is no batch in {folder}, so there is no timeline to draw")
        _show_run(folder, as_json, options)
        return
    if timeline:
        from kgot_core.batch.timeline import write_timeline

        write_timeline(Path(folder), Path(timeline))
        echo(f"drawn in {timeline}", err=True)
    _show_batch(Path(folder), as_json)


def _show_batch(folder: Path, as_json: bool) -> None:
    from kgot_core.batch.status import BatchReader
    from kgot_core.cli.batch_lines import state_lines

    state = BatchReader(folder).read()
    if as_json:
        shown = {
            **asdict(state),
            "done": state.done,
            "failed": state.failed,
            "cost": None if state.usage.unpriced else round(state.usage.cost, 6),
        }
        echo(json.dumps(shown, ensure_ascii=False, indent=2))
        return
    for line in state_lines(state):
        echo(line)
    if not state.running and (state.waiting or state.failed):
        echo(f"not running: kgot resume {folder} goes on with it")


def _show_run(name: str, as_json: bool, options: SettingsOptions) -> None:
    from kgot_core.cli.runs import run_status, runs_dir
    from kgot_core.run.record.finding import find_run
    from kgot_core.run.record.folder import read_records
    from kgot_core.run.record.recorded import standing
    from kgot_core.sinks.progress import Totals

    found = find_run(name, runs_dir(options))
    records = standing(read_records(found))
    totals = Totals()
    for record in records:
        totals.take(record)
    shown: dict[str, Any] = {
        "run": found.name,
        "status": run_status(found, records),
        "round": totals.iteration,
        "stage": totals.words,
        "tokens": totals.tokens,
        "cost": None if totals.unpriced else round(totals.cost, 6),
        "nodes": len(totals.graph.nodes),
        "edges": len(totals.graph.edges),
    }
    if as_json:
        echo(json.dumps(shown, ensure_ascii=False, indent=2))
        return
    echo(f"{shown['status']} · {totals.line()}")
