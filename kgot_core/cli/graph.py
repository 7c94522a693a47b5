"""``kgot graph``: graphs of runs analyzed, and graphs in files turned into other formats."""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kgot_core.cli.ask import ask
from kgot_core.cli.options import SettingsOptions, open_settings, settings_options
from kgot_core.cli.output import echo, echo_data
from kgot_core.cli.runs import runs_dir

if TYPE_CHECKING:
    from kgot_core.graph.losses import Losses


@click.group()
def graph() -> None:
    """Look into the graph of a run, take it out, turn a graph into another format, ask a graph."""


graph.add_command(ask)


@graph.command()
@click.argument("run")
@click.option("--from", "source", metavar="NAME", help="Start of a shortest path: a node's key or name.")
@click.option("--to", "target", metavar="NAME", help="End of a shortest path.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@settings_options
def analyze(run: str, source: str | None, target: str | None, as_json: bool, options: SettingsOptions) -> None:
    """Analyze the graph at the end of RUN: size, centrality, components, clustering, shortest path (paper, 2.4)."""
    from kgot_core.errors import UsageError
    from kgot_core.run.record.finding import find_run
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


@graph.command()
@click.argument("source", metavar="IN")
@click.argument("target", metavar="OUT")
@click.option("--from", "source_format", metavar="FORMAT", default="", help="Format of IN, where its ending says none.")
@click.option("--to", "target_format", metavar="FORMAT", default="", help="Format of OUT, where its ending says none.")
@click.option("--force", is_flag=True, help="Replace OUT where it is there already.")
@settings_options
def convert(
    source: str, target: str, source_format: str, target_format: str, force: bool, options: SettingsOptions
) -> None:
    """Turn the graph IN, a file or a run, into the file OUT; the endings decide on the formats.

    \b
    .json      snapshot        .graphml   graphml (kgot-networkx)
    .zip or /  csv             .gexf      gexf (kgot-networkx)
    .ttl       turtle (kgot-rdf)      .cypher      cypher (kgot-neo4j)
    .nt        ntriples (kgot-rdf)    .neo4j.json  neo4j-json (kgot-neo4j)
    .jsonld    jsonld (kgot-rdf)

    What a format cannot carry is said on stderr.
    """
    from kgot_core.graph.losses import Losses
    from kgot_core.session.formats import find_format
    from kgot_core.session.graphs import read_graph, write_graph

    registry, settings = open_settings(options)
    find_format(registry, target, target_format)
    losses = Losses()
    runs = Path(settings.core.runs_dir)
    found = read_graph(registry, source, runs, format=source_format, settings=settings, losses=losses)
    given: Any = {"format": target_format, "settings": settings, "losses": losses, "force": force}
    write_graph(registry, found, target, **given)
    _report(losses)
    echo(f"{target}: nodes {len(found.nodes)}, edges {len(found.edges)}")


@graph.command()
@click.argument("run")
@click.option("--format", "format_", metavar="FORMAT", default="", help="snapshot, csv, or what a plugin brings.")
@click.option("--out", metavar="PATH", help="Where to; without it the text goes to standard output.")
@click.option("--force", is_flag=True, help="Replace PATH where it is there already.")
@settings_options
def export(run: str, format_: str, out: str | None, force: bool, options: SettingsOptions) -> None:
    """Write the graph at the end of RUN: a path, an id, its beginning, or last.

    The format is snapshot, csv, turtle, ntriples, jsonld, cypher, neo4j-json, graphml or gexf, or the one of the
    ending of PATH. What it cannot carry is said on stderr.
    """
    from kgot_core.errors import UsageError
    from kgot_core.graph.losses import Losses
    from kgot_core.run.record.finding import find_run
    from kgot_core.session.graphs import graph_text, run_graph, write_graph

    if not (format_ or out):
        raise UsageError("export needs a format", hint="for example --format snapshot, or --out graph.json")
    registry, settings = open_settings(options)
    found = run_graph(find_run(run, Path(settings.core.runs_dir)))
    losses = Losses()
    if out is None:
        text = graph_text(registry, found, format_, settings=settings, losses=losses)
        _report(losses)
        echo_data(text)
        return
    write_graph(registry, found, out, format=format_, settings=settings, losses=losses, force=force)
    _report(losses)
    echo(f"{out}: nodes {len(found.nodes)}, edges {len(found.edges)}")


def _report(losses: Losses) -> None:
    for line in losses.lines():
        echo(f"kgot: {line}", err=True)


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {_shown(item)}" for name, item in value.items()) or "none"
    if isinstance(value, list):
        if value and all(isinstance(item, dict) and item.keys() == {"node", "value"} for item in value):
            return ", ".join(f"{item['node']} {_shown(item['value'])}" for item in value)
        return (" -> " if all(isinstance(item, str) for item in value) else ", ").join(map(_shown, value)) or "none"
    return f"{value:.3f}" if isinstance(value, float) else str(value)
