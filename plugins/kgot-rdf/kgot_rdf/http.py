"""SPARQL over HTTP: bodies out, strictly read results back, and each failure as one clear line."""

from __future__ import annotations

import contextlib
import http.client
import re
import select
import socket
import time
from collections.abc import Callable, Mapping, Sequence
from urllib.parse import SplitResult, urlencode, urlsplit

from kgot_core.errors import QueryError, Refused, StoreError, StoreUnavailable
from kgot_rdf.connection import Connection, CutOff, NoAnswer, TlsConnection, limit
from kgot_rdf.http_body import cause, shown, too_long
from kgot_rdf.messages import syntax_error
from kgot_rdf.text import Built

JSON = "application/sparql-results+json"
TRIPLES = "application/n-triples"
_TAG = re.compile(r"<(script|style)\b.*?</\1>|<[^>]+>", re.DOTALL | re.IGNORECASE)
_TIME = re.compile(r"time[d ]?-?\s?out|timeout|took too long|cancelled", re.IGNORECASE)
_DENIED = {
    401: "refuses the user, password or token, or asks for one (401)",
    403: "does not allow this user to do this (403)",
    404: "has nothing there (404): is the address right, and the repository there?",
    405: "does not take requests there (405): is the address right?",
}


_LOGIN = (
    "set backends.rdf-remote.user and KGOT_BACKENDS__RDF_REMOTE__PASSWORD, or KGOT_BACKENDS__RDF_REMOTE__TOKEN; "
    "they must be good for queries at query_url and updates at update_url"
)


class Uncertain(StoreUnavailable):
    """An update was sent and no answer came: it may have been done."""


class SparqlClient:
    """One connection to a SPARQL server, or one to each of two where queries and updates have other hosts.

    Args:
        query_url: Address for queries.
        update_url: Address for updates.
        headers: What authenticates.
        connect_seconds: How long connecting may take.
    """

    def __init__(self, query_url: str, update_url: str, headers: Mapping[str, str], connect_seconds: float) -> None:
        self._query_url = query_url
        self._update_url = update_url
        self._headers = dict(headers)
        self._connect_seconds = connect_seconds
        self._connections: dict[tuple[str, str], Connection] = {}
        self._cancelled = False

    def query(self, text: str, accept: str, graphs: Sequence[str], seconds: float, built: Built | None = None) -> bytes:
        """Runs a query on the graphs with these addresses and gives the body of the result.

        Raises:
            QueryError: The query's fault, or its time was up.
            StoreUnavailable: The server is away.
            Refused: The server does not let us in, or is none.
        """
        parameters: list[tuple[str, str]] = [("default-graph-uri", graph) for graph in graphs]
        parameters.append(("timeout", str(max(1, round(seconds)))))
        headers = {"content-type": "application/sparql-query; charset=utf-8", "accept": accept}
        status, kind, body = self._send(self._query_url, text, headers, parameters, seconds, built or Built(text, ()))
        if status != 200:
            raise self._failure(self._query_url, status, kind, body, built, seconds)
        if not kind.startswith((accept, "application/json" if accept == JSON else accept)):
            if not body.strip():
                raise too_long(seconds)
            raise self._not_sparql(self._query_url, kind)
        return body

    def update(self, text: str, seconds: float, meanwhile: Callable[[], None] | None = None) -> None:
        """Runs an update.

        Args:
            text: The update.
            seconds: Time limit.
            meanwhile: Done while the server works.

        Raises:
            QueryError: The server refused it; nothing was changed.
            Uncertain: It may have been done.
            StoreUnavailable: The server is away.
            Refused: The server does not let us in, or is none.
        """
        headers = {"content-type": "application/sparql-update; charset=utf-8", "accept": "*/*"}
        status, kind, body = self._send(self._update_url, text, headers, (), seconds, None, meanwhile)
        if status not in (200, 201, 204):
            raise self._failure(self._update_url, status, kind, body, None, seconds)
        if status == 200 and kind.startswith("text/html") and b"Success" not in body and b"succeeded" not in body:
            raise self._not_sparql(self._update_url, kind)

    def cancel(self) -> None:
        """Breaks off what runs; called from another thread."""
        self._cancelled = True
        for connection in tuple(self._connections.values()):
            if connection.sock is not None:
                with contextlib.suppress(OSError):
                    connection.sock.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Closes the connections."""
        for connection in self._connections.values():
            connection.close()

    def _send(
        self,
        url: str,
        text: str,
        headers: Mapping[str, str],
        parameters: Sequence[tuple[str, str]],
        seconds: float,
        built: Built | None,
        meanwhile: Callable[[], None] | None = None,
    ) -> tuple[int, str, bytes]:
        """Sends one request; ``built`` is given where nothing can have been changed by it."""
        self._cancelled = False
        end = time.monotonic() + seconds
        parts = urlsplit(url)
        query = "&".join(filter(None, (parts.query, urlencode(parameters))))
        path = (parts.path or "/") + (f"?{query}" if query else "")
        try:
            content = text.encode()
        except UnicodeEncodeError:
            raise QueryError("the statement holds half a character (a lone surrogate)") from None
        connection = self._connected(url, parts, end)
        try:
            limit(connection, end)
            connection.post(path, content, {**self._headers, **headers})
            if meanwhile is not None:
                meanwhile()
            answer = connection.answer(end)
        except (http.client.HTTPException, CutOff, NoAnswer, OSError) as error:
            connection.close()
            raise self._broken(url, built, error, seconds) from None
        except BaseException:
            connection.close()
            raise
        return answer.status, answer.headers.get("content-type", "").lower(), answer.body

    def _connected(self, url: str, parts: SplitResult, end: float) -> Connection:
        key = parts.scheme, parts.netloc
        connection = self._connections.get(key)
        if connection is None:
            kind = TlsConnection if parts.scheme == "https" else Connection
            connection = self._connections[key] = kind(parts.hostname or "", parts.port)
        if connection.sock is not None and select.select([connection.sock], [], [], 0)[0]:
            # The server has closed it meanwhile, or it holds the rest of an answer that nobody waits for.
            connection.close()
        if connection.sock is None:
            connection.timeout = max(0.01, min(self._connect_seconds, end - time.monotonic()))
            try:
                connection.connect()
            except OSError as error:
                connection.close()
                said = "no answer in time" if isinstance(error, TimeoutError) else cause(error)
                raise StoreUnavailable(f"the SPARQL server at {shown(url)} does not answer: {said}") from None
            assert connection.sock is not None
            connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return connection

    def _broken(self, url: str, built: Built | None, error: Exception, seconds: float) -> StoreError:
        if self._cancelled:
            failure = QueryError("the statement was cancelled; nothing was changed")
        elif isinstance(error, TimeoutError | CutOff):
            failure = too_long(seconds)
        else:
            return Uncertain(f"the connection to the SPARQL server at {shown(url)} broke: {cause(error)}")
        return failure if built is not None else _UncertainQuery(failure.message)

    def _failure(
        self, url: str, status: int, kind: str, body: bytes, built: Built | None, seconds: float
    ) -> StoreError:
        if status in _DENIED:
            hint = _LOGIN if status in (401, 403) else ""
            return Refused(f"the SPARQL server at {shown(url)} {_DENIED[status]}", hint=hint)
        if status in (502, 504):
            return StoreUnavailable(f"the SPARQL server at {shown(url)} is not there ({status})")
        text = body.decode("utf-8", "replace")
        if kind.startswith("text/html"):
            text = _TAG.sub(" ", text)
        text = self._without_secrets(" ".join(text.split()))
        if _TIME.search(text) or (status == 503 and not text):
            return too_long(seconds)
        if status in (429, 503):
            return StoreUnavailable(f"the SPARQL server at {shown(url)} is busy ({status})")
        if 300 <= status < 400:
            return Refused(f"the SPARQL server at {shown(url)} sends elsewhere ({status}): is the address right?")
        return syntax_error(text or f"the server answered {status}", 0, 0, built)

    def _without_secrets(self, text: str) -> str:
        """A server may repeat what it was sent, and its message goes to the model."""
        for value in self._headers.values():
            text = text.replace(value.partition(" ")[2] or value, "[secret]")
        return text

    def _not_sparql(self, url: str, kind: str) -> StoreError:
        what = "a web page" if kind.startswith("text/html") else kind or "something without a type"
        return Refused(f"{shown(url)} answers with {what}, not with SPARQL results: is the address right?")


class _UncertainQuery(QueryError):
    """An update whose time was up: it may have been done."""


def is_uncertain(error: BaseException) -> bool:
    """Tells whether an update that raised this may have been done all the same."""
    return isinstance(error, Uncertain | _UncertainQuery)
