"""A graph store. Plain synchronous Python; the core calls it on threads of its own."""

from __future__ import annotations

import enum
from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from kgot_core.contracts.dialect import Dialect
from kgot_core.contracts.sandbox import Sandbox
from kgot_core.graph.elements import GraphChange, GraphSnapshot
from kgot_core.graph.values import JsonValue

Row: TypeAlias = Mapping[str, JsonValue]


ScopeMode: TypeAlias = Literal["new", "keep", "read_only"]


class Feature(enum.Enum):
    """What a store's graphs can hold; what is missing must be refused or reported, never lost silently."""

    SEVERAL_LABELS = "several labels on a node"
    PARALLEL_EDGES = "parallel edges of one type"
    EDGE_PROPERTIES = "properties on edges"
    LIST_PROPERTIES = "properties with several values"
    FREE_SCHEMA = "labels and types that were not declared"


@dataclass(frozen=True)
class Call:
    """One call of a backend.

    Attributes:
        id: The call's place in the run, the same after a resume. A write whose id was applied before is not
            applied again.
        seconds: Wall time that the call may take; the core cancels it afterwards.
        rows: Rows that a query may return; more are cut off.
    """

    id: str
    seconds: float = 30.0
    rows: int = 1_000


@dataclass(frozen=True)
class GraphScope:
    """The part of a store that belongs to one run; two scopes never see each other.

    ``new`` starts empty. ``keep`` goes on with what is there, and leaves it there when it is closed. ``read_only``
    shows what is there and refuses writes; a store that keeps nothing may be filled by ``apply``.

    Attributes:
        name: The run's id, or the name of the graph that is kept.
        mode: What is to become of what the scope holds.
    """

    name: str
    mode: ScopeMode = "new"


@dataclass(frozen=True)
class OpenContext:
    """What a backend is opened with.

    Attributes:
        scope: The graph to open.
        folder: A folder of the run for the backend's own files, ``None`` for a run in memory.
        resume: The run goes on: a ``new`` graph starts empty, and the core fills it by ``apply``, change by change. No
            id that comes in so is given again, also where its element was removed. The notes of the run's calls in a
            graph that is kept stay.
        slot: Leased server of a pool, empty where there is none.
        run: Id of the run, for messages; empty where the scope's name is it.
        sandbox: Where the backend may run model-written Python.
    """

    scope: GraphScope
    sandbox: Sandbox
    folder: Path | None = None
    resume: bool = False
    slot: str = ""
    run: str = ""


class GraphBackend(ABC):
    """One open graph of one run (paper, sections 2.4 and 3.1).

    Attributes:
        dialect: The language of ``write`` and ``query`` as shown to the model.
        concurrency: How many writes may run at once.
        features: What the store's graphs can hold.
    """

    dialect: Dialect
    concurrency: int = 1
    features: frozenset[Feature] = frozenset(Feature)

    @abstractmethod
    def write(self, chain: str, call: Call) -> GraphChange | None:
        """Runs one block of statements as one transaction.

        Args:
            chain: The text of one fenced block; one or several statements, untrusted.
            call: Id and limits.

        Returns:
            What changed; ``None`` lets the core compare snapshots.

        Raises:
            QueryError: The statement's fault. Nothing was changed.
            StoreUnavailable: The store is away.
        """

    @abstractmethod
    def query(self, statement: str, call: Call) -> Sequence[Row]:
        """Runs a reading statement. The graph is the same afterwards, whatever the statement tries.

        Returns:
            Rows of JSON values, in the store's order only where the query orders; empty means nothing found.

        Raises:
            QueryError: The statement's fault, writing included.
            StoreUnavailable: The store is away.
        """

    @abstractmethod
    def apply(self, change: GraphChange, call: Call) -> None:
        """Takes neutral elements in, with their ids: facts, restore, a given graph, undo.

        An added or changed element with a known id replaces it. A node's ``key`` may be empty: the backend then
        gives it one, and reports it in the next snapshot or change.

        Raises:
            QueryError: An element cannot be held; the message names it. Nothing was changed.
        """

    @abstractmethod
    def snapshot(self) -> GraphSnapshot:
        """Gives the whole graph with its neutral ids."""

    def noted_calls(self) -> Collection[str]:
        """Gives the ids of the run's calls whose writes the store itself notes as done, by whatever process.

        Asked where a run goes on with a graph that is kept: what it had written last may not be in its record. A store
        that keeps no such notes gives none, and such a run then ends.
        """
        return ()

    def cancel(self) -> None:  # noqa: B027 - a default: the core then gives the handle up
        """Makes running calls raise within a second; called from another thread."""

    @abstractmethod
    def close(self) -> None:
        """Gives everything back. Idempotent."""
