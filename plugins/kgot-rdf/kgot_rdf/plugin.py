"""The entry point: two backends and three file formats."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from kgot_core.hookspecs import hookimpl
from kgot_core.providers import BackendProvider, FormatProvider, Problem
from kgot_rdf.settings import FormatSettings, GraphSettings, RdfSettings, RemoteSettings

if TYPE_CHECKING:
    from kgot_core.contracts.backend import GraphBackend, OpenContext
    from kgot_core.contracts.dialect import Dialect
    from kgot_core.graph.elements import GraphSnapshot
    from kgot_core.graph.losses import Losses


def check(settings: RdfSettings) -> Problem | None:
    """Tells whether the embedded store can be opened."""
    return _check_shared(settings, "rdf")


def check_remote(settings: RemoteSettings) -> Problem | None:
    """Tells whether the server is named and answers."""
    problem = _check_shared(settings, "rdf-remote")
    if problem is not None:
        return problem
    if settings.lease_seconds <= 0:
        return Problem(f"backends.rdf-remote.lease_seconds must be above 0, not {settings.lease_seconds}")
    from kgot_rdf.server import ping

    return ping(settings)


def check_format(settings: FormatSettings) -> Problem | None:
    """Tells whether the settings of a file format make sense."""
    return _check_libraries() or _check_namespace(settings.namespace, "formats.*")


def _check_libraries() -> Problem | None:
    for module, need in (
        ("httptools", "httptools>=0.6.4,<1"),
        ("pyoxigraph", "pyoxigraph>=0.5.13,<0.6"),
        ("rdflib", "rdflib>=7,<8"),
    ):
        if importlib.util.find_spec(module) is None:
            return Problem(f"{module} is not installed", f"pip install '{need}'")
    return None


def _check_namespace(namespace: str, where: str) -> Problem | None:
    if namespace.startswith(("http://", "https://", "urn:")) and namespace[-1] in "/#:":
        return None
    return Problem(
        f"{where}.namespace is no address that names can follow: {namespace!r}", "for example http://example.org/kg#"
    )


def _check_shared(settings: GraphSettings, name: str) -> Problem | None:
    if problem := _check_libraries():
        return problem
    for key in ("statement_chars", "memory_mb", "load_seconds"):
        if getattr(settings, key) <= 0:
            return Problem(f"backends.{name}.{key} must be above 0, not {getattr(settings, key)}")
    if problem := _check_namespace(settings.namespace, f"backends.{name}"):
        return problem
    for key in ("shapes", "rules"):
        file = getattr(settings, key)
        if file and not Path(file).is_file():
            return Problem(f"backends.{name}.{key}: there is no file {file}")
    if settings.shapes and importlib.util.find_spec("pyshacl") is None:
        return Problem("SHACL shapes need pyshacl", "pip install 'kgot-rdf[shacl]'")
    if settings.inference != "none" and importlib.util.find_spec("owlrl") is None:
        return Problem("inference needs owlrl", "pip install 'kgot-rdf[owl]'")
    return None


def keeps(settings: RdfSettings, name: str) -> Problem | None:
    """Tells whether graphs outlive their runs."""
    if settings.folder:
        return None
    return Problem(
        "it keeps its graphs in memory",
        "name a folder for them: --set backends.rdf.folder=DIR, or start from the graph of an earlier run: --graph RUN",
    )


def open_backend(settings: RdfSettings, context: OpenContext) -> GraphBackend:
    """Opens a graph in a store of its own."""
    from kgot_rdf.opening import open_embedded

    return open_embedded(settings, context)


def open_remote_backend(settings: RemoteSettings, context: OpenContext) -> GraphBackend:
    """Opens a graph on a server."""
    from kgot_rdf.opening import open_remote

    return open_remote(settings, context)


def _read(format: str, settings: FormatSettings, path: Path, losses: Losses) -> GraphSnapshot:
    from pyoxigraph import RdfFormat

    from kgot_rdf.formats import read_rdf

    return read_rdf(getattr(RdfFormat, format), settings, path, losses)


def _write(format: str, settings: FormatSettings, graph: GraphSnapshot, path: Path, losses: Losses) -> None:
    from pyoxigraph import RdfFormat

    from kgot_rdf.formats import write_rdf

    write_rdf(getattr(RdfFormat, format), settings, graph, path, losses)


def _format(name: str, suffix: str, format: str, summary: str) -> FormatProvider:
    return FormatProvider(
        name=name,
        summary=summary,
        settings=FormatSettings,
        check=check_format,
        suffixes=(suffix,),
        read=partial(_read, format),
        write=partial(_write, format),
    )


def _dialect() -> type[Dialect]:
    from kgot_rdf.dialect import TurtleDialect

    return TurtleDialect


@hookimpl
def kgot_graph_backends() -> Iterable[BackendProvider]:
    """The backends ``rdf`` and ``rdf-remote``."""
    return [
        BackendProvider(
            name="rdf",
            summary="RDF in an embedded Oxigraph, in memory or a folder, written and queried in SPARQL.",
            settings=RdfSettings,
            check=check,
            keeps=keeps,
            open=open_backend,
            dialect=_dialect,
        ),
        BackendProvider(
            name="rdf-remote",
            summary="RDF on any SPARQL 1.1 server (RDF4J, GraphDB, Fuseki, Oxigraph), one named graph for each run.",
            settings=RemoteSettings,
            check=check_remote,
            keeps=lambda settings, name: None,
            open=open_remote_backend,
            dialect=_dialect,
        ),
    ]


@hookimpl
def kgot_graph_formats() -> Iterable[FormatProvider]:
    """RDF files."""
    return [
        _format("turtle", ".ttl", "TURTLE", "RDF as Turtle."),
        _format("ntriples", ".nt", "N_TRIPLES", "RDF as N-Triples, one triple a line."),
        _format("jsonld", ".jsonld", "JSON_LD", "RDF as JSON-LD; contexts from the network are not fetched."),
    ]
