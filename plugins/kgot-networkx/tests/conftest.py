"""One open graph for each real sandbox, emptied before every test."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

import pytest

from kgot_core.contracts.backend import Call, GraphScope, OpenContext
from kgot_core.contracts.sandbox import Sandbox
from kgot_core.graph.elements import Edge, GraphChange, GraphSnapshot, Node
from kgot_core.sandboxes.providers import BWRAP, DOCKER, MONTY
from kgot_core.testing.sandbox_suite import ready_sandbox
from kgot_networkx.backend import NetworkxBackend
from kgot_networkx.plugin import open_backend
from kgot_networkx.settings import NetworkxSettings

PROVIDERS = {"bwrap": BWRAP, "monty": MONTY}


def make_sandbox(name: str, docker_settings: Any = None) -> Sandbox:
    if name == "docker":
        return ready_sandbox(DOCKER, docker_settings)
    provider = PROVIDERS[name]
    return ready_sandbox(provider, provider.settings())


def to_be_run(code: str) -> str:
    """Gives a script that does the same and holds a statement that is more than data."""
    try:
        ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return code
    return f"{code}\nif G is None: pass"


@dataclass
class OpenGraph:
    """A backend with calls that number themselves; unless ``reads`` is set, the sandbox runs every write."""

    backend: NetworkxBackend
    sandbox: str
    calls: int = 0
    reads: bool = False

    def call(self, seconds: float = 20.0, rows: int = 1000) -> Call:
        self.calls += 1
        return Call(f"call {self.calls}", seconds, rows)

    def write(self, code: str, **limits: Any) -> GraphChange:
        return self.backend.write(code if self.reads else to_be_run(code), self.call(**limits))

    def query(self, code: str, **limits: Any) -> list[Any]:
        return list(self.backend.query(code, self.call(**limits)))

    def apply(self, *added: Node | Edge, removed: tuple[str, ...] = ()) -> None:
        self.backend.apply(GraphChange(added=added, removed=removed), self.call())

    @property
    def snapshot(self) -> GraphSnapshot:
        return self.backend.snapshot()

    @property
    def nodes(self) -> dict[str, tuple[tuple[str, ...], dict[str, Any]]]:
        """Labels and properties by key, without a name that is the key once more."""
        return {
            node.key: (node.labels, {k: v for k, v in node.properties.items() if (k, v) != ("name", node.key)})
            for node in self.snapshot.nodes
        }

    @property
    def edges(self) -> list[tuple[str, str, str, dict[str, Any]]]:
        keys = {node.id: node.key for node in self.snapshot.nodes}
        listed = [
            (keys[edge.source], edge.type, keys[edge.target], dict(edge.properties)) for edge in self.snapshot.edges
        ]
        return sorted(listed, key=repr)


def open_one(name: str, mode: Literal["new", "read_only"] = "new", sandbox: Sandbox | None = None) -> OpenGraph:
    context = OpenContext(GraphScope("test", mode), sandbox or make_sandbox(name))
    backend = open_backend(NetworkxSettings(), context)
    assert isinstance(backend, NetworkxBackend)
    return OpenGraph(backend, name)


@pytest.fixture
def open_graph(request: pytest.FixtureRequest) -> Iterator[Callable[..., OpenGraph]]:
    """Opens further graphs, closed after the test."""
    opened: list[OpenGraph] = []

    def open_further(name: str, *arguments: Any, **named: Any) -> OpenGraph:
        if name == "docker":
            named["sandbox"] = make_sandbox(name, request.getfixturevalue("docker_settings"))
        opened.append(open_one(name, *arguments, **named))
        return opened[-1]

    yield open_further
    for one in opened:
        one.backend.close()


@pytest.fixture
def sandbox_of() -> Callable[[str], Sandbox]:
    """Gives the real sandbox of a name."""
    return make_sandbox


@pytest.fixture(
    scope="session",
    params=["bwrap", "monty", "monty reads", pytest.param("docker", marks=pytest.mark.xdist_group("docker"))],
)
def any_graph(request: pytest.FixtureRequest) -> Iterator[OpenGraph]:
    settings = request.getfixturevalue("docker_settings") if request.param == "docker" else None
    name, _, reads = request.param.partition(" ")
    opened = open_one(name, sandbox=make_sandbox(name, settings))
    opened.reads = bool(reads)
    yield opened
    opened.backend.close()


@pytest.fixture(scope="session")
def bwrap_graph() -> Iterator[OpenGraph]:
    opened = open_one("bwrap")
    yield opened
    opened.backend.close()


@pytest.fixture(scope="session")
def monty_graph() -> Iterator[OpenGraph]:
    opened = open_one("monty")
    yield opened
    opened.backend.close()


def emptied(opened: OpenGraph) -> OpenGraph:
    opened.apply(removed=tuple(node.id for node in opened.snapshot.nodes))
    return opened


@pytest.fixture
def graph(any_graph: OpenGraph) -> OpenGraph:
    """An empty graph, once in each sandbox, and once where writes of plain statements are read."""
    return emptied(any_graph)


@pytest.fixture
def full(bwrap_graph: OpenGraph) -> OpenGraph:
    """An empty graph with full Python."""
    return emptied(bwrap_graph)


@pytest.fixture
def subset(monty_graph: OpenGraph) -> OpenGraph:
    """An empty graph with a part of Python."""
    return emptied(monty_graph)
