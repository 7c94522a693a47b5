"""The snapshot: a graph as JSON that keeps everything, the same for every backend (docs/snapshot.schema.json)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kgot_core.errors import UsageError
from kgot_core.graph.elements import SNAPSHOT_VERSION, GraphSnapshot, snapshot_from_json, snapshot_to_json
from kgot_core.graph.losses import Losses

_TEXTS = {"nodes": ("id",), "edges": ("id", "type", "source", "target")}


def write_snapshot(settings: Any, graph: GraphSnapshot, path: Path, losses: Losses) -> None:
    """Writes a graph with an element on each line; nothing is lost."""
    data = snapshot_to_json(graph)
    parts = [f'{{\n"version": {data["version"]}']
    for name in ("nodes", "edges"):
        lines = ",\n".join(json.dumps(item, ensure_ascii=False, allow_nan=False) for item in _list(data, name))
        parts.append(f'"{name}": [\n{lines}\n]' if lines else f'"{name}": []')
    path.write_text(",\n".join(parts) + "\n}\n", encoding="utf-8")


def read_snapshot(settings: Any, path: Path, losses: Losses) -> GraphSnapshot:
    """Reads a graph.

    Raises:
        UsageError: The file is no snapshot, is damaged, or was written by a newer version.
    """
    try:
        data = json.loads(path.read_text("utf-8-sig"))
    except RecursionError:
        raise UsageError(f"{path} is no snapshot: it is nested too deeply") from None
    except UnicodeDecodeError:
        raise
    except ValueError as error:
        raise UsageError(f"{path} is not JSON: {error}", hint=_HINT) from None
    if not isinstance(data, dict) or type(data.get("version")) is not int or "nodes" not in data:
        raise UsageError(f'{path} is no snapshot: it has no "version" and "nodes"', hint=_HINT)
    if data["version"] > SNAPSHOT_VERSION:
        raise UsageError(
            f"{path} is a snapshot of version {data['version']}; this kgot reads up to {SNAPSHOT_VERSION}",
            hint="update kgot-core",
        )
    for name in ("nodes", "edges"):
        for number, item in enumerate(_list(data, name), start=1):
            if trouble := _trouble(item, name):
                raise UsageError(f"{path} is no snapshot: {name[:-1]} {number} {trouble}")
    try:
        return snapshot_from_json(data)
    except (ValueError, LookupError, TypeError) as error:
        raise UsageError(f"{path} is no snapshot: {error}") from None


_HINT = "another format is named with --from, for example --from neo4j-json"


def _list(data: Mapping[str, Any], name: str) -> list[Any]:
    found = data.get(name, [])
    return found if isinstance(found, list) else [None]


def _trouble(item: Any, name: str) -> str:
    if not isinstance(item, dict):
        return "is not an object"
    for field in _TEXTS[name]:
        if not isinstance(item.get(field), str):
            return f'has no text "{field}"'
    if name == "nodes" and "type" in item:
        return 'has a "type", which only edges have'
    labels = item.get("labels", [])
    if not isinstance(labels, list) or not all(isinstance(label, str) for label in labels):
        return 'has "labels" that are no list of texts'
    if not isinstance(item.get("properties", {}), dict):
        return 'has "properties" that are no object'
    if not isinstance(item.get("key", ""), str) or not isinstance(item.get("inferred", False), bool):
        return 'has a wrong "key" or "inferred"'
    return ""
