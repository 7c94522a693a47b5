"""Graphs from files and runs, and into files: finds the format that a name means and lets its provider work."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

from kgot_core.errors import KgotError, PluginError, UsageError
from kgot_core.graph.elements import GraphSnapshot, change_from_json, snapshot_from_json
from kgot_core.graph.fold import TaskGraph
from kgot_core.graph.losses import Losses
from kgot_core.graph.soundness import faults
from kgot_core.plugins import PluginRegistry
from kgot_core.plugins.known import format_of
from kgot_core.providers import FOLDER, FormatProvider
from kgot_core.run.faults import said
from kgot_core.run.finding import find_run
from kgot_core.run.folder import EVENTS, read_records
from kgot_core.session.checks import ready_settings
from kgot_core.settings import Settings

T = TypeVar("T")


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
    if not format and ((path / EVENTS).is_file() or not (path.exists() or _ending(registry, name))):
        return run_graph(find_run(name, runs))
    provider = find_format(registry, name, format)
    if not path.exists():
        raise UsageError(f"there is no file {name}", hint="a run is named by its id, or last: kgot runs")
    read = provider.read
    if read is None:
        readable = ", ".join(sorted(found.name for found in _formats(registry) if found.read is not None))
        raise UsageError(
            f"the format {provider.name} can be written but not read: {name}", hint=f"formats to read: {readable}"
        )
    values = _values(provider, settings)
    noted = Losses() if losses is None else losses
    graph = _try(provider, name, "read", lambda: read(values, path, noted))
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
    values = _values(provider, settings)
    noted = Losses() if losses is None else losses
    try:
        # Beside the target, so that it can be moved there in one step.
        with tempfile.TemporaryDirectory(prefix=".kgot-", dir=path.parent) as folder:
            part = Path(folder) / path.name
            _try(provider, name, "write", lambda: write(values, graph, part, noted))
            _put(part, path)
    except OSError as error:
        raise UsageError(f"{name} cannot be written: {error.strerror or error}") from None


def find_format(registry: PluginRegistry, name: str, format: str = "") -> FormatProvider:
    """Finds the format of a file.

    Args:
        registry: The plugins.
        name: The file; its longest known ending decides.
        format: The format's name, which then decides alone.

    Raises:
        UsageError: No format, or more than one, has the ending.
        PluginError: The package that brings it is not installed.
    """
    if format:
        return cast(FormatProvider, registry.get("format", format))
    fitting, ending = _fitting(registry, name)
    ours, longer = format_of(name)
    if len(longer) > len(ending):
        return cast(FormatProvider, registry.get("format", ours))
    if len(fitting) == 1:
        return fitting[0]
    if fitting:
        names = " and ".join(provider.name for provider in fitting)
        raise UsageError(f"{name}: the ending {ending} is that of {names}", hint="name the format with --from or --to")
    endings = sorted({f"{suffix} ({found.name})" for found in _formats(registry) for suffix in found.suffixes})
    raise UsageError(f"{name}: the ending says no format; known are {', '.join(endings)}", hint="--from or --to NAME")


def _formats(registry: PluginRegistry) -> list[FormatProvider]:
    return [cast(FormatProvider, provider) for _, provider in registry.all("format")]


def _fitting(registry: PluginRegistry, name: str) -> tuple[list[FormatProvider], str]:
    """Gives the formats with the longest ending that fits."""
    shown = f"{name.rstrip('/')}/" if name.endswith("/") or Path(name).is_dir() else name.lower()
    found: dict[str, list[FormatProvider]] = {}
    for provider in _formats(registry):
        for suffix in provider.suffixes:
            if shown.endswith(suffix) and (suffix == FOLDER or not shown.endswith(FOLDER)):
                found.setdefault(suffix, []).append(provider)
    ending = max(found, key=len, default="")
    return found.get(ending, []), ending


def _ending(registry: PluginRegistry, name: str) -> bool:
    return bool(_fitting(registry, name)[1] or format_of(name)[1])


def _values(provider: FormatProvider, settings: Settings | None) -> Any:
    return provider.settings() if settings is None else ready_settings(settings, provider)


def _try(provider: FormatProvider, name: str, what: str, function: Callable[[], T]) -> T:
    try:
        return function()
    except (KgotError, OSError) as error:
        if isinstance(error, KgotError) or what == "write":
            raise
        raise UsageError(f"{name} cannot be read: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise UsageError(f"{name} is no {provider.name} file: it is not UTF-8 text") from None
    except Exception as error:  # whatever a plugin can raise
        raise PluginError(f"the format {provider.name} cannot {what} {name}: {said(error)}") from error


def _put(part: Path, path: Path) -> None:
    if part.is_dir():
        path.mkdir(exist_ok=True)
        for file in part.iterdir():
            file.replace(path / file.name)
    elif path.is_dir():
        raise UsageError(f"{path} is a folder", hint="name a file in it")
    else:
        part.replace(path)
