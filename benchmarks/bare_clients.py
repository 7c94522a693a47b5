"""The stores that ``stores.py`` measures: how each is opened on a real server, and the bare client beside it.

A bare client sends what the backend sends, byte for byte, and checks what it checks: it reads the statement with the
backend's own reader, which refuses what may not be run, and holds to the same time limit. Beside that there is nothing
around it: no record of the graph, no change that is told. For Neo4j it is the driver with the statement and the note of
the call's id, in one transaction; for SPARQL Python's HTTP client with the update on one connection, and a set of the
ids of calls.
"""

from __future__ import annotations

import contextlib
import http.client
import runpy
import socket
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from kgot_core.contracts.backend import GraphBackend, GraphScope, OpenContext
from kgot_core.contracts.sandbox import Sandbox
from kgot_core.providers import SandboxProvider
from kgot_core.sandboxes.providers import BWRAP, MONTY

SERVERS = Path(__file__).parents[1] / "tests" / "servers"
NAMES = ("networkx", "networkx-monty", "rdf", "neo4j", "oxigraph", "fuseki", "rdf4j")
SECONDS = 600.0
HEAP_MB = 4_096
"""Memory of the SPARQL servers in Java; with too little, a graph of 100,000 elements is all collection of garbage."""


class Bare(ABC):
    """A client without a backend around it."""

    def ready(self) -> None:  # noqa: B027 - most have nothing to do
        """Gets ready for writes after a time without any."""

    @abstractmethod
    def write(self, number: int) -> None:
        """Sends what the backend sends for the write with this number, under other names."""


class BareDriver(Bare):
    """Neo4j's driver, with one session.

    Args:
        backend: The open backend; its connection says where, and holds the database.
        statement: Gives the statement of a write under other names.
    """

    def __init__(self, backend: Any, statement: Any) -> None:
        from kgot_neo4j.statements import ready_to_write
        from kgot_neo4j.transactions import NOTE

        self._note = NOTE
        self._connection = backend._connection
        self._session = self._connection.session(write=True, rows=10_000)
        self._checked = lambda number: ready_to_write(statement(number))[0][0].text

    def write(self, number: int) -> None:
        """See :class:`Bare`."""
        text, holder = self._checked(number), self._connection.holder
        with self._session.begin_transaction(**self._connection.limits(30)) as transaction:
            result = transaction.run(text)
            rows = [row.values() for row in result] if result.keys() else []
            counters = result.consume().counters
            told = {
                "id": f"call bare {number}",
                "attempt": f"bare {number}",
                "made_nodes": counters.nodes_created,
                "made_edges": counters.relationships_created,
                "holder": holder,
                "nodes": [place for row in rows for place in row[0]],
                "edges": [place for row in rows for place in row[1]],
            }
            transaction.run(self._note, told).single()
            transaction.commit()


class BareHttp(Bare):
    """Python's HTTP client on one connection.

    Args:
        backend: The open backend, whose updates are noted.
        url: The server's address for updates.
        statement: Gives the statement of a write under other names.
    """

    def __init__(self, backend: Any, url: str, statement: Any) -> None:
        from kgot_rdf.names import DEFAULT_NAMESPACE
        from kgot_rdf.settings import GraphSettings
        from kgot_rdf.statement import Reader

        self._reader = Reader(DEFAULT_NAMESPACE, GraphSettings().statement_chars)
        self._statement = statement
        self._done: set[str] = set()
        client = backend._store._client
        self.sent: list[str] = []
        send = client.update

        def noting(text: str, *rest: Any) -> None:
            self.sent.append(text)
            send(text, *rest)

        client.update = noting
        self._parts = urlsplit(url)
        self._connection = http.client.HTTPConnection(self._parts.hostname or "", self._parts.port, timeout=30)

    def ready(self) -> None:
        """See :class:`Bare`; a server closes a connection that is silent for long."""
        self._connection.close()
        self._connection.connect()
        self._connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def write(self, number: int) -> None:
        """See :class:`Bare`; sends the last update of the backend once more."""
        call = f"call bare {number}"
        if call in self._done:
            return
        self._reader.update(self._statement(number))
        self._connection.sock.settimeout(30.0)
        body = self.sent[-1].replace("Extra", "Bare").encode()
        headers = {"Content-Type": "application/sparql-update; charset=utf-8", "Accept": "*/*"}
        self._connection.request("POST", self._parts.path, body, headers)
        answer = self._connection.getresponse()
        answer.read()
        if answer.status >= 300:
            raise RuntimeError(f"the server answered {answer.status}")
        self._done.add(call)


def sandbox_of(name: str) -> Sandbox:
    """Gives the sandbox in which networkx runs scripts."""
    provider: SandboxProvider = MONTY if name.endswith("monty") else BWRAP
    settings = provider.settings()
    if problem := provider.check(settings):
        raise RuntimeError(f"{provider.name}: {problem.message}")
    return provider.open(settings)


@contextlib.contextmanager
def opened(name: str, statement: Any) -> Iterator[tuple[GraphBackend, Bare | None]]:
    """Opens a store, its server included, for the time of the block.

    Args:
        name: One of ``NAMES``.
        statement: Gives the statement of a write under other names.

    Yields:
        The backend, and the bare client, which an embedded store does not have.
    """
    context = OpenContext(GraphScope("measured"), sandbox_of(name) if "networkx" in name else None)  # type: ignore[arg-type]
    with contextlib.ExitStack() as stack:
        bare: Bare | None = None
        backend: GraphBackend
        if name.startswith("networkx"):
            from kgot_networkx.plugin import open_backend
            from kgot_networkx.settings import NetworkxSettings

            backend = open_backend(NetworkxSettings(load_seconds=SECONDS, memory_mb=2_048), context)
        elif name == "rdf":
            from kgot_rdf.plugin import open_backend as open_rdf
            from kgot_rdf.settings import RdfSettings

            backend = open_rdf(RdfSettings(load_seconds=SECONDS), context)
        elif name == "neo4j":
            from kgot_neo4j.opening import open_graph
            from kgot_neo4j.settings import Neo4jSettings

            kit = runpy.run_path(str(SERVERS / "neo4j_server.py"))
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="kgot-neo4j-"))
            server = kit["Neo4jServer"](Path(folder)).start()
            stack.callback(server.kill)
            backend = open_graph(
                Neo4jSettings(uri=server.uri, password=kit["PASSWORD"], query_seconds=SECONDS), context
            )
            bare = BareDriver(backend, statement)
        else:
            from kgot_rdf.plugin import open_remote_backend
            from kgot_rdf.settings import RemoteSettings

            server = stack.enter_context(
                runpy.run_path(str(SERVERS / "sparql_servers.py"))["running"](name, heap_mb=HEAP_MB)
            )
            settings = RemoteSettings(query_url=server.query_url, update_url=server.update_url, load_seconds=SECONDS)
            backend = open_remote_backend(settings, context)
            bare = BareHttp(backend, server.update_url, statement)
        stack.callback(backend.close)
        yield backend, bare
