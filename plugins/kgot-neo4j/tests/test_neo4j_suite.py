"""The suite for third parties, against the real server."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from kgot_core.testing.backend_suite import BackendSuite, OpenBackend
from kgot_neo4j.opening import open_graph
from kgot_neo4j.settings import Neo4jSettings

pytestmark = pytest.mark.xdist_group("neo4j")


class TestNeo4jSuite(BackendSuite):
    keeps_graph = True
    endless = "UNWIND range(1, 1000000000) AS x UNWIND range(1, 1000000000) AS y RETURN count(*) AS n"
    several_rows = "MATCH (n) RETURN n.name AS name"
    refused_values = None

    @pytest.fixture
    def open_backend(self, settings: Callable[..., Neo4jSettings]) -> OpenBackend:
        return lambda context: open_graph(settings(), context)
