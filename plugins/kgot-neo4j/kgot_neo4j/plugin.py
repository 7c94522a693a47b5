"""The entry point: one backend and two file formats."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from kgot_core.errors import Refused
from kgot_core.hookspecs import hookimpl
from kgot_core.providers import BackendProvider, FormatProvider, Problem, later
from kgot_neo4j.servers import Neo4jServers
from kgot_neo4j.settings import Neo4jSettings

if TYPE_CHECKING:
    from kgot_core.contracts.backend import GraphBackend, OpenContext

SCHEMES = ("bolt", "bolt+s", "bolt+ssc", "neo4j", "neo4j+s", "neo4j+ssc")


def check(settings: Neo4jSettings) -> Problem | None:
    """Tells whether the driver is installed and the settings make sense; the server is reached when it is opened."""
    if importlib.util.find_spec("neo4j") is None:
        return Problem("the driver neo4j is not installed", "pip install 'neo4j>=5.20,<7'")
    scheme, mark, rest = settings.uri.partition("://")
    if scheme not in SCHEMES or not mark or not rest:
        return Problem(
            f"backends.neo4j.uri must begin with one of {', '.join(f'{name}://' for name in SCHEMES)}",
            "for example bolt://localhost:7687",
        )
    if scheme.endswith(("+s", "+ssc")) and (settings.tls != "uri" or settings.trust):
        return Problem(f"{scheme}:// decides on TLS itself", "leave backends.neo4j.tls and trust out, or use bolt://")
    if settings.trust and not Path(settings.trust).is_file():
        return Problem(f"backends.neo4j.trust: there is no file {settings.trust}")
    for name in ("concurrency", "pool_size", "query_seconds", "start_seconds", "lease_seconds", "heap_mb", "cache_mb"):
        if getattr(settings, name) <= 0:
            return Problem(f"backends.neo4j.{name} must be above 0, not {getattr(settings, name)}")
    return None


def reach(settings: Neo4jSettings, keep: bool) -> Problem | None:
    """Tells why a run could not start on the server."""
    from kgot_neo4j.opening import reach as reached

    return reached(settings, keep)


def keeps(settings: Neo4jSettings, name: str) -> Problem | None:
    """Tells why a graph of this name cannot be kept: a database holds one."""
    if not name:
        return None
    return Problem(
        f"a Neo4j graph is a whole database and has no name beside it ({name})",
        "leave --graph-name out; --set backends.neo4j.database=NAME takes another database",
    )


class Opener:
    """Opens graphs, and never tries a password again that a server has refused: four tries lock the user out."""

    def __init__(self) -> None:
        self._refused: dict[tuple[str, str, str], Refused] = {}

    def open(self, settings: Neo4jSettings, context: OpenContext) -> GraphBackend:
        """Opens the graph of a run.

        Raises:
            Refused: The server does not let us in, or the database belongs to others.
            StoreUnavailable: No server answers.
        """
        from kgot_neo4j.opening import WrongPassword, open_graph

        tried = (settings.uri, settings.user, settings.password)
        if tried in self._refused:
            raise self._refused[tried]
        try:
            return open_graph(settings, context)
        except WrongPassword as error:
            self._refused[tried] = error
            raise


@hookimpl
def kgot_graph_backends() -> Iterable[BackendProvider]:
    """The backend ``neo4j``."""
    return [
        BackendProvider(
            name="neo4j",
            summary="A graph in a Neo4j database, written and queried in Cypher.",
            settings=Neo4jSettings,
            check=check,
            keeps=keeps,
            open=Opener().open,
            reach=reach,
            servers=Neo4jServers(),
        )
    ]


@hookimpl
def kgot_graph_formats() -> Iterable[FormatProvider]:
    """Files that a Neo4j database takes in."""
    return [
        FormatProvider(
            name="cypher",
            summary="Cypher statements for cypher-shell; can be written only.",
            suffixes=(".cypher",),
            write=later("kgot_neo4j.files.statements:write_statements"),
        ),
        FormatProvider(
            name="neo4j-json",
            summary="The JSON lines of apoc.export.json.all and apoc.import.json.",
            suffixes=(".neo4j.json",),
            read=later("kgot_neo4j.files.apoc_json:read_lines"),
            write=later("kgot_neo4j.files.apoc_json:write_lines"),
        ),
    ]
