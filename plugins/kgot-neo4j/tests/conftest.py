"""The real server, an open graph on it, and calls that number themselves."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

import pytest

from kgot_core.contracts.backend import Call, GraphScope, OpenContext
from kgot_core.graph.elements import Edge, GraphChange, GraphSnapshot, Node
from kgot_neo4j.backend import Neo4jBackend
from kgot_neo4j.opening import open_graph
from kgot_neo4j.settings import Neo4jSettings


@pytest.fixture(scope="session")
def servers(launcher: Callable[[str], ModuleType]) -> ModuleType:
    """The launcher, which stands beside those of the other servers."""
    return launcher("neo4j_server")


@pytest.fixture(scope="session")
def apoc_uri(servers: ModuleType, or_skip: Any) -> str:
    """The address of this test run's server with APOC."""
    return str(or_skip(servers.NotHere, lambda: servers.shared(apoc=True)))


@pytest.fixture(scope="session")
def own_server(servers: ModuleType, or_skip: Any) -> type[Any]:
    """The class of servers that a test starts for itself."""
    or_skip(servers.NotHere, servers.jars)
    found: type[Any] = servers.Neo4jServer
    return found


@pytest.fixture
def apoc() -> bool:
    """Whether the server has APOC core; a module that needs it says so by a fixture of its own."""
    return False


@pytest.fixture
def uri(servers: ModuleType, apoc: bool, or_skip: Any) -> str:
    """The address of this test run's server."""
    return str(or_skip(servers.NotHere, lambda: servers.shared(apoc)))


@pytest.fixture
def database(uri: str, servers: ModuleType, apoc: bool) -> Iterator[str]:
    """The server's one database, for one test at a time, also where several processes run tests."""
    with servers.alone(apoc):
        yield uri


@pytest.fixture
def settings(database: str, servers: ModuleType) -> Callable[..., Neo4jSettings]:
    """Gives settings for the server; what a test left there is replaced."""

    def make(**changed: Any) -> Neo4jSettings:
        given = {"uri": database, "password": servers.PASSWORD, "existing": "replace", "start_seconds": 5.0, **changed}
        return Neo4jSettings(**given)

    return make


@dataclass
class OpenGraph:
    """A backend with calls that number themselves."""

    backend: Neo4jBackend
    calls: int = 0
    last: GraphChange = field(default_factory=GraphChange)

    def on_server(self, text: str) -> list[list[Any]]:
        """Runs a statement of the test's own, past all that the backend does for a write."""
        with self.backend._connection.session(write=True) as session:
            return session.run(text).values()

    def call(self, seconds: float = 30.0, rows: int = 1000) -> Call:
        self.calls += 1
        return Call(f"call {self.calls}", seconds, rows)

    def write(self, text: str, **limits: Any) -> GraphChange:
        self.last = self.backend.write(text, self.call(**limits))
        return self.last

    def query(self, text: str, **limits: Any) -> list[Any]:
        return list(self.backend.query(text, self.call(**limits)))

    def apply(self, *added: Node | Edge, removed: tuple[str, ...] = ()) -> None:
        self.backend.apply(GraphChange(added=added, removed=removed), self.call())

    @property
    def snapshot(self) -> GraphSnapshot:
        return self.backend.snapshot()

    @property
    def nodes(self) -> list[tuple[tuple[str, ...], dict[str, Any]]]:
        return sorted(((node.labels, dict(node.properties)) for node in self.snapshot.nodes), key=repr)

    @property
    def edges(self) -> list[tuple[str, str, str, dict[str, Any]]]:
        snapshot = self.snapshot
        names = {node.id: str(node.properties.get("name", node.properties.get("title", ""))) for node in snapshot.nodes}
        return sorted((names[e.source], e.type, names[e.target], dict(e.properties)) for e in snapshot.edges)


Opener = Callable[..., OpenGraph]


@pytest.fixture
def opened(settings: Callable[..., Neo4jSettings]) -> Iterator[Opener]:
    """Opens graphs, and closes them after the test."""
    made: list[Neo4jBackend] = []

    def make(scope: str = "test", mode: Any = "new", resume: bool = False, **changed: Any) -> OpenGraph:
        context = OpenContext(GraphScope(scope, mode), None, resume=resume)  # type: ignore[arg-type]
        made.append(open_graph(settings(**changed), context))
        return OpenGraph(made[-1])

    yield make
    for backend in reversed(made):
        backend.close()


@pytest.fixture
def graph(opened: Opener) -> OpenGraph:
    """An empty graph on the server."""
    return opened()
