"""Which elements of the graph an answer rests on."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from kgot_core.contracts.backend import Row
from kgot_core.contracts.dialect import Dialect
from kgot_core.contracts.run import Run
from kgot_core.contracts.task import Evidence
from kgot_core.graph.elements import Edge, Node
from kgot_core.graph.fold import TaskGraph
from kgot_core.graph.values import JsonValue, plain_text

MOST_ELEMENTS = 50


def match_names(graph: TaskGraph, names: Sequence[str], dialect: Dialect) -> tuple[str, ...]:
    """Finds the elements that a model's names mean: a key, a property's value, or an edge's type.

    A name may be written as the state text shows it, with labels and quotes around it.
    """
    wanted = {plain for name in names for plain in _readings(name)}
    if not wanted:
        return ()
    return tuple(element.id for element in graph if wanted & (_words_of(element) | _shown_name(element, dialect)))


def holding(graph: TaskGraph, rows: Sequence[Row]) -> tuple[str, ...]:
    """Finds the elements that hold a value which a query returned.

    A number says little by itself: where its column is called like a property, only that property counts. A number of
    one or two digits in any other column is most likely a count, unless a single element holds it.
    """
    names = {_plain(name) for element in graph for name in element.properties}
    anywhere: set[str] = set()
    within: set[tuple[str, str]] = set()
    short: set[str] = set()
    for column, value in (pair for row in rows for pair in row.items()):
        for plain in _plain_values(value):
            if not _is_number(plain) or (len(plain) > 2 and _plain(column) not in names):
                anywhere.add(plain)
            elif _plain(column) in names:
                within.add((_plain(column), plain))
            else:
                short.add(plain)
    holders = {plain: [element.id for element in graph if plain in _words_of(element)] for plain in short}
    single = {found[0] for found in holders.values() if len(found) == 1}
    found = [
        element.id
        for element in graph
        if element.id in single or anywhere & _words_of(element) or (within and within & _pairs_of(element))
    ]
    return tuple(found[:MOST_ELEMENTS])


def describe(run: Run, elements: Iterable[str]) -> tuple[Evidence, ...]:
    """Gives the evidence for an answer: each element as text, with where it came from."""
    found = []
    for element_id in elements:
        element = run.graph.state.get(element_id)
        if element is None:
            continue
        text = run.graph.dialect.line(element, run.graph.state)
        origin = run.graph.origin(element_id)
        if origin is None:
            found.append(Evidence(element_id, text))
        else:
            found.append(Evidence(element_id, text, origin.sources, origin.iteration, origin.unsupported))
    return tuple(found)


def _words_of(element: Node | Edge) -> set[str]:
    words = {_plain(plain_text(value)) for value in element.properties.values()}
    words |= {_plain(element.key)} if isinstance(element, Node) else {_plain(element.type)}
    return words - {""}


def _shown_name(element: Node | Edge, dialect: Dialect) -> set[str]:
    return {_plain(dialect.name(element))} if isinstance(element, Node) else set()


def _pairs_of(element: Node | Edge) -> set[tuple[str, str]]:
    return {(_plain(name), _plain(plain_text(value))) for name, value in element.properties.items()}


def _is_number(plain: str) -> bool:
    return re.fullmatch(r"[+-]?\d[\d.,]*", plain) is not None


def _readings(name: str) -> set[str]:
    quoted = re.findall(r'"([^"]+)"', name)
    bare = name.strip("()[] ")
    return {_plain(text) for text in (name, bare.rpartition(":")[2], bare.partition(" :")[0], *quoted)} - {""}


def _plain_values(value: JsonValue) -> set[str]:
    if isinstance(value, dict):
        return {plain for item in value.values() for plain in _plain_values(item)}
    if isinstance(value, list):
        return {plain for item in value for plain in _plain_values(item)}
    if value is None or isinstance(value, bool):
        return set()
    return {_plain(str(value))} - {""}


def _plain(text: str) -> str:
    return " ".join(text.casefold().split()).strip(" .,;:'\"()[]")
