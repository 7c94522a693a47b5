"""Which element of a graph is which in a later state of it, where the two have no ids in common."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping

from kgot_core.graph.elements import Edge, GraphSnapshot, Node
from kgot_core.graph.same import edge_text, node_text

_NAMING = ("name", "title", "label", "id")
_Signed = list[tuple[str, Hashable]]


def nearest(first: GraphSnapshot, later: GraphSnapshot) -> dict[str, str]:
    """Pairs the elements that stayed, also those that changed; what was added or removed has no partner.

    Nodes are told apart by content and edges, then by content, then by key, then by labels and name; edges by their
    ends and content, then by their ends and type. Elements that are equal in that may stand for each other.

    Returns:
        Ids of the first graph by those of the later one.
    """
    found: dict[str, str] = {}
    for mine, other in zip(_nodes(first), _nodes(later), strict=True):
        _pair(found, mine, other)
    own = {node.id: node.id for node in first.nodes}
    for whole in (True, False):
        _pair(found, _edges(first.edges, own, whole), _edges(later.edges, found, whole))
    return found


def _pair(found: dict[str, str], mine: _Signed, other: _Signed) -> None:
    """Pairs what has the same sign and no partner yet."""
    taken = set(found.values())
    free: dict[Hashable, list[str]] = {}
    for element_id, sign in mine:
        if element_id not in taken and sign is not None:
            free.setdefault(sign, []).append(element_id)
    for element_id, sign in other:
        if element_id not in found and (partners := free.get(sign)):
            found[element_id] = partners.pop(0)


def _nodes(graph: GraphSnapshot) -> tuple[_Signed, ...]:
    """Gives the signs of nodes, the surest first."""
    texts = {node.id: node_text(node, True) for node in graph.nodes}
    near: dict[str, list[str]] = {}
    for edge in graph.edges:
        near.setdefault(edge.source, []).append(f"-> {texts[edge.target]} {edge_text(edge)}")
        near.setdefault(edge.target, []).append(f"<- {texts[edge.source]} {edge_text(edge)}")
    return (
        [(node.id, (texts[node.id], *sorted(near.get(node.id, ())))) for node in graph.nodes],
        [(node.id, texts[node.id]) for node in graph.nodes],
        [(node.id, node.key or None) for node in graph.nodes],
        [(node.id, _named(node)) for node in graph.nodes],
    )


def _named(node: Node) -> Hashable:
    name = next((repr(node.properties[name]) for name in _NAMING if name in node.properties), None)
    return None if name is None else (tuple(sorted(node.labels)), name)


def _edges(edges: Iterable[Edge], names: Mapping[str, str], whole: bool) -> _Signed:
    signed: _Signed = []
    for edge in edges:
        ends = names.get(edge.source), names.get(edge.target)
        sign = (*ends, edge.type, edge_text(edge) if whole else "")
        signed.append((edge.id, None if None in ends else sign))
    return signed
