"""Triples and the neutral graph: both ways, with generated graphs."""

from __future__ import annotations

import datetime
import math
from typing import Any

import pyoxigraph as ox
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgot_core.graph.elements import Edge, GraphChange, GraphSnapshot, Node
from kgot_core.graph.fold import TaskGraph, compare
from kgot_core.graph.same import unlike
from kgot_core.graph.values import Iri, LangText, TypedText, encode, equal_values
from kgot_rdf.completion import complete
from kgot_rdf.mapping import INFERRED
from kgot_rdf.names import OBJECT, PREDICATE, STATEMENT, SUBJECT, TYPE, Names
from kgot_rdf.record import RdfRecord
from kgot_rdf.store import lines
from kgot_rdf.taking import take
from kgot_rdf.terms import canonical, from_term, to_term
from kgot_rdf.triples import Delta

TEXT = st.text(st.characters(exclude_categories=("Cs",)), max_size=12)
OFFSETS = st.none() | st.timedeltas(datetime.timedelta(hours=-14), datetime.timedelta(hours=14)).map(
    lambda delta: datetime.timezone(datetime.timedelta(seconds=int(delta.total_seconds())))
)
SCALARS = st.one_of(
    TEXT,
    st.booleans(),
    st.integers(),
    st.just(2**90),
    st.floats(),
    st.datetimes(timezones=OFFSETS),
    st.dates(),
    st.times(timezones=OFFSETS),
    TEXT.map(Iri),
    st.builds(LangText, TEXT, st.sampled_from(["en", "fr", "zh-hant", "no such tag"])),
    st.builds(
        TypedText, TEXT, st.sampled_from(["http://www.w3.org/2001/XMLSchema#gYear", "urn:x:y", "not an address"])
    ),
)
# A property `inferred:NAME` is what the store derived; a test below holds that it is never stated.
NAMES = st.one_of(
    TEXT.filter(lambda name: not name.startswith(INFERRED)),
    st.sampled_from(["name", "rdfs:label", "http://kg.example/p", "a b", "urn:x:y", "rdf:type", "ä/ö"]),
)
PROPERTIES = st.dictionaries(NAMES, st.one_of(SCALARS, st.lists(SCALARS, max_size=3).map(tuple)), max_size=3)


@st.composite
def graphs(draw: st.DrawFn) -> GraphSnapshot:
    count = draw(st.integers(0, 4))
    nodes = [
        Node(f"a{number}", tuple(dict.fromkeys(draw(st.lists(NAMES, max_size=2)))), draw(PROPERTIES))
        for number in range(count)
    ]
    ends = st.sampled_from([node.id for node in nodes]) if nodes else st.nothing()
    edge = st.tuples(st.sampled_from(["KNOWS", "rdf:type", "is a", "foaf:knows"]), ends, ends, PROPERTIES)
    found = draw(st.lists(edge, max_size=5)) if nodes else []
    return GraphSnapshot(tuple(nodes), tuple(Edge(f"k{number}", *parts) for number, parts in enumerate(found)))


_A, _B, _P, _R = (f"<http://kgot.example/{name}>" for name in ("a", "b", "p", "r"))
# What makes a resource describe an edge, and what that resource, the edge and its ends can be besides.
_DESCRIPTION = [(_R, TYPE, STATEMENT), (_R, SUBJECT, _A), (_R, PREDICATE, _P), (_R, OBJECT, _B)]
_BESIDES = [
    *((_R, PREDICATE, TYPE), (_R, _P, _B), (_R, _P, '"text"'), (_A, _P, _B), (_A, TYPE, _B), (_A, PREDICATE, _P)),
    *((_B, _P, _R), (_P, _P, _P)),
]
TRIPLES = st.tuples(st.sets(st.sampled_from(_DESCRIPTION)), st.sets(st.sampled_from(_BESIDES), max_size=2)).map(
    lambda parts: tuple(sorted(parts[0] | parts[1]))
)


# Descriptions are never inferred.
INFERRED_TRIPLES = st.sets(st.sampled_from([(_A, TYPE, _B), (_A, _P, _B), (_B, _P, '"text"')]), max_size=2).map(sorted)


@given(st.lists(st.tuples(TRIPLES, TRIPLES, INFERRED_TRIPLES, INFERRED_TRIPLES), min_size=1, max_size=6))
def test_a_record_that_is_kept_up_to_date_is_the_one_made_at_once(deltas):
    record, told = RdfRecord(Names()), TaskGraph()
    for added, removed, concluded, given_up in deltas:
        stated = record.stated.net(Delta(tuple(added), tuple(removed)))
        inferred = record.inferred.net(Delta(tuple(concluded), tuple(given_up)))
        told.apply(record.fold(stated, inferred).change)
    whole = RdfRecord(Names())
    whole.fold(Delta(tuple(record.stated)), Delta(tuple(record.inferred)))
    assert keyed(record.snapshot()) == keyed(whole.snapshot()) == keyed(told.snapshot())


def keyed(snapshot: GraphSnapshot) -> tuple[Any, Any]:
    """What a graph holds, with keys in the place of ids."""
    nodes = {node.id: (node.key, node.labels, repr(node.properties)) for node in snapshot.nodes}
    edges = [(edge.type, nodes[edge.source], nodes[edge.target], repr(edge.properties)) for edge in snapshot.edges]
    return sorted(nodes.values()), sorted(edges)


def taken(record: RdfRecord, snapshot: GraphSnapshot) -> None:
    found = take(record, GraphChange(added=tuple(snapshot.elements())))
    record.fold(complete(record, found.stated), found.inferred, found.ids)


@settings(max_examples=150, deadline=None)
@given(graphs())
def test_a_graph_becomes_triples_and_the_same_graph_again(snapshot):
    record = RdfRecord(Names())
    taken(record, snapshot)
    assert {node.id for node in record.snapshot().nodes} == {node.id for node in snapshot.nodes}
    assert {edge.id for edge in record.snapshot().edges} == {edge.id for edge in snapshot.edges}
    # Through a real parser and back, as a store would keep it.
    read = ox.parse(lines(tuple(record.stated)), ox.RdfFormat.N_TRIPLES)
    triples = tuple((str(item.subject), str(item.predicate), canonical(str(item.object))) for item in read)
    again = RdfRecord(Names())
    again.fold(Delta(triples))
    assert unlike(snapshot, record.snapshot()) == []
    assert unlike(snapshot, again.snapshot()) == []


def test_a_value_that_was_inferred_comes_in_as_such_and_is_never_stated():
    record = RdfRecord(Names())
    taken(record, GraphSnapshot((Node("a", ("Lake",), {"depth": 61, f"{INFERRED}kind": "deep"}),)))
    (node,) = record.snapshot().nodes
    assert node.properties == {"depth": 61, f"{INFERRED}kind": "deep"}
    assert not any("kind" in predicate or "deep" in obj for _, predicate, obj in record.stated)


@settings(max_examples=80, deadline=None)
@given(graphs(), graphs())
def test_changes_add_up_and_can_be_taken_back(first, second):
    record = RdfRecord(Names())
    taken(record, first)
    before, triples = record.snapshot(), set(record.stated)
    told = TaskGraph(before)
    found = take(record, GraphChange(added=tuple(second.elements()), removed=tuple(n.id for n in first.nodes)[:1]))
    folded = record.fold(complete(record, found.stated), found.inferred, found.ids)
    told.apply(folded.change)
    assert not compare(told.snapshot(), record.snapshot())
    record.undo(folded)
    assert set(record.stated) == triples
    assert {element.id for element in record.snapshot().elements()} == {element.id for element in before.elements()}
    assert not compare(before, record.snapshot()).changed


@settings(max_examples=300, deadline=None)
@given(SCALARS)
def test_a_value_becomes_a_literal_and_the_same_value_again(value):
    term = to_term(value)
    assert canonical(term) == term
    (quad,) = ox.parse(f"<urn:s> <urn:p> {term} .", ox.RdfFormat.N_TRIPLES)
    back = from_term(canonical(str(quad.object)))
    assert equal_values(back, value) or encode(back) == encode(value)


@settings(max_examples=300, deadline=None)
@given(NAMES)
def test_a_name_becomes_an_address_and_the_same_name_again(name):
    names = Names()
    term = names.to_term(name)
    ox.NamedNode(term[1:-1])
    assert names.to_name(term) == name
    shown = names.show(term)
    assert names.read_key(shown) == term


@pytest.mark.parametrize(
    ("term", "value"),
    [
        ('"01"^^<http://www.w3.org/2001/XMLSchema#integer>', 1),
        ('"1.50"^^<http://www.w3.org/2001/XMLSchema#decimal>', 1.5),
        ('"1e3"^^<http://www.w3.org/2001/XMLSchema#double>', 1000.0),
        ('"INF"^^<http://www.w3.org/2001/XMLSchema#double>', math.inf),
        ('"1"^^<http://www.w3.org/2001/XMLSchema#boolean>', True),
        ('"x"@EN', LangText("x", "en")),
        (
            '"two"^^<http://www.w3.org/2001/XMLSchema#integer>',
            TypedText("two", "http://www.w3.org/2001/XMLSchema#integer"),
        ),
        ('"2001-02-03"^^<http://www.w3.org/2001/XMLSchema#date>', datetime.date(2001, 2, 3)),
    ],
)
def test_literals_of_statements_have_their_values(term, value):
    assert equal_values(from_term(canonical(term)), value)
    assert canonical(canonical(term)) == canonical(term)
