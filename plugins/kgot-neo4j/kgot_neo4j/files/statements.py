"""A graph as Cypher statements, for cypher-shell or the browser."""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

from kgot_core.graph.elements import GraphSnapshot
from kgot_core.graph.losses import Losses
from kgot_core.graph.values import Value
from kgot_neo4j.cypher.tokens import ticked
from kgot_neo4j.files.stored import Stored, to_stored

T = TypeVar("T")
# Edges find their nodes by this label and property, which go again at the end.
_LABEL, _ID = "`_KGOT_IMPORT`", "`_kgot_import`"
_BATCH = 500
_ESCAPED = re.compile(r"""[\\'\x00-\x1f\x7f-\x9f\u2028\u2029]""")
_SHORT = {"\\": "\\\\", "'": "\\'", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def write_statements(settings: Any, graph: GraphSnapshot, path: Path, losses: Losses) -> None:
    """Writes statements that make the graph; run twice, they make it twice."""
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(f"{statement};\n" for statement in _statements(graph, losses))


def _statements(graph: GraphSnapshot, losses: Losses) -> Iterator[str]:
    if not graph.nodes:
        return
    yield f"CREATE CONSTRAINT kgot_import IF NOT EXISTS FOR (n:{_LABEL}) REQUIRE n.{_ID} IS UNIQUE"
    nodes: dict[tuple[str, ...], list[str]] = {}
    numbers = {node.id: number for number, node in enumerate(graph.nodes)}
    for node in graph.nodes:
        stored = to_stored(node, losses, apoc=False)
        nodes.setdefault(stored.labels, []).append(f"{{id: {numbers[node.id]}, p: {_map(stored)}}}")
    for labels, rows in nodes.items():
        text = "".join(f":{ticked(label)}" for label in labels)
        for part in _parts(rows):
            yield f"UNWIND [{part}] AS row\nCREATE (n:{_LABEL}{text}) SET n = row.p SET n.{_ID} = row.id"
    edges: dict[str, list[str]] = {}
    for edge in graph.edges:
        stored = to_stored(edge, losses, apoc=False)
        row = f"{{a: {numbers[edge.source]}, b: {numbers[edge.target]}, p: {_map(stored)}}}"
        edges.setdefault(stored.name, []).append(row)
    for type_, rows in edges.items():
        for part in _parts(rows):
            yield (
                f"UNWIND [{part}] AS row\nMATCH (a:{_LABEL} {{{_ID}: row.a}}) MATCH (b:{_LABEL} {{{_ID}: row.b}})\n"
                f"CREATE (a)-[r:{ticked(type_)}]->(b) SET r = row.p"
            )
    yield f"MATCH (n:{_LABEL}) REMOVE n.{_ID} REMOVE n:{_LABEL}"
    yield "DROP CONSTRAINT kgot_import IF EXISTS"


def _parts(rows: Sequence[str]) -> Iterable[str]:
    for first in range(0, len(rows), _BATCH):
        yield "\n  " + ",\n  ".join(rows[first : first + _BATCH]) + "\n"


def _map(stored: Stored) -> str:
    return "{" + ", ".join(f"{ticked(name)}: {written(value)}" for name, value in stored.properties.items()) + "}"


def written(value: Value) -> str:
    """Gives a value that Neo4j has a type for as an expression."""
    if isinstance(value, tuple):
        return f"[{', '.join(map(written, value))}]"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return repr(value) if math.isfinite(value) else ("1.0/0.0" if value > 0 else "-1.0/0.0")
    if isinstance(value, int):
        return str(value)
    if isinstance(value, datetime.datetime):
        return f"{'datetime' if value.tzinfo else 'localdatetime'}('{value.isoformat()}')"
    if isinstance(value, datetime.time):
        return f"{'time' if value.tzinfo else 'localtime'}('{value.isoformat()}')"
    if isinstance(value, datetime.date):
        return f"date('{value.isoformat()}')"
    return f"'{_ESCAPED.sub(_escape, str(value))}'"


def _escape(found: re.Match[str]) -> str:
    return _SHORT.get(found[0]) or f"\\u{ord(found[0]):04X}"
