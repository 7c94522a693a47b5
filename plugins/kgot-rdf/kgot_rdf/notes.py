"""The note of the last call whose write is in a graph that is kept, changed in one update with the graph.

Writes come one after another, so after a crash only the last one can be done and yet not be in the run's record.
"""

from __future__ import annotations

from kgot_rdf.terms import iri, literal

EMBEDDED = "urn:kgot:last"
"""The named graph with the note in a folder; on a server it is :func:`~kgot_rdf.addresses.beside` the graph."""
_LAST = "urn:kgot:hold#last"


def note(place: str, call: str) -> str:
    """Gives the update that puts a note in the place of the one that is there; empty without a call.

    Args:
        place: Address of the graph for the note.
        call: Id of the call.
    """
    if not call:
        return ""
    return (
        f"DELETE WHERE {{ GRAPH {iri(place)} {{ ?s ?p ?o }} }} ;\n"
        f"INSERT DATA {{ GRAPH {iri(place)} {{ {iri(place)} {iri(_LAST)} {literal(call)} }} }}"
    )


def asked(place: str = "") -> str:
    """Gives the query for the note; without a place it asks the default graph, and so a server's graph of that name."""
    pattern = f"?s {iri(_LAST)} ?call"
    return f"SELECT ?call {{ {f'GRAPH {iri(place)} {{ {pattern} }}' if place else pattern} }}"
