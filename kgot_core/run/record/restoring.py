"""Brings the store and the files of a run that goes on to where its record ends."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, replace
from typing import Any

from kgot_core.contracts.backend import Call, GraphBackend, OpenContext
from kgot_core.contracts.model import ToolSpec
from kgot_core.errors import Refused, ReplayDiverged
from kgot_core.events import GraphOpened, GraphWritten
from kgot_core.graph.elements import GraphChange, GraphSnapshot, change_from_json, snapshot_from_json
from kgot_core.graph.fold import TaskGraph, compare
from kgot_core.graph.nearest import nearest
from kgot_core.graph.same import pairing, unlike
from kgot_core.run.record.journal import Journal
from kgot_core.run.record.renamed import Renamed

FORCE = "go on all the same with --force (library: force=True)"
ANEW = "nothing is lost: a new run with --keep-graph goes on with what is there"


def restore_store(
    journal: Journal,
    opened: GraphOpened,
    context: OpenContext,
    seconds: float,
    open_backend: Callable[[OpenContext], GraphBackend],
) -> GraphBackend:
    """Opens the store and sets it to what the record says: what it held at first, then each recorded change.

    The changes are applied one by one, so that the store's own numbering comes to where it was. No statement is run.
    A graph that was kept is not set: it has to be as the run left it, and its elements get the ids that they had. It
    may hold more than the record where the store notes writes of the run that are not recorded.

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
    before, held = wanted.snapshot(), backend.snapshot()
    same = not compare(before, held)
    if same and context.scope.mode == "new":
        return backend
    if held.nodes or context.scope.mode != "new":
        ids = {element.id: element.id for element in held.elements()} if same else pairing(before, held)
        unrecorded = () if ids is not None or context.scope.mode == "new" else _unrecorded(journal, backend)
        if ids is None and unrecorded:
            ids = nearest(before, held)
        if ids is not None:
            used = (element_id for change in changes for element_id in _ids(change))
            return Renamed(backend, ids, used, unrecorded)
    if context.scope.mode != "new":
        raise Refused(_how_it_differs(before, held), hint=ANEW)
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


def _unrecorded(journal: Journal, backend: GraphBackend) -> tuple[str, ...]:
    """Gives the ids of the run's calls that the store has done and the record does not hold."""
    recorded = {f"{journal.run}:{step}" for step, _ in journal.recorded.events(GraphWritten)}
    return tuple(call for call in backend.noted_calls() if call.startswith(f"{journal.run}:") and call not in recorded)


def _ids(change: GraphChange) -> Iterator[str]:
    yield from (element.id for element in change.added)
    yield from change.removed


def _how_it_differs(wanted: GraphSnapshot, held: GraphSnapshot) -> str:
    differing = len(unlike(wanted, held))
    return (
        f"the graph that is kept is not as this run left it ({differing} elements differ): another run has written"
        " into it, or a write was broken off before it was recorded"
    )


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
