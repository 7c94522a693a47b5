"""Triples as terms (RDF-star, RDF 1.2): refused in queries, writes, rules, files and graphs that are kept."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyoxigraph as ox
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgot_core.contracts.backend import Call, GraphScope, OpenContext
from kgot_core.errors import QueryError, Refused
from kgot_rdf.http import SparqlClient
from kgot_rdf.names import DEFAULT_NAMESPACE
from kgot_rdf.plugin import open_backend, open_remote_backend
from kgot_rdf.rules import read_rules
from kgot_rdf.settings import RdfSettings, RemoteSettings
from kgot_rdf.statement import Reader

READER = Reader(DEFAULT_NAMESPACE, 100_000)
SPACE = st.sampled_from(["", " ", "\n", " # {| no\n "])
TERMS = st.sampled_from([":a", "?x", "<http://e.example/x>", "_:b", '"~ {| <<"', "1"])
# A reifier's name, or none; then maybe what is said of the triple.
REIFIERS = st.sampled_from(["", " ~", " ~ :r", "~:r", "~_:r", " ~ <urn:r>"])


@st.composite
def triples(draw: st.DrawFn) -> str:
    """Draws a pattern with at least one triple as a term in it."""
    subject, predicate, obj = draw(TERMS), draw(st.sampled_from([":p", "a", "?p"])), draw(TERMS)
    space = draw(SPACE)
    inner = f"{space}{subject} {predicate} {obj}{space}"
    form = draw(st.sampled_from(["reified", "term", "annotated", "named", "nested", "function"]))
    if form == "reified":
        return f"<<{inner}{draw(REIFIERS)} >> :q 1"
    if form == "term":
        return f":s :q <<({inner})>>"
    if form == "annotated":
        return f"{inner}{draw(REIFIERS)} {{|{space}:q 1{space}|}}"
    if form == "named":
        return f"{inner}{draw(REIFIERS.filter(bool))}"
    if form == "nested":
        return f"<<:s :q <<({inner})>> >> :q 1"
    name = draw(st.sampled_from(["TRIPLE", "triple", "isTriple", "SUBJECT", "predicate", "Object"]))
    return f"?s ?p ?o FILTER({name}{space}(?s, ?p, ?o) = ?o)"


def assert_refused(read: Callable[[str], Any], statement: str) -> None:
    with pytest.raises(QueryError, match="not allowed: use rdf:subject") as caught:
        read(statement)
    assert caught.value.line >= 1 and caught.value.column >= 1


@settings(max_examples=300, deadline=None)
@given(triples(), st.sampled_from(["?s ?p ?o . ", "{ ?a ?b 1 } UNION ", "OPTIONAL ", ""]), SPACE)
def test_a_query_with_a_triple_as_a_term_is_refused(pattern: str, before: str, space: str) -> None:
    inner = f"{before}{{{space}{pattern} }}"
    for head, tail in (("SELECT * WHERE", ""), ("ASK", ""), ("DESCRIBE ?x WHERE", " LIMIT 3")):
        assert_refused(READER.query, f"{head} {{ {inner} }}{tail}")
    assert_refused(READER.query, f"CONSTRUCT {{ {pattern} }} WHERE {{ ?s ?p ?o }}")
    assert_refused(READER.query, f"SELECT * WHERE {{ ?s ?p ?o {{ SELECT ?z {{ {inner} }} }} }}")


@settings(max_examples=300, deadline=None)
@given(triples().filter(lambda pattern: "?" not in pattern and "_:" not in pattern))
def test_data_with_a_triple_as_a_term_are_refused(data: str) -> None:
    for statement in (
        f"INSERT DATA {{ {data} }}",
        f"DELETE DATA {{ {data} }}",
        f"INSERT {{ {data} }}",
        f"INSERT DATA {{ :a :b 1 }} ; INSERT DATA {{ {data} }}",
        f"PREFIX x: <urn:x> INSERT {{ {data} }} WHERE {{ ?s ?p ?o }}",
    ):
        assert_refused(READER.update, statement)


@settings(max_examples=300, deadline=None)
@given(triples().filter(lambda pattern: "_:" not in pattern))
def test_a_write_with_a_triple_as_a_term_is_refused(pattern: str) -> None:
    for statement in (
        f"DELETE WHERE {{ {pattern} }}",
        f"DELETE {{ {pattern} }} WHERE {{ {pattern} }}",
        f"INSERT {{ {pattern} }} WHERE {{ {pattern} }}",
        f"DELETE {{ ?s ?p ?o }} INSERT {{ {pattern} }} WHERE {{ {pattern} ?s ?p ?o }}",
        f"INSERT {{ :a :b 1 }} WHERE {{ {pattern} }}",
    ):
        assert_refused(READER.update, statement)


@settings(max_examples=50, deadline=None)
@given(triples())
def test_a_rule_with_a_triple_as_a_term_is_refused(tmp_path_factory: pytest.TempPathFactory, pattern: str) -> None:
    file = tmp_path_factory.mktemp("rules") / "rules.rq"
    file.write_text(f"CONSTRUCT {{ ?a :q 1 }} WHERE {{ ?a ?b ?c . {pattern} }}", "utf-8")
    with pytest.raises(Refused, match=r"line \d+: .* is not allowed"):
        read_rules(str(file), DEFAULT_NAMESPACE)


@pytest.mark.parametrize(
    "pattern",
    [
        "?s (:p|:q) ?o",
        "?s :p|^:q ?o FILTER(?a || ?b)",
        '?s :p "<< {| |} ~ TRIPLE(1)"',
        "?triple :subject :Object . :object a :Triple",
        "?s rdf:subject ?a ; rdf:predicate ?b ; rdf:object ?c",
        "<http://e.example/~x> :p ?o # {| |}",
        "?s :p :a\\~b",
    ],
)
def test_what_only_looks_so_passes(pattern: str) -> None:
    ox.Store().query(READER.query(f"SELECT * WHERE {{ {pattern} \n}}").built.text)


def test_a_folder_with_a_triple_as_a_term_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    folder = tmp_path / "hills"
    update = "INSERT DATA { <urn:a> <urn:b> <urn:c> {| <urn:d> 1 |} }"
    store = ox.Store(str(folder))
    store.update(update)
    before = sorted(map(str, store))
    del store
    for mode in ("keep", "read_only"):
        with pytest.raises(Refused, match="statement about a statement"):
            open_backend(RdfSettings(folder=str(tmp_path)), OpenContext(GraphScope("hills", mode), None))  # type: ignore[arg-type]
    assert sorted(map(str, ox.Store.read_only(str(folder)))) == before


@pytest.mark.xdist_group("sparql")
@pytest.mark.parametrize("name", ["oxigraph", "fuseki"])
def test_a_servers_graph_with_a_triple_as_a_term_is_refused(sparql_servers: Any, name: str) -> None:
    server = sparql_servers(name)
    graph = f"urn:theirs:{name}-star"
    client = SparqlClient(server.query_url, server.update_url, {}, 5)
    term = "<<( <urn:a> <urn:b> 1 )>>" if name == "oxigraph" else "<< <urn:a> <urn:b> 1 >>"
    client.update(f"INSERT DATA {{ GRAPH <{graph}> {{ <urn:s> <urn:p> 1 , {term} }} }}", 10)
    chosen = RemoteSettings(query_url=server.query_url, update_url=server.update_url)
    try:
        for mode in ("keep", "read_only"):
            with pytest.raises(Refused, match="statement about a statement"):
                open_remote_backend(chosen, OpenContext(GraphScope(graph, mode), None))  # type: ignore[arg-type]
    finally:
        client.update(f"DROP SILENT GRAPH <{graph}>", 10)


@pytest.mark.xdist_group("sparql")
def test_a_triple_as_a_term_that_comes_from_elsewhere_is_refused_in_a_result(sparql_servers: Any) -> None:
    server = sparql_servers("oxigraph")
    chosen = RemoteSettings(query_url=server.query_url, update_url=server.update_url)
    backend = open_remote_backend(chosen, OpenContext(GraphScope("star-result"), None))  # type: ignore[arg-type]
    client = SparqlClient(server.query_url, server.update_url, {}, 5)
    client.update("INSERT DATA { GRAPH <urn:kgot:run:star-result> { <urn:s> <urn:p> <<( <urn:a> <urn:b> 1 )>> } }", 10)
    try:
        for query in ("SELECT ?o { ?s ?p ?o }", "CONSTRUCT { ?s ?p ?o } WHERE { ?s ?p ?o }"):
            with pytest.raises(QueryError, match="statement about a statement"):
                backend.query(query, Call(query))
    finally:
        backend.close()
