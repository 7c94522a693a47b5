"""What is sent to a SPARQL server and what comes back: updates of triples, and results as terms."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pyoxigraph as ox

from kgot_core.errors import QueryError
from kgot_rdf.store import lines
from kgot_rdf.terms import Term, Triple, canonical, iri, literal
from kgot_rdf.triple_terms import NESTED, holds_triple_term, is_triple_binding, text_of
from kgot_rdf.triples import Delta


def insert_and_delete(graph: str, delta: Delta) -> str:
    """Gives the update that changes a named graph; empty where nothing changes."""
    parts = [
        f"{verb} DATA {{ GRAPH <{graph}> {{\n{lines(triples)}\n}} }}"
        for verb, triples in (("DELETE", delta.removed), ("INSERT", delta.added))
        if triples
    ]
    return " ;\n".join(parts)


def read_triples(body: bytes, seconds: float) -> list[Triple]:
    """Reads a result of triples.

    Raises:
        QueryError: It was cut off, or holds triples as terms.
    """
    try:
        found: Iterable[Any] = ox.parse(body, ox.RdfFormat.N_TRIPLES)
        return [(str(item.subject), str(item.predicate), canonical(text_of(item.object))) for item in found]
    except SyntaxError:
        if holds_triple_term(body):
            raise QueryError(NESTED) from None
        raise QueryError(f"the result was cut off after {seconds:.3g} seconds; ask for less") from None


def read_binding(data: Any) -> Term | None:
    """Reads one value of a JSON result, ``None`` where the row has none.

    Raises:
        QueryError: It is a triple.
    """
    if data is None:
        return None
    if is_triple_binding(data):
        raise QueryError(NESTED)
    kind, value = data["type"], data["value"]
    if kind == "uri":
        return iri(value)
    if kind == "bnode":
        return f"_:{value}"
    return canonical(literal(value, datatype=data.get("datatype", ""), language=data.get("xml:lang", "")))
