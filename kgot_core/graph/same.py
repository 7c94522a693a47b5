"""Whether two graphs are the same up to identifiers, and what differs where they are not."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TypeAlias

from kgot_core.graph.elements import Edge, GraphSnapshot, Node
from kgot_core.graph.values import JsonValue, Properties, Value, encode

_Spot: TypeAlias = tuple[int, str]
_Colours: TypeAlias = dict[_Spot, int]
_Cells: TypeAlias = list[tuple[list[_Spot], list[_Spot]]]
_ONLY = ("only the first graph has", "only the second graph has")


def same_graph(first: GraphSnapshot, second: GraphSnapshot, *, keys: bool = False) -> bool:
    """Tells whether two graphs are the same but for their ids, whatever stores they come from.

    Args:
        first: One graph.
        second: The other.
        keys: The keys of nodes must be the same as well; they are a store's own way to refer to a node.
    """
    return not unlike(first, second, keys=keys)


def unlike(first: GraphSnapshot, second: GraphSnapshot, *, keys: bool = False) -> list[str]:
    """Lists what one of two graphs has and the other has not; empty where they are the same but for their ids.

    The order of nodes, edges, labels and properties does not count, nor the case of a language tag. NaN is itself,
    1 and 1.0 differ.
    """
    shown = [{node.id: node_text(node, keys) for node in graph.nodes} for graph in (first, second)]
    lines = [
        Counter([*names.values(), *(f"{names[e.source]} -> {names[e.target]}: {edge_text(e)}" for e in graph.edges)])
        for names, graph in zip(shown, (first, second), strict=True)
    ]
    found = [
        f"{only} {line}"
        for only, more in zip(_ONLY, (lines[0] - lines[1], lines[1] - lines[0]), strict=True)
        for line in sorted(more.elements())
    ]
    if not found and not _Matching(first, second, shown).possible():
        return ["both graphs have the same nodes and edges, joined in other ways"]
    return found


def pairing(first: GraphSnapshot, second: GraphSnapshot) -> dict[str, str] | None:
    """Finds which element of one graph is which of another, where both are the same but for their ids, with their keys.

    Elements that cannot be told apart may stand for each other in any way.

    Returns:
        The ids of the first graph by those of the second; ``None`` where the graphs are not the same.
    """
    shown = [{node.id: node_text(node, True) for node in graph.nodes} for graph in (first, second)]
    cells = _Matching(first, second, shown).cells()
    if cells is None or len(first.edges) != len(second.edges):
        return None
    found = {other: mine for left, right in cells for (_, mine), (_, other) in zip(left, right, strict=True)}
    there: dict[tuple[str, str, str], list[str]] = {}
    for edge in first.edges:
        there.setdefault((edge.source, edge.target, edge_text(edge)), []).append(edge.id)
    for edge in second.edges:
        same = there.get((found[edge.source], found[edge.target], edge_text(edge)))
        if not same:
            return None
        found[edge.id] = same.pop(0)
    return found


def same_value(first: Value, second: Value) -> bool:
    """Tells whether two values are the same in the sense of :func:`unlike`."""
    return type(first) is type(second) and _text(first) == _text(second)


def node_text(node: Node, keys: bool) -> str:
    """Gives what a node holds as one text, the same for nodes that hold the same; with its key where asked."""
    marks = [*([node.key] if keys else []), *(["inferred"] if node.inferred else [])]
    return f"node {json.dumps(sorted(set(node.labels)))} {_properties(node.properties)} {' '.join(marks)}".rstrip()


def edge_text(edge: Edge) -> str:
    """Gives what an edge holds as one text, without its ends."""
    return f"{json.dumps(edge.type)} {_properties(edge.properties)}{' inferred' if edge.inferred else ''}"


def _properties(properties: Properties) -> str:
    return f"{{{', '.join(f'{json.dumps(name)}: {_text(properties[name])}' for name in sorted(properties))}}}"


def _text(value: Value) -> str:
    return json.dumps(_folded(encode(value)), sort_keys=True)


def _folded(data: JsonValue) -> JsonValue:
    if isinstance(data, list):
        return [_folded(item) for item in data]
    if isinstance(data, dict) and "@language" in data:
        return {**data, "@language": str(data["@language"]).lower()}
    return data


class _Matching:
    """The search for a pairing of the nodes: colours by content, refined by neighbours, then tried where they tie."""

    def __init__(self, first: GraphSnapshot, second: GraphSnapshot, shown: Iterable[Mapping[str, str]]) -> None:
        self._near: dict[_Spot, list[tuple[bool, str, _Spot]]] = {}
        loops: dict[_Spot, list[str]] = {}
        texts = {(side, node_id): text for side, names in enumerate(shown) for node_id, text in names.items()}
        for side, graph in enumerate((first, second)):
            for edge in graph.edges:
                text, source, target = edge_text(edge), (side, edge.source), (side, edge.target)
                if source == target:
                    loops.setdefault(source, []).append(text)
                    continue
                self._near.setdefault(source, []).append((True, text, target))
                self._near.setdefault(target, []).append((False, text, source))
        self._start = _numbered({spot: (text, sorted(loops.get(spot, ()))) for spot, text in texts.items()})

    def possible(self) -> bool:
        """Tells whether the graphs can be laid on each other."""
        return self.cells() is not None

    def cells(self) -> _Cells | None:
        """Gives nodes of both graphs that stand for each other, ``None`` where the graphs are not the same."""
        return self._matches(self._start)

    def _matches(self, colours: _Colours) -> _Cells | None:
        colours = self._refined(colours)
        cells: dict[int, tuple[list[_Spot], list[_Spot]]] = {}
        for spot, colour in colours.items():
            cells.setdefault(colour, ([], []))[spot[0]].append(spot)
        if any(len(left) != len(right) for left, right in cells.values()):
            return None
        tied = [cell for cell in cells.values() if len(cell[0]) > 1 and self._is_open(cell[0][0], colours, cells)]
        if not tied:
            return list(cells.values())
        left, right = min(tied, key=lambda cell: len(cell[0]))
        tried = (self._matches({**colours, left[0]: -1, spot: -1}) for spot in right)
        return next((found for found in tried if found is not None), None)

    def _is_open(self, spot: _Spot, colours: _Colours, cells: Mapping[int, tuple[list[_Spot], list[_Spot]]]) -> bool:
        # Nodes of one colour whose neighbours are all certain can stand for each other.
        return any(len(cells[colours[other]][0]) > 1 for _, _, other in self._near.get(spot, ()))

    def _refined(self, colours: _Colours) -> _Colours:
        while True:
            finer = _numbered(
                {
                    spot: (colour, sorted((out, text, colours[other]) for out, text, other in self._near.get(spot, ())))
                    for spot, colour in colours.items()
                }
            )
            if len(set(finer.values())) == len(set(colours.values())):
                return finer
            colours = finer


def _numbered(signs: Mapping[_Spot, object]) -> _Colours:
    numbers: dict[str, int] = {}
    return {spot: numbers.setdefault(repr(sign), len(numbers)) for spot, sign in signs.items()}
