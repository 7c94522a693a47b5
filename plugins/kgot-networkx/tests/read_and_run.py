"""What reading a script of plain statements gives, and what running it gives."""

from __future__ import annotations

import networkx as nx

from kgot_core.graph.elements import GraphChange
from kgot_networkx.jail.full import Workbench
from kgot_networkx.plain import plain_change
from kgot_networkx.reading import read_report
from kgot_networkx.record import GraphRecord
from kgot_networkx.script import prepare

BASE = {
    "nodes": [
        ["a", ["L"], {"name": "a", "tags": ["x", "y"], "n": 1}],
        ["b", ["L"], {"name": "b", "day": {"@date": "2020-01-02"}}],
        ["5", [], {"name": "5"}],
        ["5, c", ["M"], {"name": "pair"}],
    ],
    "pairs": [
        ["a", "b", [[0, "T", {"n": 1}], [1, "T", {"n": 2}], [3, "U", {}]]],
        ["b", "b", [[0, "LOOP", {"n": 3}]]],
        ["5", "a", [[0, "T", {}]]],
    ],
}


def filled_record() -> GraphRecord:
    record = GraphRecord()
    record.fold(read_report(record, BASE))
    return record


def read(code: str) -> GraphChange | None:
    """Gives what is read from a script; ``None`` where it has to be run."""
    record = filled_record()
    steps = prepare(code, limit=100_000, query=False, subset=False).steps
    step = plain_change(record, steps) if steps else None
    return None if step is None else step.change


def run(code: str) -> GraphChange:
    """Gives what running a script does."""
    record, bench = filled_record(), Workbench()
    bench.commit(BASE, 1)
    names = {"G": bench.begin(1), "nx": nx}
    exec(prepare(code, limit=100_000, query=False, subset=False).code, names)  # noqa: S102
    return read_report(record, bench.report(names["G"], False)).change
