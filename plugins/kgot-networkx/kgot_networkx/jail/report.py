"""What a script did to the graph, as data: the touched nodes and node pairs in their new state."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kgot_networkx.jail.values import kg_edge, kg_key, kg_node

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    KgSuccessors = Mapping[Any, Mapping[Any, Mapping[Any, Mapping[Any, Any]]]]


def kg_conflict(key: str, old: Any, new: Any) -> str:
    """Gives the message for a node that would get a second meaning; empty where the labels agree."""
    if not isinstance(old, str) or not isinstance(new, str):
        return ""
    old = old.strip()
    new = new.strip()
    if not old or not new or old.casefold() == new.casefold():
        return ""
    return (
        f'"{key}" is already a node with label "{old}". For another thing of that name use another node, such as '
        f'"{key} ({new})"; to correct the label write G.nodes["{key}"]["label"] = "{new}"'
    )


def kg_merge(key: str, old: dict[Any, Any], new: Mapping[Any, Any]) -> dict[Any, Any]:
    """Joins the attributes of nodes that have the same text, such as 5 and "5"."""
    message = kg_conflict(key, old.get("label"), new.get("label"))
    if message:
        raise ValueError(message)
    return {**old, **new}


def kg_report_nodes(nodes: Mapping[Any, Mapping[Any, Any]], touched: Iterable[Any]) -> list[Any]:
    """Gives ``[key, labels, properties]`` of each touched node that is there, ``[key]`` of each that has gone."""
    present: dict[str, dict[Any, Any]] = {}
    gone: list[str] = []
    for raw in touched:
        key = kg_key(raw)
        if raw not in nodes:
            gone.append(key)
            continue
        if key not in present:
            present[key] = dict(nodes[key]) if key in nodes else {}
        if raw != key:
            present[key] = kg_merge(key, present[key], nodes[raw])
    listed = [[key] for key in gone if key not in present and key not in nodes]
    return listed + [kg_node(key, attributes) for key, attributes in present.items()]


def kg_report_pair(source: str, target: str, parallel: list[Mapping[Any, Mapping[Any, Any]]]) -> list[Any]:
    """Gives ``[source, target, [[key, type, properties], ...]]`` with whole numbers as keys."""
    listed = []
    used: dict[int, bool] = {}
    loose = []
    for edges in parallel:
        for raw, attributes in edges.items():
            kind, properties = kg_edge(source, target, raw, attributes)
            if type(raw) is int and raw >= 0 and raw not in used:
                used[raw] = True
                listed.append([raw, kind, properties])
            else:
                entry = [0, kind, properties]
                loose.append(entry)
                listed.append(entry)
    free = 0
    for entry in loose:
        while free in used:
            free += 1
        used[free] = True
        entry[0] = free
    return [source, target, listed]


def kg_report_pairs(successors: KgSuccessors, touched: Iterable[tuple[Any, Any]]) -> list[Any]:
    """Gives all edges of each touched pair; none where they have gone."""
    groups: dict[tuple[str, str], dict[tuple[Any, Any], bool]] = {}
    for source, target in touched:
        pair = (kg_key(source), kg_key(target))
        if pair not in groups:
            groups[pair] = {pair: True}
        groups[pair][(source, target)] = True
    listed = []
    for pair, raw_pairs in groups.items():
        parallel = []
        for source, target in raw_pairs:
            if source in successors and target in successors[source]:
                parallel.append(successors[source][target])
        listed.append(kg_report_pair(pair[0], pair[1], parallel))
    return listed


def kg_report(
    nodes: Mapping[Any, Mapping[Any, Any]],
    successors: KgSuccessors,
    touched_nodes: Iterable[Any],
    touched_pairs: Iterable[tuple[Any, Any]],
) -> dict[str, Any]:
    """Gives the change of a script that touched these nodes and pairs."""
    return {
        "nodes": kg_report_nodes(nodes, touched_nodes),
        "pairs": kg_report_pairs(successors, touched_pairs),
    }
