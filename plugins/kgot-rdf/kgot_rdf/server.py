"""A SPARQL server as the settings name it: its client, and whether it answers at all."""

from __future__ import annotations

from urllib.parse import urlsplit

from kgot_core.errors import QueryError, Refused, StoreError
from kgot_core.providers import Problem
from kgot_rdf.http import JSON, SparqlClient
from kgot_rdf.http_body import credentials, read_json, shown
from kgot_rdf.settings import RemoteSettings

_PING_SECONDS = 5.0


def client_of(settings: RemoteSettings) -> SparqlClient:
    """Makes the client.

    Raises:
        Refused: The addresses cannot be used.
    """
    update_url = settings.update_url or settings.query_url
    for name, url in (("query_url", settings.query_url), ("update_url", update_url)):
        if not url.startswith(("http://", "https://")):
            raise Refused(f"backends.rdf-remote.{name} is no http address: {shown(url) if url else 'it is not set'}")
        if "@" in urlsplit(url).netloc:
            raise Refused(
                f"backends.rdf-remote.{name} holds a user: {shown(url)} is enough",
                hint="set backends.rdf-remote.user, and KGOT_BACKENDS__RDF_REMOTE__PASSWORD in the environment",
            )
    headers = credentials(settings.user, str(settings.password), str(settings.token))
    return SparqlClient(settings.query_url, update_url, headers, settings.connect_seconds)


def ping(settings: RemoteSettings) -> Problem | None:
    """Asks the server the simplest question."""
    try:
        client = client_of(settings)
        try:
            read_json(client.query("ASK { }", JSON, (), _PING_SECONDS), _PING_SECONDS)
        finally:
            client.close()
    except QueryError as error:
        return Problem(f"the SPARQL server at {shown(settings.query_url)} gives no proper answer: {error.message}")
    except StoreError as error:
        hint = "set backends.rdf-remote.query_url and update_url" if not settings.query_url else error.hint
        return Problem(error.message, hint)
    return None
