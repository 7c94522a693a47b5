"""Both backends keep the contract of all backends: the embedded one, and the one on each real server."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest

from kgot_core.contracts.sandbox import Sandbox
from kgot_core.sandboxes.providers import MONTY, MontySettings
from kgot_core.testing.backend_suite import BackendSuite, OpenBackend
from kgot_rdf.plugin import kgot_graph_backends, open_remote_backend
from kgot_rdf.settings import RemoteSettings

ENDLESS = "SELECT (COUNT(*) AS ?n) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l . ?m ?o ?p . ?q ?r ?s . ?t ?u ?v }"


class TestEmbedded(BackendSuite):
    provider: ClassVar[Any] = next(provider for provider in kgot_graph_backends() if provider.name == "rdf")
    reuse = True
    endless = ENDLESS
    several_rows = "SELECT ?name { ?thing :name ?name }"

    @pytest.fixture
    def sandbox(self) -> Sandbox:
        return MONTY.open(MontySettings())


@pytest.mark.xdist_group("sparql")
class TestOxigraph(BackendSuite):
    server: ClassVar[str] = "oxigraph"
    reuse = True
    endless = ENDLESS
    several_rows = "SELECT ?name { ?thing :name ?name }"
    keeps_graph = False

    @pytest.fixture
    def open_backend(self, sparql_servers: Any) -> OpenBackend:
        server = sparql_servers(self.server)
        settings = RemoteSettings(query_url=server.query_url, update_url=server.update_url)
        return lambda context: open_remote_backend(settings, context)


@pytest.mark.xdist_group("sparql")
class TestFuseki(TestOxigraph):
    server = "fuseki"


@pytest.mark.xdist_group("sparql")
class TestRdf4j(TestOxigraph):
    server = "rdf4j"
