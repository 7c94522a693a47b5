"""Graphs from files and runs, and into files: whole or not at all."""

from __future__ import annotations

import tempfile
from pathlib import Path

from kgot_core.errors import UsageError
from kgot_core.graph.elements import GraphSnapshot, change_from_json, snapshot_from_json
from kgot_core.graph.fold import TaskGraph
from kgot_core.graph.losses import Losses
from kgot_core.graph.soundness import faults
from kgot_core.plugins import PluginRegistry
from kgot_core.run.record.finding import find_run
from kgot_core.run.record.folder import read_records
from kgot_core.run.record.kept import EVENTS
from kgot_core.session.formats import attempt, find_format, formats, has_ending, values_of
from kgot_core.settings import Settings


def read_graph(
    registry: PluginRegistry,
    name: str,
    runs: Path,
    *,
    format: str = "",
    settings: Settings | None = None,
    losses: Losses | None = None,
) -> GraphSnapshot:
    """Reads a graph from a file, or gives the one at the end of a run.

    Args:
        registry: The plugins; they bring the formats.
        name: A file or folder whose ending decides the format; or a run: its path, its id, a unique beginning of
            it, or ``last``.
        runs: The folder of the runs.
        format: Name of the format; empty leaves it to the ending.
        settings: Settings of the formats; their defaults where ``None``.
        losses: Gets what the file holds and the graph cannot.

    Raises:
        UsageError: There is no such file or run, or it cannot be read.
        PluginError: The format's plugin is missing or fails.
    """
    path = Path(name)
    if not format and ((path / EVENTS).is_file() or not (path.exists() or has_ending(registry, name))):
        return run_graph(find_run(name, runs))
    provider = find_format(registry, name, format)
    if not path.exists():
        raise UsageError(f"there is no file {name}", hint="a run is named by its id, or last: kgot runs")
    read = provider.read
    if read is None:
        readable = ", ".join(sorted(found.name for found in formats(registry) if found.read is not None))
        raise UsageError(
            f"the format {provider.name} can be written but not read: {name}", hint=f"formats to read: {readable}"
        )
    values = values_of(provider, settings)
    noted = Losses() if losses is None else losses
    graph = attempt(provider, name, "read", lambda: read(values, path, noted))
    if wrong := faults(graph):
        raise UsageError(f"{name} holds no sound graph: {wrong[0]}")
    return graph


def run_graph(folder: Path) -> GraphSnapshot:
    """Gives the graph at the end of a run.

    Raises:
        UsageError: There is no readable run in the folder.
    """
    state = TaskGraph()
    for record in read_records(folder):
        if record["kind"] == "graph_opened":
            state = TaskGraph(snapshot_from_json(record["snapshot"]))
        elif record["kind"] == "graph_written" and not record["error"]:
            state.apply(change_from_json(record["change"]))
    return state.snapshot()


def write_graph(
    registry: PluginRegistry,
    graph: GraphSnapshot,
    name: str,
    *,
    format: str = "",
    settings: Settings | None = None,
    losses: Losses | None = None,
    force: bool = False,
) -> None:
    """Writes a graph into a file, whole or not at all.

    Args:
        registry: The plugins; they bring the formats.
        graph: The graph.
        name: The file or folder; its ending decides the format.
        format: Name of the format; empty leaves it to the ending.
        settings: Settings of the formats; their defaults where ``None``.
        losses: Gets what the format cannot carry.
        force: What is there already is replaced.

    Raises:
        UsageError: The file is there already, cannot be written, or no format has its ending.
        PluginError: The format's plugin is missing or fails.
    """
    provider = find_format(registry, name, format)
    write = provider.write
    if write is None:
        raise UsageError(f"the format {provider.name} can be read but not written: {name}")
    path = Path(name)
    if path.exists() and not force:
        raise UsageError(f"{name} is there already", hint="replace it with --force, or name another")
    values = values_of(provider, settings)
    noted = Losses() if losses is None else losses
    try:
        # Beside the target, so that it can be moved there in one step.
        with tempfile.TemporaryDirectory(prefix=".kgot-", dir=path.parent) as folder:
            part = Path(folder) / path.name
            attempt(provider, name, "write", lambda: write(values, graph, part, noted))
            _put(part, path)
    except OSError as error:
        raise UsageError(f"{name} cannot be written: {error.strerror or error}") from None


def graph_text(
    registry: PluginRegistry,
    graph: GraphSnapshot,
    format: str,
    *,
    settings: Settings | None = None,
    losses: Losses | None = None,
) -> str:
    """Gives a graph as the text of a file.

    Args:
        registry: The plugins; they bring the formats.
        graph: The graph.
        format: Name of the format.
        settings: Settings of the formats; their defaults where ``None``.
        losses: Gets what the format cannot carry.

    Raises:
        UsageError: The format has several files, or is no text.
        PluginError: The format's plugin is missing or fails.
    """
    provider = find_format(registry, "", format)
    if not provider.text:
        raise UsageError(f"the format {provider.name} is more than one text", hint="name a place for it with --out")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / f"graph{next(iter(provider.suffixes), '')}"
        write_graph(registry, graph, str(file), format=format, settings=settings, losses=losses)
        return file.read_bytes().decode()


def _put(part: Path, path: Path) -> None:
    if part.is_dir():
        path.mkdir(exist_ok=True)
        for file in part.iterdir():
            file.replace(path / file.name)
    elif path.is_dir():
        raise UsageError(f"{path} is a folder", hint="name a file in it")
    else:
        part.replace(path)
