"""Turns the report of a script, which is untrusted, into a change with neutral ids."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kgot_core.graph.elements import Edge, Element, GraphChange, Node
from kgot_core.graph.values import Iri, LangText, Properties, TypedText, Value, decode_properties, plain_text
from kgot_networkx.record import GraphRecord, Step


def read_report(record: GraphRecord, report: Any) -> Step:
    """Compares what a script touched with what is recorded.

    Args:
        record: The graph before the script.
        report: What ``kgot_networkx.jail.report`` wrote, from a process that the script could change.

    Raises:
        ValueError: The report is not of that form.
    """
    try:
        return _Reading(record, report).step()
    except (TypeError, KeyError, AttributeError, IndexError) as error:
        raise ValueError(f"the script's report cannot be read ({type(error).__name__})") from None


def text(raw: Any) -> str:
    """Takes a text that must be one and not empty."""
    if not isinstance(raw, str) or not raw.strip():
        raise ValueError(f"a text was expected in the script's report, not {raw!r:.100}")
    return raw


class _Reading:
    def __init__(self, record: GraphRecord, report: Mapping[str, Any]) -> None:
        self._record = record
        self._mint = record.minter()
        self._node_entries: Sequence[Any] = report["nodes"]
        self._pair_entries: Sequence[Any] = report["pairs"]
        self._ids: dict[str, str] = {}
        self._added: list[Element] = []
        self._changed: list[Element] = []
        self._removed: dict[str, None] = {}
        self._edge_keys: dict[str, int] = {}

    def step(self) -> Step:
        for entry in self._node_entries:
            self._read_node(*entry)
        for entry in self._pair_entries:
            self._read_pair(*entry)
        change = GraphChange(tuple(self._added), tuple(self._changed), tuple(self._removed))
        return Step(change, self._edge_keys)

    def _read_node(self, raw_key: Any, labels: Any = None, raw: Any = None) -> None:
        key = text(raw_key)
        if key in self._ids:
            raise ValueError("a node stands twice in the script's report")
        node_id = self._record.id_of(key)
        if labels is None:
            if node_id:
                self._remove_node(node_id)
            return
        old = self._record.node(node_id)
        properties = _properties(raw, old.properties if old else {})
        self._ids[key] = node_id or self._mint("n")
        node = Node(self._ids[key], tuple(text(label) for label in labels), properties, key)
        if old is None:
            self._added.append(node)
        elif not node.same_as(old):
            self._changed.append(node)

    def _remove_node(self, node_id: str) -> None:
        self._removed[node_id] = None
        self._removed.update(dict.fromkeys(self._record.edges_at(node_id)))

    def _end(self, raw_key: Any) -> str:
        key = text(raw_key)
        node_id = self._ids.get(key) or self._record.id_of(key)
        return "" if node_id in self._removed else node_id

    def _read_pair(self, raw_source: Any, raw_target: Any, edges: Any) -> None:
        source, target = self._end(raw_source), self._end(raw_target)
        if not source or not target:
            if edges:
                raise ValueError("an edge in the script's report has no node")
            return
        known = self._record.between(source, target)
        listed: set[int] = set()
        for key, kind, raw in edges:
            if type(key) is not int or key in listed:
                raise ValueError("an edge in the script's report has no key of its own")
            listed.add(key)
            self._read_edge(known.get(key, ""), key, Edge("", text(kind), source, target, raw))
        self._removed.update({edge_id: None for key, edge_id in known.items() if key not in listed})

    def _read_edge(self, edge_id: str, key: int, raw: Edge) -> None:
        old = self._record.edge(edge_id)
        properties = _properties(raw.properties, old.properties if old else {})
        edge = Edge(edge_id or self._mint("e"), raw.type, raw.source, raw.target, properties)
        self._edge_keys[edge.id] = key
        if old is None:
            self._added.append(edge)
        elif not edge.same_as(old):
            self._changed.append(edge)


def _properties(raw: Any, old: Properties) -> dict[str, Value]:
    properties = decode_properties(raw)
    return {name: _keep_kind(value, old.get(name)) for name, value in properties.items()}


def _keep_kind(value: Value, old: Value | None) -> Value:
    """Keeps an IRI, a language or a datatype where a sandbox without such values gave its text back."""
    if isinstance(value, str) and isinstance(old, Iri | LangText | TypedText) and plain_text(old) == value:
        return old
    if isinstance(value, tuple) and isinstance(old, tuple) and len(value) == len(old):
        return tuple(_keep_kind(new, before) for new, before in zip(value, old, strict=True))  # type: ignore[misc]
    return value
