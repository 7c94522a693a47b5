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
    new = [spot for spot in _new_descriptions(record, net) if spot[1] != TYPE and spot not in record.stated]
    if new:
        net = then(net, Delta(added=tuple(spot for spot in new if spot not in net.removed)))
    for subject, predicate, obj in net.added:
        if not is_literal(obj) and predicate != TYPE and _describes(record, net, obj):
            raise QueryError(
                f"{record.names.show(subject)} {record.names.show(predicate)} {record.names.show(obj)}: an edge cannot"
                " lead to the description of another edge; make a node of it"
            )
    return net


def _new_descriptions(record: RdfRecord, delta: Delta) -> list[Triple]:
    subjects = dict.fromkeys(subject for subject, _, _ in delta.added)
    found = [_describes(record, delta, subject) for subject in subjects]
    return [spot for spot in found if spot is not None]


def _describes(record: RdfRecord, delta: Delta, subject: Term) -> Triple | None:
    if not delta.added and not delta.removed:
        return record.describes(subject)
    pairs = dict.fromkeys(record.stated.of(subject))
    changed = False
    for triple in delta.removed:
        if triple[0] == subject:
            pairs.pop(triple[1:], None)
            changed = True
    for triple in delta.added:
        if triple[0] == subject:
            pairs[triple[1:]] = None
            changed = True
    return described(pairs) if changed else record.describes(subject)
