"""Brings the store and the files of a run that goes on to where its record ends."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from typing import Any

from kgot_core.contracts.backend import Call, GraphBackend, OpenContext
from kgot_core.contracts.model import ToolSpec
from kgot_core.errors import Refused, ReplayDiverged
from kgot_core.events import GraphOpened, GraphWritten
from kgot_core.graph.elements import GraphChange, change_from_json, snapshot_from_json
from kgot_core.graph.fold import TaskGraph, compare
from kgot_core.run.record.journal import Journal

FORCE = "go on all the same with --force (library: force=True)"


def restore_store(
    journal: Journal,
    opened: GraphOpened,
    context: OpenContext,
    seconds: float,
    open_backend: Callable[[OpenContext], GraphBackend],
) -> GraphBackend:
    """Opens the store and sets it to what the record says: what it held at first, then each recorded change.

    The changes are applied one by one, so that the store's own numbering comes to where it was. No statement is run.

    Args:
        journal: The run's journal.
        opened: How the store was opened at first.
        context: What it is opened with.
        seconds: Time limit of one call.
        open_backend: Opens it.

    Raises:
        StoreError: The store cannot be opened, or holds something already.
        ReplayDiverged: It speaks another language than before, or cannot hold the graph as it was.
    """
    backend = open_backend(replace(context, resume=True))
    if journal.strict and journal.plain(asdict(backend.dialect)) != opened.dialect:
        raise ReplayDiverged(f"the guide or language of the backend {opened.backend} has changed", hint=FORCE)
    first = snapshot_from_json(opened.snapshot)
    changes = [GraphChange(added=tuple(first.elements()))]
    changes += [change_from_json(event.change) for _, event in journal.recorded.events(GraphWritten) if not event.error]
    wanted = TaskGraph()
    for change in changes:
        wanted.apply(change)
    held = backend.snapshot()
    if not compare(wanted.snapshot(), held):
        return backend
    if held.nodes:
        raise Refused(
            f"the store holds {len(held.nodes)} nodes already, so the run's graph cannot be restored there",
            hint="resume it with an empty store, or begin anew",
        )
    for number, change in enumerate(changes):
        if change:
            backend.apply(change, Call(f"{journal.run}:restore-{journal.recorded.resumed}-{number}", seconds))
    if journal.strict and (difference := compare(wanted.snapshot(), backend.snapshot())):
        raise ReplayDiverged(
            f"the store cannot hold the graph as it was: {difference.size} elements differ", hint=FORCE
        )
    return backend


def check_tools(recorded: Mapping[str, ToolSpec], now: Mapping[str, ToolSpec]) -> None:
    """Makes sure that the tools which the run offered are still there, as they were.

    Raises:
        ReplayDiverged: One is not.
    """
    for name, spec in recorded.items():
        if name not in now:
            raise ReplayDiverged(f"the tool {name} of this run is not there any more", hint=FORCE)
        if _plain(spec) != _plain(now[name]):
            raise ReplayDiverged(f"the tool {name} is described in another way than when the run began", hint=FORCE)


def _plain(spec: ToolSpec) -> Any:
    return spec.name, spec.description, dict(spec.parameters)
