"""Duplicates in a graph: which elements say the same, and the change that merges them (paper, B.6.2)."""

from __future__ import annotations

import dataclasses
import re
import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TypeVar

from kgot_core.graph.elements import Edge, Element, GraphChange, Node
from kgot_core.graph.fold import TaskGraph
from kgot_core.graph.values import Properties, Value, plain_text, same_value

_WORD = re.compile(r"\w+")
NAMES = ("name", "title", "text", "label", "id")
Alike = Callable[[Node, Node], bool]
E = TypeVar("E", Node, Edge)


@dataclass(frozen=True)
class Merged:
    """A graph without its duplicates.

    Attributes:
        change: What makes the graph so; empty where it has none.
        reasons: Why each element is taken out, by its id; empty for an edge that was moved to the node that stays.
    """

    change: GraphChange = field(default_factory=GraphChange)
    reasons: dict[str, str] = field(default_factory=dict)


def merge_duplicates(graph: TaskGraph, new_id: Callable[[str], str], alike: Alike | None = None) -> Merged:
    """Merges nodes, then edges, that say the same; the oldest of them stays and takes over what the others add.

    Two nodes are the same where their labels are, one's name is the other's but for case, spaces and punctuation, and
    no property contradicts. What the store inferred is left alone.

    Args:
        graph: The graph; it is not touched.
        new_id: Makes a new id from ``"e"``, for edges that are moved to the node that stays.
        alike: Tells whether two nodes without a common name say the same all the same.
    """
    nodes = [node for node in graph.nodes if not node.inferred]
    kept, stays, reasons = _same_nodes(nodes, alike)
    changed: list[Element] = [node for node in kept if not node.same_as(graph.get(node.id) or node)]
    added, dropped, replaced = _edges(graph, stays, new_id, reasons)
    change = GraphChange(tuple(added), (*changed, *replaced), (*dropped, *stays))
    return Merged(change, reasons) if change else Merged()


def node_name(node: Node) -> str:
    """Gives what a node is called, in lower case without punctuation; empty where it has no name."""
    said = next((plain_text(node.properties[name]) for name in NAMES if name in node.properties), node.key)
    return " ".join(_WORD.findall(unicodedata.normalize("NFKC", said).casefold()))


def agree(left: Node, right: Node) -> bool:
    """Tells whether two nodes have the same labels and no property whose values differ, names apart."""
    if {label.casefold() for label in left.labels} != {label.casefold() for label in right.labels}:
        return False
    common = (left.properties.keys() & right.properties.keys()) - set(NAMES)
    return all(same_value(left.properties[name], right.properties[name]) for name in common)


def _same_nodes(nodes: list[Node], alike: Alike | None) -> tuple[list[Node], dict[str, str], dict[str, str]]:
    """Finds the nodes that stay, with what they take over, and for each that goes the one that stays, and why."""
    stays: dict[str, str] = {}
    reasons: dict[str, str] = {}
    kept: dict[str, Node] = {}
    by_name: dict[str, list[str]] = {}
    for node in nodes:
        name = node_name(node)
        called = (kept[other] for other in by_name.get(name, ()))
        same = next((other for other in called if name and agree(other, node)), None)
        reason = "it says the same as an older node"
        if same is None and alike is not None:
            same = next((other for other in kept.values() if agree(other, node) and alike(other, node)), None)
            reason = "it says nearly the same as an older node"
        if same is None:
            kept[node.id] = node
            by_name.setdefault(name, []).append(node.id)
        else:
            # What comes later is compared with all that the node says by now.
            kept[same.id] = _with(same, node.properties)
            stays[node.id], reasons[node.id] = same.id, reason
    return list(kept.values()), stays, reasons


def _edges(
    graph: TaskGraph, stays: dict[str, str], new_id: Callable[[str], str], reasons: dict[str, str]
) -> tuple[list[Edge], list[str], list[Edge]]:
    """Moves edges to the nodes that stay and merges those that say the same: added, removed and changed ones."""
    kept: dict[tuple[str, str, str], list[Edge]] = {}
    dropped: list[str] = []
    for edge in graph.edges:
        if edge.inferred:
            continue
        source, target = stays.get(edge.source, edge.source), stays.get(edge.target, edge.target)
        moved = (source, target) != (edge.source, edge.target)
        group = kept.setdefault((edge.type.casefold(), source, target), [])
        same = next((other for other in group if _agreeing(other.properties, edge.properties)), None)
        if same is not None:
            group[group.index(same)] = _with(same, edge.properties)
            reasons[edge.id] = "it says the same as an older edge"
        elif moved:
            group.append(dataclasses.replace(edge, id=new_id("e"), source=source, target=target))
            reasons[edge.id] = ""
        else:
            group.append(edge)
            continue
        dropped.append(edge.id)
    present = [edge for group in kept.values() for edge in group]
    added = [edge for edge in present if graph.get(edge.id) is None]
    changed = [edge for edge in present if (before := graph.get(edge.id)) and not edge.same_as(before)]
    return added, dropped, changed


def _agreeing(left: Properties, right: Properties) -> bool:
    return all(same_value(left[name], right[name]) for name in left.keys() & right.keys())


def _with(element: E, more: Properties) -> E:
    """Adds the properties that an element does not have."""
    new: dict[str, Value] = {name: value for name, value in more.items() if name not in element.properties}
    return dataclasses.replace(element, properties={**element.properties, **new}) if new else element


def texts_of(nodes: Iterable[Node]) -> list[str]:
    """Gives each node as the text by which nodes are compared: all its values."""
    return [" ".join(plain_text(value) for value in node.properties.values()) or node.key for node in nodes]
