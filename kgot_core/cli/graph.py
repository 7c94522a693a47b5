"""``kgot graph``: what a run's graph looks like to graph analytics."""

from __future__ import annotations

import json
from importlib import import_module
from typing import Any

import click

from kgot_core.cli.options import SettingsOptions, settings_options
from kgot_core.cli.output import echo
from kgot_core.cli.runs import runs_dir


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
    from kgot_core.run.finding import find_run
    from kgot_core.session.graphs import run_graph

    try:
        analyzer = import_module("kgot_networkx.analyze")
    except ModuleNotFoundError:
        raise UsageError("graph analytics need the package kgot-networkx", hint="pip install kgot-networkx") from None
    result: dict[str, Any] = analyzer.analyze(run_graph(find_run(run, runs_dir(options))), source, target)
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
