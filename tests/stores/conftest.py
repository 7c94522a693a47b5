"""The settings of each backend, with its real server."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest


@pytest.fixture
def settings_of(launcher: Any, or_skip: Any) -> Iterator[Callable[[str], dict[str, Any]]]:
    """Gives the settings of a backend, with its server started."""
    with ExitStack() as stack:

        def settings(backend: str) -> dict[str, Any]:
            if backend == "neo4j":
                neo4j = launcher("neo4j_server")
                told = {"uri": or_skip(neo4j.NotHere, neo4j.shared), "password": neo4j.PASSWORD, "existing": "replace"}
                stack.enter_context(neo4j.alone())
            elif backend == "rdf-remote":
                sparql = launcher("sparql_servers")
                server = or_skip(sparql.Missing, lambda: stack.enter_context(sparql.running("oxigraph")))
                told = {"query_url": server.query_url, "update_url": server.update_url}
            else:
                told = {}
            return {f"backends.{backend}.{name}": value for name, value in told.items()}

        yield settings
