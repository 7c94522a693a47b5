"""What a script did to the graph, as data: the touched nodes and node pairs in their new state."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kgot_networkx.jail.values import kg_edge, kg_key, kg_node

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    KgSuccessors = Mapping[Any, Mapping[Any, Mapping[Any, Mapping[Any, Any]]]]


def kg_again(key: str, old: Mapping[Any, Any], new: dict[Any, Any]) -> dict[Any, Any]:
    """Gives what a node that is added again gets; raises ValueError where it would become another thing."""
    before = old.get("label")
    now = new.get("label")
    if not isinstance(before, str) or not isinstance(now, str) or not before.strip():
        return new
    if now.strip() and before.strip().casefold() != now.strip().casefold():
        raise ValueError(
            f'"{key}" is already a node with label "{before}". For another thing of that name use another node, such '
            f'as "{key} ({now})"; to correct the label write G.nodes["{key}"]["label"] = "{now}"'
        )
    return {**new, "label": before}


def kg_report_nodes(nodes: Mapping[Any, Mapping[Any, Any]], touched: Iterable[Any], known: Any) -> list[Any]:
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
            present[key].update(kg_again(key, present[key], dict(nodes[raw])))
    listed = [[key] for key in gone if key not in present and key not in nodes]
    return listed + [kg_node(key, attributes, key not in known) for key, attributes in present.items()]


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
    known: Any,
) -> dict[str, Any]:
    """Gives the change of a script that touched these nodes and pairs; ``known`` holds the nodes from before it."""
    return {
        "nodes": kg_report_nodes(nodes, touched_nodes, known),
        "pairs": kg_report_pairs(successors, touched_pairs),
    }
