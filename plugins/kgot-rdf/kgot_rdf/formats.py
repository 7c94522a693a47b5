"""Graphs as RDF files, through the same mapping as the backends'. What was inferred is described, not stated."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import pyoxigraph as ox

from kgot_core.errors import QueryError, UsageError
from kgot_core.graph.elements import Edge, GraphChange, GraphSnapshot, Node
from kgot_core.graph.losses import Losses, place
from kgot_core.graph.same import same_value
from kgot_rdf.completion import complete
from kgot_rdf.mapping import INFERRED
from kgot_rdf.messages import plain
from kgot_rdf.names import GENID, OBJECT, PREDICATE, PREFIXES, STATEMENT, SUBJECT, TYPE, Names
from kgot_rdf.record import RdfRecord
from kgot_rdf.settings import FormatSettings
from kgot_rdf.taking import take
from kgot_rdf.terms import Term, Triple, read_literal
from kgot_rdf.triples import Delta
from kgot_rdf.writing import named, triple_of

# The type of a resource that describes a triple which was inferred and is not stated.
INFERENCE = "<urn:kgot:Inference>"
_STRUCTURE = (SUBJECT, PREDICATE, OBJECT)


def write_rdf(format: ox.RdfFormat, settings: FormatSettings, graph: GraphSnapshot, path: Path, losses: Losses) -> None:
    """Writes a graph.

    Raises:
        QueryError: An element cannot be written; the message names it.
    """
    record = RdfRecord(Names(settings.namespace))
    graph = _plainly_inferred(graph, losses)
    taken = take(record, GraphChange(added=tuple(graph.elements())))
    record.fold(complete(record, taken.stated), taken.inferred, taken.ids)
    _compare(graph, record.snapshot(), losses)
    prefixes = {"": settings.namespace, **{name: start for name, start in PREFIXES.items() if start != GENID}}
    ox.serialize(map(_parsed, _grouped(record)), str(path), format=format, prefixes=prefixes)


def read_rdf(format: ox.RdfFormat, settings: FormatSettings, path: Path, losses: Losses) -> GraphSnapshot:
    """Reads a graph.

    Raises:
        UsageError: The file cannot be read; the message says where.
    """
    record = RdfRecord(Names(settings.namespace))
    try:
        quads = list(ox.parse(path.read_bytes(), format, base_iri=settings.namespace))
        told = [triple_of(quad) for quad in quads]
        for subject, _, obj in told:
            record.numbering.see(subject)
            record.numbering.see(obj)
        triples = named(told, record.numbering.new_resource)
        stated, inferred = _sorted_out(triples)
        record.fold(complete(record, Delta(stated)), Delta(inferred))
    except SyntaxError as error:
        where = f", line {error.lineno}" if error.lineno else ""
        raise UsageError(f"{path}{where}: {plain(str(error.msg))}") from None
    except QueryError as error:
        raise UsageError(f"{path}: {error.message}") from None
    for quad in quads:
        if not isinstance(quad.graph_name, ox.DefaultGraph):
            losses.add("what is in a named graph is read without the graph's name", str(quad.graph_name))
    return record.snapshot()


def _plainly_inferred(graph: GraphSnapshot, losses: Losses) -> GraphSnapshot:
    """Makes those elements stated that hold more than an inferred triple says."""
    spots = Counter((edge.source, edge.type, edge.target) for edge in graph.edges)
    edges: list[Edge] = []
    ends: set[str] = set()
    stated: set[str] = set()
    for edge in graph.edges:
        if edge.inferred and (edge.properties or spots[edge.source, edge.type, edge.target] > 1):
            losses.add("an inferred edge with properties, or beside one of its type, is stated", place(edge))
            edge = replace(edge, inferred=False)
        edges.append(edge)
        (ends if edge.inferred else stated).update((edge.source, edge.target))
    nodes = []
    for node in graph.nodes:
        bare = not node.labels and all(name.startswith(INFERRED) for name in node.properties)
        if node.inferred and not (bare and node.id in ends - stated):
            losses.add("an inferred node that is more than an end of inferred edges is stated", place(node))
            node = replace(node, inferred=False)
        nodes.append(node)
    return GraphSnapshot(tuple(nodes), tuple(edges))


def _grouped(record: RdfRecord) -> Iterator[Triple]:
    """Gives all triples, those of one subject together."""
    for subject in record.stated.subjects():
        yield from ((subject, *pair) for pair in record.stated.of(subject))
    for triple in record.inferred:
        resource = record.numbering.new_resource()
        yield from ((resource, TYPE, kind) for kind in (STATEMENT, INFERENCE))
        yield from ((resource, part, term) for part, term in zip(_STRUCTURE, triple, strict=True))


def _sorted_out(triples: Iterable[Triple]) -> tuple[tuple[Triple, ...], tuple[Triple, ...]]:
    """Gives the stated triples, and those that are described as inferred."""
    found = dict.fromkeys(triples)
    described: dict[Term, dict[Term, Term]] = {
        subject: {} for subject, predicate, obj in found if (predicate, obj) == (TYPE, INFERENCE)
    }
    for subject, predicate, obj in found:
        if subject in described:
            described[subject][predicate] = obj
    inferred = [tuple(parts.get(part, "") for part in _STRUCTURE) for parts in described.values()]
    stated = tuple(triple for triple in found if triple[0] not in described)
    return stated, tuple((s, p, o) for s, p, o in dict.fromkeys(inferred) if s and p and o and (s, p, o) not in found)


def _parsed(triple: Triple) -> ox.Triple:
    subject, predicate, obj = map(_term, triple)
    return ox.Triple(subject, predicate, obj)  # type: ignore[arg-type]


def _term(term: Term) -> ox.NamedNode | ox.BlankNode | ox.Literal:
    # Numbered resources are blank nodes in a file: two files number them alike, and may be brought together.
    number = term.removeprefix(f"<{GENID}").removesuffix(">")
    if number.isascii() and number.isdecimal() and number != term:
        return ox.BlankNode(f"g{number}")
    if term[0] == "<":
        return ox.NamedNode(term[1:-1])
    text, language, datatype = read_literal(term)
    if language:
        return ox.Literal(text, language=language)
    return ox.Literal(text, datatype=ox.NamedNode(datatype)) if datatype else ox.Literal(text)


def _compare(given: GraphSnapshot, held: GraphSnapshot, losses: Losses) -> None:
    """Notes what the triples do not say: names that RDF uses for itself."""
    found = {element.id: element for element in held.elements()}
    for element in given.elements():
        other = found.get(element.id)
        if type(other) is not type(element):
            losses.add("what RDF's own names describe is no element of its own", place(element))
            continue
        assert other is not None
        if isinstance(element, Node) and isinstance(other, Node) and set(element.labels) != set(other.labels):
            losses.add("a label that the mapping to RDF uses itself is left out", place(element))
        for name, value in element.properties.items():
            if name not in other.properties or not same_value(value, other.properties[name]):
                losses.add("a property that the mapping to RDF uses itself is left out", place(element, name))
