"""Finds out what a write means as triples, before anything is changed."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Sequence

import pyoxigraph as ox

from kgot_rdf.messages import syntax_error
from kgot_rdf.record import RdfRecord
from kgot_rdf.statement import Update
from kgot_rdf.store import Store
from kgot_rdf.terms import Term, Triple, canonical
from kgot_rdf.text import Built
from kgot_rdf.triple_terms import text_of
from kgot_rdf.triples import Delta, then

_BLANK = re.compile(r"_:\S+")


def evaluate(update: Update, record: RdfRecord, store: Store, seconds: float) -> Delta:
    """Gives the triples that a write adds and removes; its templates are asked of the store as queries.

    Raises:
        QueryError: The statement cannot be read or run.
    """
    end = time.monotonic() + seconds
    total = waiting = Delta()
    staged = False
    try:
        for operation in update.operations:
            if operation.kind == "clear":
                added: Sequence[Triple] = ()
                removed: Sequence[Triple] = (*record.stated, *total.added)
            elif operation.data is not None:
                data = named(parse(operation.data), record.numbering.new_resource)
                added, removed = (data, ()) if operation.kind == "insert data" else ((), data)
            else:
                if waiting:
                    store.stage(record.stated.net(total), end - time.monotonic())
                    staged, waiting = True, Delta()
                removed = store.construct(operation.delete, end - time.monotonic()) if operation.delete else ()
                found = store.construct(operation.insert, end - time.monotonic()) if operation.insert else ()
                added = named(_in_order(found), record.numbering.new_resource)
            step = Delta(tuple(added), tuple(removed))
            total = then(total, step)
            waiting = then(waiting, step) if operation is not update.operations[-1] else waiting
    finally:
        if staged:
            store.unstage()
    return total


def parse(data: Built) -> list[Triple]:
    """Reads the triples of a data block, in their order.

    Raises:
        QueryError: It cannot be read; with the position.
    """
    try:
        return [triple_of(quad) for quad in ox.parse(data.text, ox.RdfFormat.TURTLE)]
    except SyntaxError as error:
        raise syntax_error(str(error.msg), error.lineno or 0, error.offset or 0, data) from None


def triple_of(quad: ox.Quad) -> Triple:
    """Gives the terms of a triple that was parsed.

    Raises:
        QueryError: Its object is itself a triple.
    """
    return str(quad.subject), str(quad.predicate), canonical(text_of(quad.object))


def named(triples: Iterable[Triple], new: Callable[[], Term]) -> list[Triple]:
    """Gives blank nodes an IRI each: a store's own labels are not stable."""
    found: dict[Term, Term] = {}

    def name(term: Term) -> Term:
        if not term.startswith("_:"):
            return term
        if term not in found:
            found[term] = new()
        return found[term]

    return [(name(subject), predicate, name(obj)) for subject, predicate, obj in triples]


def _in_order(triples: Iterable[Triple]) -> list[Triple]:
    return sorted(triples, key=lambda triple: ([_BLANK.sub("_:", term) for term in triple], triple))
