"""A small, correct graph backend in memory, for tests of whatever needs one. Writes are facts, queries are ``FIND``."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from kgot_core.contracts.backend import Call, GraphBackend, OpenContext, Row
from kgot_core.contracts.dialect import Dialect, QueryExample
from kgot_core.errors import QueryError, Refused, StoreUnavailable
from kgot_core.graph.elements import Edge, GraphChange, GraphSnapshot
from kgot_core.graph.facts import facts_to_change, read_lines
from kgot_core.graph.fold import TaskGraph
from kgot_core.testing.find_language import read_query, run_query

_STEPS = 256
_NUMBERED = re.compile(r"[ne]([0-9]{1,15})")

DIALECT = Dialect(
    language="facts",
    fence="facts",
    guide=(
        "One fact a line: a node `(Label: name)`, a property `(Label: name) key = value`, an edge"
        " `(Label: name) -[TYPE]-> (Label: name)`; `DELETE` before it takes it back.\n"
        "A query is `FIND ?variable ...` above such lines, with `?variable` for a name, a value or a type; a row for"
        " each way in which all lines hold."
    ),
    write_examples=(
        "(Lake: Vessel Tarn) depth = 88\n(River: Ashbrook) -[FLOWS_INTO]-> (Lake: Vessel Tarn)",
        "(Lake: Vessel Tarn) depth = 89\n(River: Mere Water) -[FLOWS_INTO since=1802]-> (Lake: Vessel Tarn)",
    ),
    query_examples=(
        QueryExample(
            "Into which lake does the Ashbrook flow, and how deep is it?",
            "FIND ?lake ?depth\n(River: Ashbrook) -[FLOWS_INTO]-> (Lake: ?lake)\n(?lake) depth = ?depth",
            "89",
            ("Vessel Tarn",),
        ),
        QueryExample(
            "Which rivers flow into Vessel Tarn?",
            "FIND ?river\n(River: ?river) -[FLOWS_INTO]-> (Lake: Vessel Tarn)",
            "Mere Water",
            ("Mere Water", "Vessel Tarn"),
        ),
    ),
    invalid_example="(River: Ashbrook -[FLOWS_INTO]-> ",
)
ENDLESS = "FIND ?a\n" + "\n".join(f"(?{letter})" for letter in "abcdefghijklmnopqrstuvwxyz")
"""A query with more ways to hold than can be tried."""


@dataclass
class MemoryStore:
    """Graphs by the name of their scope, as a server would hold them."""

    graphs: dict[str, TaskGraph] = field(default_factory=dict)


class MemoryBackend(GraphBackend):
    """An open graph.

    Args:
        context: The scope.
        store: Where graphs are kept between openings; one of its own, which ends with it, where ``None``.
    """

    dialect = DIALECT

    def __init__(self, context: OpenContext, store: MemoryStore | None = None) -> None:
        graphs = (store or MemoryStore()).graphs
        name = context.scope.name
        if context.scope.mode == "new":
            graphs[name] = TaskGraph()
        self._graph = graphs.setdefault(name, TaskGraph())
        self._read_only = context.scope.mode == "read_only"
        self._applied: dict[str, GraphChange] = {}
        self._lock = threading.Lock()
        self._cancels = 0
        self._minted = 0
        self._closed = False

    def write(self, chain: str, call: Call) -> GraphChange | None:
        """Takes facts in, all of a block or none."""
        if self._read_only:
            raise Refused("the graph was opened for reading only")
        with self._lock:
            self._check_open()
            if call.id not in self._applied:
                change = self._read(chain)
                self._graph.apply(change)
                self._applied[call.id] = change
            return self._applied[call.id]

    def query(self, statement: str, call: Call) -> Sequence[Row]:
        """Runs a ``FIND`` query."""
        cancels, end, steps = self._cancels, time.monotonic() + call.seconds, 0

        def step() -> None:
            nonlocal steps
            steps += 1
            if self._cancels != cancels:
                raise QueryError("the query was cancelled")
            if steps % _STEPS == 0 and time.monotonic() > end:
                raise QueryError("the query took too long")

        with self._lock:
            self._check_open()
            return run_query(read_query(statement), self._graph, call.rows, step)

    def apply(self, change: GraphChange, call: Call) -> None:
        """Takes neutral elements in."""
        with self._lock:
            self._check_open()
            if call.id in self._applied:
                return
            folded = TaskGraph(self._graph.snapshot())
            folded.apply(change)
            for element in (*change.added, *change.changed):
                other = folded.node(element.id)
                if isinstance(element, Edge) and (other is not None or not self._has_ends(element, folded)):
                    raise QueryError(f"the edge {element.id} has no node at an end, or the id of a node")
            self._graph.apply(change)
            self._applied[call.id] = change
            self._count(change)

    def snapshot(self) -> GraphSnapshot:
        """Gives the whole graph."""
        with self._lock:
            return self._graph.snapshot()

    def cancel(self) -> None:
        """Ends the running query."""
        self._cancels += 1

    def close(self) -> None:
        """Ends the use of the graph; the store keeps it."""
        self._closed = True

    def _check_open(self) -> None:
        if self._closed:
            raise StoreUnavailable("the graph is closed")

    def _read(self, chain: str) -> GraphChange:
        reading = read_lines(chain.splitlines())
        result = facts_to_change(reading.facts, self._graph, self._new_id)
        for problem in (*reading.problems, *result.problems):
            raise QueryError(f"{problem.reason}: {problem.text[:120]}", problem.line)
        if not reading.facts:
            raise QueryError("there is no fact in it")
        return result.change

    def _count(self, change: GraphChange) -> None:
        """Goes on from ids that are brought: none is given again, also where its element is removed later."""
        numbers = (_NUMBERED.fullmatch(element.id) for element in (*change.added, *change.changed))
        self._minted = max(self._minted, *(int(found[1]) for found in numbers if found), 0)

    def _new_id(self, letter: str) -> str:
        while True:
            self._minted += 1
            if self._graph.get(f"{letter}{self._minted}") is None:
                return f"{letter}{self._minted}"

    @staticmethod
    def _has_ends(edge: Edge, graph: TaskGraph) -> bool:
        return graph.node(edge.source) is not None and graph.node(edge.target) is not None
