"""One graph, three views: through every format in any order, and through the three stores, it stays the same graph."""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kgot_core.contracts.backend import Call, GraphBackend, GraphScope, OpenContext
from kgot_core.graph.elements import GraphChange, GraphSnapshot
from kgot_core.graph.losses import Losses
from kgot_core.graph.same import unlike
from kgot_core.plugins import PluginRegistry
from kgot_core.sandboxes.providers import MONTY
from kgot_core.session.graphs import read_graph, write_graph
from kgot_core.testing.graphs import (
    ANYTHING,
    PLAIN_LISTS,
    PLAIN_VALUES,
    RARE_LISTS,
    RARE_VALUES,
    Vocabulary,
    make_graph,
)

SERVERS = Path(__file__).parents[1] / "servers" / "neo4j_server.py"
# One name that the mapping to RDF uses itself; what was inferred has a test with that format.
WORDS = replace(ANYTHING, inferred=False, names=[name for name in ANYTHING.names if name != "urn:kgot:values"])
BOTH_WAYS = ("a.json", "b.zip", "c/", "d.ttl", "e.nt", "f.jsonld", "g.graphml", "h.gexf", "i.neo4j.json")
# What Neo4j refuses as a property, as its page says.
REFUSED = ("huge number", "not a number")
HELD = Vocabulary(
    values={
        name: value
        for name, value in {**PLAIN_VALUES, **RARE_VALUES, **PLAIN_LISTS, **RARE_LISTS}.items()
        if name not in REFUSED
    }
)


@pytest.fixture(scope="module")
def registry() -> PluginRegistry:
    made = PluginRegistry()
    made.load()
    return made


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 100_000), files=st.permutations(BOTH_WAYS))
def test_a_graph_goes_through_every_format_in_any_order(
    seed: int, files: list[str], registry: PluginRegistry, tmp_path: Path
) -> None:
    graph = found = make_graph(seed, WORDS)
    losses = Losses()
    for name in files:
        file = f"{tmp_path}/{name}"
        told = None if "neo4j" in name else losses  # what is text there comes back all the same
        write_graph(registry, found, file, losses=told, force=True)
        found = read_graph(registry, file, tmp_path, losses=losses)
        assert unlike(graph, found) == [], f"after {name}"
    assert losses.lines() == []


def test_addresses_of_nodes_survive_every_format(registry: PluginRegistry, tmp_path: Path) -> None:
    (tmp_path / "start.ttl").write_text(
        "@prefix x: <http://hills.example/> . x:a a x:Hill ; x:near [ x:km 3 ] , x:b . x:b x:height 450 ."
    )
    first = found = read_graph(registry, str(tmp_path / "start.ttl"), tmp_path)
    assert "<http://hills.example/a>" in {node.key for node in first.nodes}
    for name in BOTH_WAYS:
        write_graph(registry, found, f"{tmp_path}/{name}")
        found = read_graph(registry, f"{tmp_path}/{name}", tmp_path)
        assert unlike(first, found, keys=True) == [], f"after {name}"


class Stores:
    """Opens stores, and takes graphs from one into the next."""

    def __init__(self, registry: PluginRegistry) -> None:
        self._registry = registry
        self._opened: dict[str, GraphBackend] = {}
        self._calls = 0
        self.settings: dict[str, dict[str, Any]] = {}

    def through(self, name: str, graph: GraphSnapshot) -> GraphSnapshot:
        if name not in self._opened:
            provider: Any = self._registry.get("backend", name)
            context = OpenContext(GraphScope("views"), MONTY.open(MONTY.settings()))
            self._opened[name] = provider.open(provider.settings(**self.settings.get(name, {})), context)
        backend = self._opened[name]
        self._calls += 1
        old = tuple(element.id for element in backend.snapshot().elements())
        backend.apply(GraphChange(removed=old), Call(f"empty {self._calls}"))
        backend.apply(GraphChange(added=tuple(graph.elements())), Call(f"apply {self._calls}"))
        return backend.snapshot()

    def close(self) -> None:
        for backend in self._opened.values():
            backend.close()


@pytest.fixture(scope="module")
def stores(registry: PluginRegistry) -> Iterator[Stores]:
    made = Stores(registry)
    yield made
    made.close()


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 100_000))
def test_a_graph_goes_through_rdf_and_networkx_and_back(seed: int, stores: Stores) -> None:
    graph = found = make_graph(seed, WORDS)
    for name in ("networkx", "rdf", "networkx"):
        found = stores.through(name, found)
        assert unlike(graph, found) == [], f"after {name}"


@pytest.fixture
def neo4j(stores: Stores) -> Iterator[None]:
    """Lets the stores open the real Neo4j."""
    name = "kgot_test_neo4j_server"
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, SERVERS)
        assert spec is not None and spec.loader is not None
        sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
    servers = sys.modules[name]
    try:
        uri = servers.shared()
    except servers.NotHere as error:
        if os.environ.get("CI"):
            pytest.fail(f"no Neo4j: {error}")
        pytest.skip(f"no Neo4j: {error}")
    with servers.alone():
        stores.settings["neo4j"] = {"uri": uri, "password": servers.PASSWORD, "existing": "replace"}
        yield
        stores.close()


@pytest.mark.xdist_group("neo4j")
def test_a_graph_goes_through_all_three_stores_and_back(stores: Stores, neo4j: None) -> None:
    for seed in range(10):
        graph = found = make_graph(seed, HELD)
        for name in ("networkx", "rdf", "neo4j", "networkx"):
            found = stores.through(name, found)
            assert unlike(graph, found) == [], f"make_graph({seed}, ...) after {name}"
