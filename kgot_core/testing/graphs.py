"""Neutral graphs for tests: values of every kind, generated graphs, and what differs between two graphs."""

from __future__ import annotations

import datetime
import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from kgot_core.graph.elements import Edge, GraphSnapshot, Node
from kgot_core.graph.values import (
    Iri,
    LangText,
    Properties,
    TypedText,
    Value,
    same_properties,
)

_ZONE = datetime.timezone(datetime.timedelta(hours=5, minutes=30))

PLAIN_VALUES: Mapping[str, Value] = MappingProxyType(
    {
        "text": "Quillmark",
        "empty text": "",
        "unicode text": "Zürich 東京 \U0001f5fc e\u0301 \u202bעברית",
        "text with quotes and line breaks": "a \"b\" 'c' `d`\n\te \\ {f} $g",
        "text like a number": "007",
        "long text": "word " * 400,
        "truth": True,
        "falsehood": False,
        "zero": 0,
        "negative number": -7,
        "64-bit number": 2**62 + 1,
        "fraction": 0.1,
        "whole fraction": 2.0,
        "tiny fraction": -5e-324,
    }
)
"""Values that every store holds."""

RARE_VALUES: Mapping[str, Value] = MappingProxyType(
    {
        "huge number": 2**70,
        "not a number": math.nan,
        "infinity": math.inf,
        "negative infinity": -math.inf,
        "date": datetime.date(1871, 2, 3),
        "time": datetime.time(4, 5, 6, 7),
        "date and time": datetime.datetime(1871, 2, 3, 4, 5, 6, 7),
        "date and time with zone": datetime.datetime(2024, 2, 29, 23, 59, 59, tzinfo=_ZONE),
        "reference": Iri("http://kg.example/a#b"),
        "text with language": LangText("chat", "fr"),
        "text of a datatype": TypedText("1871", "http://www.w3.org/2001/XMLSchema#gYear"),
    }
)
"""Values that a store holds or refuses."""

PLAIN_LISTS: Mapping[str, Value] = MappingProxyType(
    {"list of texts": ("b", "a", "c"), "list of numbers": (3, 1, 2), "list of fractions": (0.5, 2.0)}
)
"""Lists that every store with several values holds, in their order."""

RARE_LISTS: Mapping[str, Value] = MappingProxyType(
    {
        "empty list": (),
        "list of one": ("a",),
        "list with equal items": ("a", "b", "a"),
        "mixed list": ("a", 1, True, 0.5),
        "list of dates": (datetime.date(1871, 2, 3), datetime.date(1900, 1, 1)),
    }
)
"""Lists that a store holds or refuses."""

_LABELS = ("City", "Person", "Müller & Söhne", "two words", "Label")
_TYPES = ("KNOWS", "is part of", "LIEGT_IN", "größer als")
_NAMES = ("name", "year", "first name", "label", "type", "Größe")


@dataclass(frozen=True)
class Vocabulary:
    """What generated graphs may use.

    Attributes:
        kinds: Labels of nodes.
        links: Kinds of edges: label of the source, type, label of the target; ``None`` is any node.
        names: Names of properties.
        values: Values by what they are.
        several_labels: Nodes may have several labels.
        parallel: Edges of one type may join the same nodes.
        edge_properties: Edges may have properties.
    """

    kinds: Sequence[str] = _LABELS
    links: Sequence[tuple[str | None, str, str | None]] = tuple((None, name, None) for name in _TYPES)
    names: Sequence[str] = _NAMES
    values: Mapping[str, Value] = field(default_factory=lambda: PLAIN_VALUES)
    several_labels: bool = True
    parallel: bool = True
    edge_properties: bool = True


def make_graph(seed: int, words: Vocabulary) -> GraphSnapshot:
    """Makes a graph, the same for the same seed and vocabulary: self-loops, several labels, all kinds of values."""
    chance = random.Random(seed)
    free = all(source is None and target is None for source, _, target in words.links)
    nodes = [_node(chance, number, words, free) for number in range(chance.randint(1, 9))]
    edges: list[Edge] = []
    used: set[tuple[str, str, str]] = set()
    for number in range(chance.randint(0, 14) if words.links else 0):
        first, type_, second = chance.choice(words.links)
        sources = [node for node in nodes if first is None or first in node.labels]
        targets = [node for node in nodes if second is None or second in node.labels]
        if not sources or not targets:
            continue
        source = chance.choice(sources)
        target = source if source in targets and chance.random() < 0.25 else chance.choice(targets)
        place = (source.id, type_, target.id)
        if place in used and not words.parallel:
            continue
        used.add(place)
        properties = _properties(chance, words, 2) if words.edge_properties else {}
        edges.append(Edge(f"given-edge-{number}", type_, source.id, target.id, properties))
    return GraphSnapshot(tuple(nodes), tuple(edges))


def _node(chance: random.Random, number: int, words: Vocabulary, free: bool) -> Node:
    several = (2, 3) if words.several_labels else ()
    count = chance.choice((0, 1, 1, *several)) if free else 1
    labels = tuple(chance.sample(words.kinds, min(count, len(words.kinds))))
    return Node(f"given-node-{number}", labels, {"name": f"node {number}", **_properties(chance, words, 4)})


def _properties(chance: random.Random, words: Vocabulary, most: int) -> Properties:
    names = [name for name in words.names if name != "name"]
    chosen = chance.sample(names, chance.randint(0, min(most, len(names))))
    return {name: words.values[chance.choice(list(words.values))] for name in chosen}


def differences(wanted: GraphSnapshot, found: GraphSnapshot, *, keys: bool = False) -> list[str]:
    """Lists what differs between two graphs, by id. The order of labels, nodes and edges does not count.

    Args:
        wanted: The graph as it should be.
        found: The graph as it is.
        keys: Compare the keys of nodes too.
    """
    missing = {element.id: element for element in wanted.elements()}
    lines = []
    for element in found.elements():
        given = missing.pop(element.id, None)
        if given is None:
            lines.append(f"there is {element}, which nobody wrote")
        elif isinstance(given, Node) and isinstance(element, Node):
            if set(given.labels) != set(element.labels):
                lines.append(f"labels of {given.id}: {given.labels} became {element.labels}")
            if keys and given.key != element.key:
                lines.append(f"key of {given.id}: {given.key!r} became {element.key!r}")
        elif isinstance(given, Edge) and isinstance(element, Edge):
            if (given.type, given.source, given.target) != (element.type, element.source, element.target):
                lines.append(f"{given} became {element}")
        else:
            lines.append(f"{given} became {element}")
        if given is not None and not same_properties(given.properties, element.properties):
            lines.append(f"properties of {given.id}: {dict(given.properties)} became {dict(element.properties)}")
    return lines + [f"{element} is gone" for element in missing.values()]
