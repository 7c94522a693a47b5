"""A graph on a SPARQL 1.1 server: one named graph for each run, changed by triples only, one update for each write."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence

from kgot_core.contracts.backend import GraphScope
from kgot_core.errors import Refused, StoreError, StoreUnavailable
from kgot_rdf import notes
from kgot_rdf.addresses import beside, graph_iri
from kgot_rdf.embedded import EmbeddedStore
from kgot_rdf.hold import Hold
from kgot_rdf.http import JSON, TRIPLES, is_uncertain
from kgot_rdf.http_body import read_json
from kgot_rdf.record import RdfRecord
from kgot_rdf.remote_terms import insert_and_delete, read_binding, read_triples
from kgot_rdf.server import client_of
from kgot_rdf.settings import RemoteSettings
from kgot_rdf.statement import Query
from kgot_rdf.store import Store, Table
from kgot_rdf.terms import Triple
from kgot_rdf.text import Built
from kgot_rdf.triples import Delta

_LOOK_SECONDS = 5.0
_CHUNK = 20_000


class RemoteStore(Store):
    """The run's named graph.

    Args:
        settings: Addresses and authentication.
        scope: The run.
        run: Its id, for messages.
        record: What the graph is filled with where its state is not certain.
        reasoner: A store beside it, where something is checked or inferred.
        goes_on: The run has written into the graph before; the note of its last call stays.
    """

    def __init__(
        self,
        settings: RemoteSettings,
        scope: GraphScope,
        run: str,
        record: Callable[[], RdfRecord],
        reasoner: EmbeddedStore | None,
        goes_on: bool = False,
    ) -> None:
        self._client = client_of(settings)
        self._record = record
        self._reasoner = reasoner
        self._load_seconds = settings.load_seconds
        self._graph = graph_iri(settings, scope)
        self._inferred, self._stage = beside(self._graph, "inferred"), beside(self._graph, "staged")
        self._last = beside(self._graph, "last")
        self._all = self._graph, self._inferred, self._stage, self._last
        self._drops = scope.mode == "new" and not settings.keep
        self._read_only = scope.mode == "read_only"
        self._certain = True
        self._staged = False
        self._closed = False
        self._hold: Hold | None = None
        self._has_inferred = reasoner is not None
        if scope.mode == "new":
            self._client.update(self._drop(*self._all), self._load_seconds)
        elif scope.mode == "keep":
            self._hold = Hold(client_of(settings), self._graph, run, settings.lease_seconds)
            try:
                self._hold.take()
                # What follows from the graph is found anew, or is not asked for any more.
                old = (self._inferred, self._stage) if goes_on else (self._inferred, self._stage, self._last)
                self._client.update(self._drop(*old), self._load_seconds)
            except BaseException:
                self._hold.release()
                raise
        else:
            self._client.query("ASK { }", JSON, (), _LOOK_SECONDS)

    def kept(self) -> Sequence[Triple]:
        """See :class:`~kgot_rdf.store.Store`."""
        return self._read(self._graph)

    def kept_inferred(self) -> Sequence[Triple]:
        """See :class:`~kgot_rdf.store.Store`."""
        return self._read(self._inferred) if self._read_only else ()

    def noted(self) -> Sequence[str]:
        """See :class:`~kgot_rdf.store.Store`."""
        data = read_json(self._client.query(notes.asked(), JSON, (self._last,), self._load_seconds), self._load_seconds)
        return [row["call"]["value"] for row in data["results"]["bindings"]]

    def _read(self, graph: str) -> Sequence[Triple]:
        text = "CONSTRUCT { ?s ?p ?o } WHERE { ?s ?p ?o }"
        return read_triples(self._client.query(text, TRIPLES, (graph,), self._load_seconds), self._load_seconds)

    def query(self, query: Query, rows: int, seconds: float) -> Table:
        """See :class:`~kgot_rdf.store.Store`."""
        self._make_certain()
        graphs = self._graphs(self._graph)
        if query.form in ("CONSTRUCT", "DESCRIBE"):
            body = self._client.query(query.built.text, TRIPLES, graphs, seconds, query.built)
            found = read_triples(body, seconds)
            return Table(("subject", "predicate", "object"), found[:rows], cut=len(found) > rows)
        data = read_json(self._client.query(query.built.text, JSON, graphs, seconds, query.built), seconds)
        if "boolean" in data:
            return Table((), boolean=bool(data["boolean"]))
        names = list(data["head"].get("vars", ()))
        bindings = data["results"]["bindings"]
        table = [[read_binding(row.get(name)) for name in names] for row in bindings[:rows]]
        return Table(names, table, cut=len(bindings) > rows)

    def construct(self, built: Built, seconds: float) -> Sequence[Triple]:
        """See :class:`~kgot_rdf.store.Store`."""
        self._make_certain()
        graphs = self._graphs(self._stage if self._staged else self._graph)
        return read_triples(self._client.query(built.text, TRIPLES, graphs, seconds, built), seconds)

    def stage(self, delta: Delta, seconds: float) -> None:
        """See :class:`~kgot_rdf.store.Store`; works on a copy of the graph."""
        self._make_certain()
        self._staged = True
        copy = (
            f"DROP SILENT GRAPH <{self._stage}> ;\n"
            f"INSERT {{ GRAPH <{self._stage}> {{ ?s ?p ?o }} }} WHERE {{ GRAPH <{self._graph}> {{ ?s ?p ?o }} }}"
        )
        self._client.update(";\n".join(filter(None, (copy, insert_and_delete(self._stage, delta)))), seconds)

    def unstage(self) -> None:
        """See :class:`~kgot_rdf.store.Store`."""
        if self._staged:
            self._staged = False
            with contextlib.suppress(StoreError):  # it is dropped again before its next use, and at the end
                self._client.update(f"DROP SILENT GRAPH <{self._stage}>", self._load_seconds)

    def commit(
        self, delta: Delta, inferred: Delta, seconds: float, fold: Callable[[Delta], None], call: str = ""
    ) -> None:
        """See :class:`~kgot_rdf.store.Store`."""
        if self._hold is not None:
            self._hold.check()
        self._make_certain()
        if self._reasoner is not None:
            inferred = self._reasoner.conclude(delta, inferred, seconds)
        self._has_inferred = self._has_inferred or bool(inferred)
        if self._read_only:
            fold(inferred)
            return
        parts = insert_and_delete(self._graph, delta), insert_and_delete(self._inferred, inferred)
        text = ";\n".join(filter(None, (*parts, notes.note(self._last, call))))
        try:
            if text:
                self._client.update(text, seconds, lambda: fold(inferred))
            else:
                fold(inferred)
        except StoreError as error:
            if self._reasoner is not None:
                self._reasoner.forget()
            if is_uncertain(error) or isinstance(error, StoreUnavailable):
                self._certain = False
            raise

    def refill(self) -> None:
        """See :class:`~kgot_rdf.store.Store`."""
        if self._read_only:
            raise Refused(
                "the graph holds blank nodes, which have to get names before it can be asked",
                hint="one run with --keep-graph gives them names on the server",
            )
        self._certain = False
        self._make_certain()

    def cancel(self) -> None:
        """See :class:`~kgot_rdf.store.Store`."""
        self._client.cancel()
        if self._reasoner is not None:
            self._reasoner.cancel()

    def close(self) -> None:
        """Drops the run's graph unless it is to be kept; others are never touched."""
        if self._closed:
            return
        self._closed = True
        try:
            if self._drops:
                with contextlib.suppress(StoreError):  # the server has gone; there is nobody left to ask
                    self._client.update(self._drop(*self._all), self._load_seconds)
        finally:
            self._client.close()
            if self._hold is not None:
                self._hold.release()
            if self._reasoner is not None:
                self._reasoner.close()

    def _graphs(self, first: str) -> Sequence[str]:
        return (first, self._inferred) if self._has_inferred else (first,)

    def _drop(self, *graphs: str) -> str:
        return " ;\n".join(f"DROP SILENT GRAPH <{graph}>" for graph in graphs)

    def _make_certain(self) -> None:
        """Fills the graph anew after an update without an answer: so nothing is done twice."""
        if self._certain:
            return
        record = self._record()
        # The first part goes with the dropping: a graph of usual size is never half there.
        text = self._drop(*self._all)
        for graph, triples in ((self._graph, tuple(record.stated)), (self._inferred, tuple(record.inferred))):
            for start in range(0, len(triples), _CHUNK):
                part = insert_and_delete(graph, Delta(added=triples[start : start + _CHUNK]))
                self._client.update(f"{text} ;\n{part}" if text else part, self._load_seconds)
                text = ""
        if text:
            self._client.update(text, self._load_seconds)
        self._certain = True
