"""Keeps descriptions of edges in step with the edges, and refuses what the neutral graph cannot show."""

from __future__ import annotations

from kgot_core.errors import QueryError
from kgot_rdf.mapping import described
from kgot_rdf.names import TYPE
from kgot_rdf.record import RdfRecord
from kgot_rdf.terms import Term, Triple, is_literal
from kgot_rdf.triples import Delta, then


def complete(record: RdfRecord, delta: Delta) -> Delta:
    """Adds to a delta what belongs to it.

    An edge that goes takes its descriptions with it, and a new description brings its edge.

    Raises:
        QueryError: An edge would lead to the description of another edge.
    """
    net = record.stated.net(delta)
    gone = [triple for triple in net.removed if not is_literal(triple[2])]
    left: dict[Triple, None] = {}
    for triple in gone:
        for resource in record.resources_of(triple):
            left |= {(resource, *pair): None for pair in record.stated.of(resource)}
    if left:
        net = record.stated.net(then(net, Delta(removed=tuple(left))))
    after = _described_after(record, net)
    subjects = dict.fromkeys(subject for subject, _, _ in net.added)
    described_edges = [spot for subject in subjects if (spot := after[subject]) is not None]
    new = [spot for spot in described_edges if spot[1] != TYPE and spot not in record.stated]
    if new:
        net = then(net, Delta(added=tuple(spot for spot in new if spot not in net.removed)))
        after = _described_after(record, net)
    for subject, predicate, obj in net.added:
        if not is_literal(obj) and predicate != TYPE and (after[obj] if obj in after else record.describes(obj)):
            raise QueryError(
                f"{record.names.show(subject)} {record.names.show(predicate)} {record.names.show(obj)}: an edge cannot"
                " lead to the description of another edge; make a node of it"
            )
    return net


def _described_after(record: RdfRecord, delta: Delta) -> dict[Term, Triple | None]:
    """Gives which triple each subject of a delta describes once the delta is done."""
    after: dict[Term, dict[tuple[Term, Term], None]] = {}
    for subject, predicate, obj in delta.removed:
        _pairs(record, after, subject).pop((predicate, obj), None)
    for subject, predicate, obj in delta.added:
        _pairs(record, after, subject)[predicate, obj] = None
    return {subject: described(pairs) for subject, pairs in after.items()}


def _pairs(
    record: RdfRecord, after: dict[Term, dict[tuple[Term, Term], None]], subject: Term
) -> dict[tuple[Term, Term], None]:
    if subject not in after:
        after[subject] = dict.fromkeys(record.stated.of(subject))
    return after[subject]
