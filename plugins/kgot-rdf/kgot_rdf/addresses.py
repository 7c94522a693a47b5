"""The addresses of graphs on a SPARQL server."""

from __future__ import annotations

from urllib.parse import quote

from kgot_core.contracts.backend import GraphScope
from kgot_core.errors import Refused
from kgot_rdf.settings import RemoteSettings
from kgot_rdf.terms import is_iri_text


def graph_iri(settings: RemoteSettings, scope: GraphScope) -> str:
    """Gives the address of a scope's named graph; a kept one may be named by an address of its own.

    Raises:
        Refused: It is no address.
    """
    if scope.mode != "new" and ":" in scope.name:
        address, said = scope.name, f"the name of the graph is no address: {scope.name!r}"
    else:
        address = settings.graph_prefix + quote(scope.name, safe="")
        said = f"backends.rdf-remote.graph_prefix is no address: {settings.graph_prefix!r}"
    if not is_iri_text(address):
        raise Refused(said)
    return address


def beside(graph: str, what: str) -> str:
    """Gives the address of a graph of our own that belongs to another one, such as what follows from it.

    Whatever address a user's graph has, none of theirs has this one: it lies below ``urn:kgot:``, not below the user's.
    """
    return f"urn:kgot:{what}:{quote(graph, safe='')}"
