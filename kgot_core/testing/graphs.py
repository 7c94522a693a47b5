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

ODD_VALUES: Mapping[str, Value] = MappingProxyType(
    {
        "text with control characters": "a\0b\x07c\x1b[0m\x7f\x85",
        "text with all line ends": "a\rb\r\nc\u2028d\n",
        "text between spaces": " \t a \n ",
        "text that looks like code": '{"@date": "1871-02-03"} `x` $y ]]> <!-- &amp; \\u0041 # ;:',
        "text like nothing": "null",
        "text like a truth": "true",
        "number beyond 64 bits": -(2**63) - 1,
        "number of many digits": 10**400,
        "negative zero": -0.0,
        "largest fraction": 1.7976931348623157e308,
        "early date": datetime.date(1, 1, 1),
        "time with zone": datetime.time(4, 5, tzinfo=_ZONE),
        "time with universal zone": datetime.time(23, 59, 59, 999999, tzinfo=datetime.UTC),
        "date and time with seconds in its zone": datetime.datetime(
            1871, 2, 3, tzinfo=datetime.timezone(-datetime.timedelta(minutes=36, seconds=52))
        ),
        "reference that is none": Iri("no address"),
        "text with language and script": LangText("", "zh-Hant-TW"),
        "text with no language": LangText("chat", "no tag"),
        "text of no datatype": TypedText("\0", ""),
        "list of odd texts": ("", "a;b", 'c"d', " e ", "\r"),
        "list of odd numbers": (math.nan, math.inf, 2**70, -0.0),
        "list of times": (datetime.time(4, 5), datetime.time(4, 5, tzinfo=_ZONE)),
        "list of literals": (Iri("http://kg.example/a"), LangText("chat", "fr"), TypedText("1871", "urn:x:y")),
    }
)
"""Values that a file format holds, encodes or reports."""

_LABELS = ("City", "Person", "Müller & Söhne", "two words", "Label")
_TYPES = ("KNOWS", "is part of", "LIEGT_IN", "größer als")
_NAMES = ("name", "year", "first name", "label", "type", "Größe")
_ODD_WORDS = (
    "", " ", ":", ";", "a;b", ":a:b", "kgot", "labels", "label", "id", "ID", ":ID", "x:ID", "year:int", "key", "weight",
    "start", "end", "parents", "viz", "name", "inferred", "`a` b", "a\nb", "a\0b", "a\rb", "rdf:type", "rdfs:label",
    "http://kg.example/p", "<http://kg.example/p>", "urn:kgot:values", "_kgot", "neo4jImportId", "\U0001f5fc",
)  # fmt: skip
_KEYS = (":Turku", "<http://kg.example/x>", "foaf:Person", "genid:1", "Turku (City)", "a\0b", " ")


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
        keys: Nodes may have keys.
        inferred: Nodes and edges may be inferred.
        alike: Nodes need not have a name that tells them apart.
    """

    kinds: Sequence[str] = _LABELS
    links: Sequence[tuple[str | None, str, str | None]] = tuple((None, name, None) for name in _TYPES)
    names: Sequence[str] = _NAMES
    values: Mapping[str, Value] = field(default_factory=lambda: PLAIN_VALUES)
    several_labels: bool = True
    parallel: bool = True
    edge_properties: bool = True
    keys: bool = False
    inferred: bool = False
    alike: bool = False


ANYTHING = Vocabulary(
    kinds=(*_LABELS, *_ODD_WORDS),
    links=tuple((None, name, None) for name in (*_TYPES, *_ODD_WORDS)),
    names=(*_NAMES, *_ODD_WORDS),
    values=MappingProxyType({**PLAIN_VALUES, **RARE_VALUES, **PLAIN_LISTS, **RARE_LISTS, **ODD_VALUES}),
    keys=True,
    inferred=True,
    alike=True,
)
"""All that a graph can be: for file formats."""


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
        inferred = words.inferred and chance.random() < 0.2
        edges.append(Edge(f"given-edge-{number}", type_, source.id, target.id, properties, inferred))
    return GraphSnapshot(tuple(nodes), tuple(edges))


def _node(chance: random.Random, number: int, words: Vocabulary, free: bool) -> Node:
    several = (2, 3) if words.several_labels else ()
    count = chance.choice((0, 1, 1, *several)) if free else 1
    labels = tuple(chance.sample(words.kinds, min(count, len(words.kinds))))
    properties = _properties(chance, words, 4)
    if not words.alike or chance.random() < 0.5:
        properties = {"name": f"node {number}", **properties}
    # Keys are a node's own.
    key = f"{chance.choice(_KEYS)}{number}" if words.keys and chance.random() < 0.5 else ""
    inferred = words.inferred and chance.random() < 0.2
    return Node(f"given-node-{number}", labels, properties, key, inferred)


def _properties(chance: random.Random, words: Vocabulary, most: int) -> dict[str, Value]:
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
