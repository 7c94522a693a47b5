"""Allowed kinds of nodes and edges: the setting ``graph.schema``, for every backend alike."""

from __future__ import annotations

import difflib
import json
import tomllib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kgot_core.errors import UsageError
from kgot_core.graph.elements import Edge, GraphChange, Node
from kgot_core.graph.facts.show import mention_of, show_mention
from kgot_core.graph.fold import TaskGraph


@dataclass(frozen=True, slots=True)
class NodeType:
    """A kind of node; ``properties`` is ``None`` where any may be set."""

    label: str
    properties: frozenset[str] | None = None


@dataclass(frozen=True, slots=True)
class EdgeType:
    """A kind of edge; ``sources`` and ``targets`` are ``None`` where any node may stand there."""

    type: str
    sources: frozenset[str] | None = None
    targets: frozenset[str] | None = None
    properties: frozenset[str] | None = None


@dataclass(frozen=True, slots=True)
class GraphSchema:
    """What a graph may hold, by label and by type; ``None`` allows everything."""

    nodes: Mapping[str, NodeType] | None = None
    edges: Mapping[str, EdgeType] | None = None


def read_schema(source: Path | Mapping[str, Any]) -> GraphSchema:
    """Reads a schema from a JSON or TOML file, or from its data.

    ``nodes`` is a list of labels, or gives each label a list of its properties (or a table with ``properties``).
    ``edges`` is a list of types, or gives each type a table with ``from``, ``to`` and ``properties``, each a name or
    a list of names, all optional.

    Raises:
        UsageError: The file cannot be read, or does not have this form.
    """
    data = _load(source) if isinstance(source, Path) else source
    unknown = set(data) - {"nodes", "edges"}
    if unknown:
        raise UsageError(f"a graph schema has nodes and edges, not {', '.join(sorted(unknown))}")
    nodes = _entries(data.get("nodes"), "nodes")
    edges = _entries(data.get("edges"), "edges")
    node_types = edge_types = None
    if nodes is not None:
        node_types = {label: NodeType(label, _names(entry, label, "properties")) for label, entry in nodes.items()}
    if edges is not None:
        edge_types = {
            type_: EdgeType(type_, *(_names(entry, type_, part) for part in ("from", "to", "properties")))
            for type_, entry in edges.items()
        }
    _check_ends(node_types, edge_types)
    return GraphSchema(node_types, edge_types)


def check_change(change: GraphChange, graph: TaskGraph, schema: GraphSchema) -> tuple[str, ...]:
    """Finds what in a change the schema does not allow.

    Args:
        change: The change, not yet applied.
        graph: The graph before the change.
        schema: What is allowed.

    Returns:
        One message for each fault, which names the element and what is allowed instead; empty where all is well.
    """
    nodes = {node.id: node for node in graph.nodes}
    written = [*change.added, *change.changed]
    nodes |= {element.id: element for element in written if isinstance(element, Node)}
    messages: dict[str, None] = {}
    for element in written:
        found = _check_node(element, schema) if isinstance(element, Node) else _check_edge(element, nodes, schema)
        messages |= dict.fromkeys(found)
    return tuple(messages)


def schema_text(schema: GraphSchema) -> str:
    """Writes a schema for a prompt, one kind a line."""
    lines: list[str] = []
    for node in (schema.nodes or {}).values():
        allowed = f" with {_listed(node.properties)}" if node.properties else ""
        lines.append(f"node {node.label}{allowed}")
    for edge in (schema.edges or {}).values():
        ends = [f" from {_listed(edge.sources)}"] if edge.sources is not None else []
        ends += [f" to {_listed(edge.targets)}"] if edge.targets is not None else []
        ends += [f" with {_listed(edge.properties)}"] if edge.properties else []
        lines.append(f"edge {edge.type}{''.join(ends)}")
    return "\n".join(lines)


def _check_node(node: Node, schema: GraphSchema) -> list[str]:
    if schema.nodes is None:
        return []
    shown = show_mention(mention_of(node))
    if not node.labels:
        return [f"{shown}: it has no label; allowed are {_listed(schema.nodes)}"]
    messages = [
        f"{shown}: the label {label} is not allowed; {_instead(label, schema.nodes)}"
        for label in node.labels
        if label not in schema.nodes
    ]
    known = [schema.nodes[label] for label in node.labels if label in schema.nodes]
    if known and all(kind.properties is not None for kind in known):
        # A node's name stands for the node itself, in facts and in the text of the state.
        allowed = {"name", "title"}.union(*(kind.properties or () for kind in known))
        messages += _strange(shown, node.properties, allowed)
    return messages


def _check_edge(edge: Edge, nodes: Mapping[str, Node], schema: GraphSchema) -> list[str]:
    if schema.edges is None:
        return []
    ends = [nodes.get(end) for end in (edge.source, edge.target)]
    first, second = (show_mention(mention_of(node)) if node else "(unknown)" for node in ends)
    shown = f"{first} -[{edge.type}]-> {second}"
    kind = schema.edges.get(edge.type)
    if kind is None:
        return [f"{shown}: the relation {edge.type} is not allowed; {_instead(edge.type, schema.edges)}"]
    messages = []
    for node, allowed, verb in ((ends[0], kind.sources, "starts at"), (ends[1], kind.targets, "leads to")):
        if node is not None and allowed is not None and not allowed & set(node.labels):
            labels = " and ".join(node.labels) or "a node without label"
            messages.append(f"{shown}: {edge.type} {verb} {_listed(allowed)}, not {labels}")
    if kind.properties is not None:
        messages += _strange(shown, edge.properties, kind.properties)
    return messages


def _strange(shown: str, properties: Collection[str], allowed: Collection[str]) -> list[str]:
    return [
        f"{shown}: the property {name} is not allowed; {_instead(name, allowed)}"
        for name in properties
        if name not in allowed
    ]


def _instead(name: str, allowed: Collection[str]) -> str:
    if not allowed:
        return "there are none"
    plain = {other.casefold().replace("_", ""): other for other in sorted(allowed)}
    near = difflib.get_close_matches(name[:100].casefold().replace("_", ""), plain, n=1, cutoff=0.6)
    return f"use {plain[near[0]]}" if near else f"allowed are {_listed(allowed)}"


def _listed(names: Collection[str] | None) -> str:
    return ", ".join(sorted(names or ())) or "nothing"


def _load(path: Path) -> Mapping[str, Any]:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not UTF-8 text"
        raise UsageError(f"the graph schema {path} cannot be read: {reason}") from None
    try:
        data = tomllib.loads(text) if path.suffix == ".toml" else json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"the graph schema {path} is not valid: {error}") from None
    if not isinstance(data, dict):
        raise UsageError(f"the graph schema {path} is not a table with nodes and edges")
    return data


def _entries(data: object, part: str) -> dict[str, Mapping[str, Any]] | None:
    """Gives each name its table; a list of names gives empty tables, a list behind a name is its properties."""
    if data is None:
        return None
    if isinstance(data, list) and all(isinstance(name, str) and name for name in data):
        return {name: {} for name in data}
    if not isinstance(data, Mapping):
        raise UsageError(f"{part} in a graph schema is a list of names or a table")
    entries: dict[str, Mapping[str, Any]] = {}
    for name, entry in data.items():
        table = {"properties": entry} if isinstance(entry, list) and part == "nodes" else entry
        allowed = {"properties"} if part == "nodes" else {"from", "to", "properties"}
        if not isinstance(table, Mapping) or set(table) - allowed:
            raise UsageError(f"{part}.{name} in a graph schema is a table with {_listed(allowed)}")
        entries[str(name)] = table
    return entries


def _names(entry: Mapping[str, Any], name: str, part: str) -> frozenset[str] | None:
    value = entry.get(part)
    if value is None:
        return None
    names: Sequence[object] = [value] if isinstance(value, str) else value if isinstance(value, list) else [None]
    if not all(isinstance(item, str) and item for item in names):
        raise UsageError(f"{part} of {name} in a graph schema is a name or a list of names")
    return frozenset(str(item) for item in names)


def _check_ends(nodes: Mapping[str, NodeType] | None, edges: Mapping[str, EdgeType] | None) -> None:
    """Refuses an edge between kinds of nodes that the schema itself does not allow."""
    if nodes is None:
        return
    for edge in (edges or {}).values():
        strange = ((edge.sources or frozenset()) | (edge.targets or frozenset())) - set(nodes)
        if strange:
            raise UsageError(f"the edge {edge.type} of the graph schema names unknown nodes: {_listed(strange)}")
