"""The newest Neo4j: the suite for third parties, and what is ours beyond it; run by ``make newest``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import pytest

from kgot_core.contracts.backend import Call, GraphScope, OpenContext
from kgot_core.errors import QueryError, Refused
from kgot_core.testing.backend_suite import BackendSuite, OpenBackend
from kgot_neo4j.opening import open_graph
from kgot_neo4j.settings import Neo4jSettings

pytestmark = pytest.mark.newest


@pytest.fixture(scope="module")
def newest(servers: ModuleType, or_skip: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a server of the newest version."""
    server = servers.Neo4jServer(tmp_path_factory.mktemp("newest") / "home", newest=True)
    try:
        yield or_skip(servers.NotHere, server.start).uri
    finally:
        server.kill()


@pytest.fixture
def open_newest(newest: str, servers: ModuleType) -> Callable[..., Any]:
    def opened(context: OpenContext, **changed: Any) -> Any:
        return open_graph(Neo4jSettings(uri=newest, **{"password": servers.PASSWORD, **changed}), context)

    return opened


class TestNewest(BackendSuite):
    keeps_graph = True
    endless = "UNWIND range(1, 1000000000) AS x UNWIND range(1, 1000000000) AS y RETURN count(*) AS n"
    refused_values = None

    @pytest.fixture
    def open_backend(self, open_newest: Any) -> OpenBackend:
        return lambda context: open_newest(context, existing="replace")


def test_errors_and_refusals_are_the_same(open_newest: Any) -> None:
    context = OpenContext(GraphScope("run"), None)  # type: ignore[arg-type]
    with pytest.raises(Refused, match="refuses the user or password"):
        open_newest(context, password="not the one")
    with pytest.raises(Refused, match="no such database"):
        open_newest(context, database="elsewhere")
    backend = open_newest(context, existing="replace")
    with pytest.raises(Refused, match="used by the run"):
        open_newest(context)
    with pytest.raises(QueryError, match="Variable `star` already declared"):
        backend.write('MERGE (star:A {name: "x"}) MERGE (star:A {name: "y"})', Call("1"))
    with pytest.raises(QueryError, match="Invalid input"):
        backend.write('MERGE (a:A {name: "x"', Call("2"))
    for query in ("MATCH (n) DETACH DELETE n", "LOAD CSV FROM 'file:///x' AS r RETURN r", "SHOW TRANSACTIONS"):
        with pytest.raises(QueryError):
            backend.query(query, Call("3"))
    with pytest.raises(QueryError, match="took longer"):
        backend.query(
            "UNWIND range(1, 100000000) AS x UNWIND range(1, 100000000) AS y RETURN count(*) AS c", Call("4", 1.0)
        )
    backend.close()
