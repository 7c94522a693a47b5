"""A graph as the lines of ``apoc.export.json.all``, which ``apoc.import.json`` takes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from kgot_core.errors import QueryError, UsageError
from kgot_core.graph.elements import Edge, GraphSnapshot, Node
from kgot_core.graph.ids import Ids
from kgot_core.graph.losses import Losses
from kgot_core.graph.values import to_properties
from kgot_neo4j.files.stored import IMPORT_ID, MORE, edge_of, node_of, to_stored
from kgot_neo4j.values import BESIDE

# APOC takes these for ends of a line.
_ENDS = {ord(mark): f"\\u{ord(mark):04x}" for mark in "\x85\u2028\u2029"}


def write_lines(settings: Any, graph: GraphSnapshot, path: Path, losses: Losses) -> None:
    """Writes a line for each element; dates and times are text there."""
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(f"{json.dumps(line, ensure_ascii=False).translate(_ENDS)}\n" for line in _lines(graph, losses))


def _lines(graph: GraphSnapshot, losses: Losses) -> Iterator[dict[str, Any]]:
    ends: dict[str, dict[str, Any]] = {}
    for number, node in enumerate(graph.nodes):
        stored = to_stored(node, losses, apoc=True)
        ends[node.id] = {"id": str(number), **({"labels": stored.labels} if stored.labels else {})}
        yield {"type": "node", **ends[node.id], "properties": stored.properties}
    for number, edge in enumerate(graph.edges):
        stored = to_stored(edge, losses, apoc=True)
        line = {"type": "relationship", "id": str(number), "label": stored.name, "properties": stored.properties}
        yield {**line, "start": ends[edge.source], "end": ends[edge.target]}


def read_lines(settings: Any, path: Path, losses: Losses) -> GraphSnapshot:
    """Reads what we, or APOC in one line an element or as one array, have written.

    Raises:
        UsageError: The file is none of these; the message says where.
    """
    ids = Ids()
    nodes: dict[str, Node] = {}
    edges: list[Edge] = []
    for number, line in _parsed(path):
        try:
            if line["type"] == "node":
                node_id, labels = ids.give(str(line["id"]), "n"), tuple(map(str, line.get("labels") or ()))
                nodes[str(line["id"])] = node_of(node_id, labels, _raw(line, losses))
            elif line["type"] == "relationship":
                source, target = (nodes[str(line[end]["id"])].id for end in ("start", "end"))
                edge_id = ids.give("", "e")
                edges.append(edge_of(edge_id, str(line["label"]), source, target, _raw(line, losses)))
            else:
                raise ValueError(f"there is no type {line['type']!r}")
        except KeyError as error:
            raise UsageError(f"{path}, {number}: {error} is missing, or stands further down") from None
        except (ValueError, TypeError, AttributeError, QueryError) as error:
            raise UsageError(f"{path}, {number}: {error}") from None
    return GraphSnapshot(tuple(nodes.values()), tuple(edges))


def _parsed(path: Path) -> Iterable[tuple[str, Mapping[str, Any]]]:
    text = path.read_text("utf-8-sig")
    if text.lstrip().startswith("["):
        lines = [(f"element {number}", item) for number, item in enumerate(_loaded(text, str(path)), start=1)]
    else:
        # JSON lines end with \n only: other line ends may stand in texts.
        given = [(f"line {number}", line) for number, line in enumerate(text.split("\n"), start=1) if line.strip()]
        lines = [(number, _loaded(line, f"{path}, {number}")) for number, line in given]
    for number, line in lines:
        if not isinstance(line, dict) or "type" not in line:
            raise UsageError(
                f"{path}, {number}: no node or relationship of an APOC export",
                hint="a snapshot is read with --from snapshot",
            )
    return lines


def _loaded(text: str, where: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{where}: not JSON: {error}", hint="a snapshot is read with --from snapshot") from None


def _raw(line: Mapping[str, Any], losses: Losses) -> dict[str, Any]:
    """Gives the properties as a database would; maps, which are points there, flattened."""
    raw = dict(line.get("properties") or {})
    if IMPORT_ID in raw:
        del raw[IMPORT_ID]
        losses.add(f"{IMPORT_ID}, the mark of an import by APOC, is left out")
    kept = {name: value for name, value in raw.items() if name == MORE or name.startswith(BESIDE)}
    flat = to_properties({name: value for name, value in raw.items() if name not in kept})
    return {name: list(value) if isinstance(value, tuple) else value for name, value in flat.items()} | kept
