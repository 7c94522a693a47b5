"""One open graph for each store: the embedded one, and each real server; emptied before every test."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

import pytest

from kgot_core.contracts.backend import Call, GraphBackend, GraphScope, OpenContext
from kgot_core.graph.elements import Edge, GraphChange, GraphSnapshot, Node
from kgot_core.graph.fold import TaskGraph, compare
from kgot_rdf.backend import RdfBackend
from kgot_rdf.plugin import open_backend, open_remote_backend
from kgot_rdf.settings import RdfSettings, RemoteSettings


@dataclass
class OpenGraph:
    """A backend with calls that number themselves, and the graph that its changes add up to."""

    backend: GraphBackend
    store: str = "rdf"
    calls: int = 0
    told: TaskGraph = field(default_factory=TaskGraph)

    def call(self, seconds: float = 20.0, rows: int = 1000) -> Call:
        self.calls += 1
        return Call(f"call {self.calls}", seconds, rows)

    def write(self, statement: str, **limits: Any) -> GraphChange:
        change = self.backend.write(statement, self.call(**limits))
        assert change is not None
        self.told.apply(change)
        # The change that is told and the graph that is there are the same, whatever was written.
        assert not compare(self.told.snapshot(), self.snapshot)
        return change

    def query(self, statement: str, **limits: Any) -> list[Any]:
        return list(self.backend.query(statement, self.call(**limits)))

    def apply(self, *added: Node | Edge, changed: tuple[Node | Edge, ...] = (), removed: tuple[str, ...] = ()) -> None:
        self.backend.apply(GraphChange(added, changed, removed), self.call())
        self.told = TaskGraph(self.snapshot)

    def empty(self) -> OpenGraph:
        self.told = TaskGraph(self.snapshot)
        self.apply(removed=tuple(node.id for node in self.snapshot.nodes))
        return self

    @property
    def snapshot(self) -> GraphSnapshot:
        return self.backend.snapshot()

    @property
    def nodes(self) -> dict[str, tuple[tuple[str, ...], dict[str, Any]]]:
        """Labels and properties by key."""
        return {node.key: (node.labels, dict(node.properties)) for node in self.snapshot.nodes}

    @property
    def edges(self) -> list[tuple[str, str, str, dict[str, Any]]]:
        keys = {node.id: node.key for node in self.snapshot.nodes}
        listed = [
            (keys[edge.source], edge.type, keys[edge.target], dict(edge.properties)) for edge in self.snapshot.edges
        ]
        return sorted(listed, key=repr)

    def triples(self) -> int:
        """Counts what the store itself holds."""
        return int(self.query("SELECT (COUNT(*) AS ?n) WHERE { ?s ?p ?o }")[0]["n"])


def context(name: str = "test", mode: Any = "new") -> OpenContext:
    return OpenContext(GraphScope(name, mode), None)  # type: ignore[arg-type]


def embedded(mode: Any = "new", name: str = "test", **settings: Any) -> OpenGraph:
    backend = open_backend(RdfSettings(**settings), context(name, mode))
    assert isinstance(backend, RdfBackend)
    return OpenGraph(backend)


def remote(server: Any, name: str = "test", mode: Any = "new", **settings: Any) -> OpenGraph:
    chosen = RemoteSettings(query_url=server.query_url, update_url=server.update_url, **settings)
    return OpenGraph(open_remote_backend(chosen, context(name, mode)), server.name)


@pytest.fixture(scope="session")
def sparql(launcher: Callable[[str], ModuleType]) -> ModuleType:
    """The launcher."""
    return launcher("sparql_servers")


@pytest.fixture(scope="session")
def sparql_servers(sparql: ModuleType, or_skip: Any) -> Iterator[Any]:
    """Starts each server at most once a run; gives a function from its name to the server."""
    with ExitStack() as stack:
        started: dict[str, Any] = {}

        def server(name: str) -> Any:
            if name not in started:
                started[name] = or_skip(sparql.Missing, lambda: stack.enter_context(sparql.running(name)))
            return started[name]

        yield server


@pytest.fixture
def front(launcher: Callable[[str], ModuleType]) -> Iterator[Any]:
    """Gives a function that puts a proxy in front of a server, for the time of the test."""
    with ExitStack() as stack:
        yield lambda server, token="": stack.enter_context(launcher("sparql_proxy").in_front_of(server, token))


@pytest.fixture(scope="session")
def open_graphs(sparql_servers: Any) -> Iterator[Any]:
    """Opens each graph at most once a run."""
    opened: dict[str, OpenGraph] = {}

    def open_one(name: str) -> OpenGraph:
        if name not in opened:
            opened[name] = embedded() if name == "rdf" else remote(sparql_servers(name))
        return opened[name]

    yield open_one
    for graph in opened.values():
        graph.backend.close()


STORES = [
    "rdf",
    *(pytest.param(name, marks=pytest.mark.xdist_group("sparql")) for name in ("oxigraph", "fuseki", "rdf4j")),
]


@pytest.fixture(params=STORES)
def graph(request: pytest.FixtureRequest, open_graphs: Any) -> OpenGraph:
    """An empty graph, once in each store."""
    return open_graphs(request.param).empty()


@pytest.fixture
def local(open_graphs: Any) -> OpenGraph:
    """An empty embedded graph."""
    return open_graphs("rdf").empty()


@pytest.fixture(
    params=[pytest.param(name, marks=pytest.mark.xdist_group("sparql")) for name in ("oxigraph", "fuseki", "rdf4j")]
)
def server(request: pytest.FixtureRequest, sparql_servers: Any) -> Any:
    """Each real server."""
    return sparql_servers(request.param)
