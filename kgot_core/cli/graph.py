"""``kgot graph``: what a run's graph looks like to graph analytics."""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path
from typing import Any

import click

from kgot_core.cli.options import SettingsOptions, read_sources, settings_options
from kgot_core.cli.output import echo
from kgot_core.cli.runs import find_run


@click.group()
def graph() -> None:
    """Look into the graph of a run."""


@graph.command()
@click.argument("run")
@click.option("--from", "source", metavar="NAME", help="Start of a shortest path: a node's key or name.")
@click.option("--to", "target", metavar="NAME", help="End of a shortest path.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@settings_options
def analyze(run: str, source: str | None, target: str | None, as_json: bool, options: SettingsOptions) -> None:
    """Analyze the graph at the end of RUN: size, centrality, components, clustering, shortest path (paper, 2.4)."""
    from kgot_core.errors import UsageError
    from kgot_core.graph.elements import change_from_json, snapshot_from_json
    from kgot_core.graph.fold import TaskGraph
    from kgot_core.run.folder import read_records
    from kgot_core.settings import Settings

    try:
        analyzer = import_module("kgot_networkx.analyze")
    except ModuleNotFoundError:
        raise UsageError("graph analytics need the package kgot-networkx", hint="pip install kgot-networkx") from None
    state = TaskGraph()
    for record in read_records(find_run(run, Path(Settings.build(read_sources(options)).core.runs_dir))):
        if record["kind"] == "graph_opened":
            state = TaskGraph(snapshot_from_json(record["snapshot"]))
        elif record["kind"] == "graph_written" and not record["error"]:
            state.apply(change_from_json(record["change"]))
    result: dict[str, Any] = analyzer.analyze(state.snapshot(), source, target)
    if as_json:
        echo(json.dumps(result, ensure_ascii=False, indent=2))
        return
    for name, value in result.items():
        echo(f"{name.replace('_', ' ')}: {_shown(value)}")


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {_shown(item)}" for name, item in value.items()) or "none"
    if isinstance(value, list):
        if value and all(isinstance(item, dict) and item.keys() == {"node", "value"} for item in value):
            return ", ".join(f"{item['node']} {_shown(item['value'])}" for item in value)
        return (" -> " if all(isinstance(item, str) for item in value) else ", ").join(map(_shown, value)) or "none"
    return f"{value:.3f}" if isinstance(value, float) else str(value)
