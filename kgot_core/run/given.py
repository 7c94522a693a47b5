"""The graph that a run starts from: checked, known by a digest, and taken into the store before the first request."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from kgot_core.errors import QueryError, StoreError, UsageError
from kgot_core.events import Notice
from kgot_core.graph.elements import GraphSnapshot, snapshot_to_json
from kgot_core.graph.joining import join
from kgot_core.graph.soundness import faults
from kgot_core.graph.values import JsonValue
from kgot_core.run.desks.graph import GraphDesk
from kgot_core.run.ids import new_ids
from kgot_core.run.record.journal import Journal

STEP = "given"
SECONDS_PER_ELEMENT = 0.002


@dataclass(frozen=True)
class GivenGraph:
    """A given graph.

    Attributes:
        name: What it is called in messages: its file or run.
        digest: Hash of its content, 16 hexadecimal digits.
        left_out: Lines about what its file holds and a graph cannot.
        snapshot: The graph; ``None`` where a run is repeated from its record.
    """

    name: str
    digest: str
    left_out: Sequence[str] = ()
    snapshot: GraphSnapshot | None = None

    @classmethod
    def of(cls, name: str, snapshot: GraphSnapshot, left_out: Iterable[str] = ()) -> GivenGraph:
        """Checks a graph and finds its digest.

        Raises:
            UsageError: The graph is not sound.
        """
        if wrong := faults(snapshot):
            raise UsageError(f"the graph {name} cannot be used: {wrong[0]}")
        text = json.dumps(snapshot_to_json(snapshot), sort_keys=True, ensure_ascii=True)
        return cls(name, hashlib.sha256(text.encode()).hexdigest()[:16], tuple(left_out), snapshot)

    def to_json(self) -> dict[str, JsonValue]:
        """Gives what the record of a run says of it; its content is in the record of the write."""
        return {"name": self.name, "digest": self.digest, "left_out": list(self.left_out)}


async def take_given(journal: Journal, desk: GraphDesk, given: GivenGraph, seconds: float) -> None:
    """Takes a given graph into the store.

    Args:
        journal: The run's journal.
        desk: The run's graph.
        given: The given graph.
        seconds: Time limit of an ordinary call of the store; a large graph gets more.

    Raises:
        StoreError: The store cannot hold an element; the message names it.
    """
    for line in given.left_out:
        journal.emit(STEP, Notice(text=line))
    change = join(given.snapshot, desk.state, new_ids(desk)) if given.snapshot is not None else None
    try:
        await desk.fill(STEP, given.digest, change, seconds + SECONDS_PER_ELEMENT * (change.size if change else 0))
    except QueryError as error:
        raise StoreError(f"the store cannot take the graph {given.name}: {error}") from None
