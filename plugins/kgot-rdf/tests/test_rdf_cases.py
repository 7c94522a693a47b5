"""The failure cases of SPARQL that a model writes, in every store."""

from __future__ import annotations

import pyoxigraph as ox
import pytest

from kgot_core.contracts.backend import Call
from kgot_core.errors import QueryError
from kgot_core.graph.elements import Node
from kgot_rdf.names import Names

TURKU = "<http://kg.example/Turku>"


def test_well_known_prefixes_are_supplied(graph):  # D17
    graph.write(f'INSERT DATA {{ {TURKU} rdfs:label "Turku" ; rdf:type <http://kg.example/City> . }}')
    assert graph.triples() == 2
    assert graph.nodes == {TURKU: (("http://kg.example/City",), {"rdfs:label": "Turku"})}


def test_an_unknown_prefix_is_named(graph):  # D17
    with pytest.raises(QueryError, match="ex:") as caught:
        graph.write("INSERT DATA {\n  ex:Turku ex:pop 200000 . }")
    assert (caught.value.line, caught.value.column) == (2, 3)
    assert graph.triples() == 0


def test_a_prefix_that_was_declared_once_is_supplied_later(graph):
    graph.write("PREFIX ex: <http://kg.example/> INSERT DATA { ex:Turku ex:pop 200000 }")
    assert graph.query("SELECT ?n { ex:Turku ex:pop ?n }") == [{"n": 200000}]


def test_the_empty_prefix_is_always_the_graph_own(graph):
    graph.write("PREFIX : <http://example.org/> INSERT DATA { :Turku :pop 1 }")
    assert graph.query("SELECT ?n { :Turku :pop ?n }") == [{"n": 1}]


def test_spaces_in_addresses_are_encoded_alike_in_writes_and_reads(graph):  # D18
    graph.write("INSERT DATA { <http://kg.example/New York> <http://kg.example/locatedIn> <http://kg.example/USA> . }")
    rows = graph.query("SELECT ?o { <http://kg.example/New York> <http://kg.example/locatedIn> ?o }")
    assert rows == [{"o": "<http://kg.example/USA>"}]
    lines = graph.backend.dialect.lines(graph.told, graph.told)
    assert list(ox.parse("\n".join(lines), ox.RdfFormat.TURTLE)) and not any("New York" in line for line in lines)


def test_text_and_names_of_all_scripts_arrive_as_they_were_written(graph):
    graph.write('INSERT DATA { :Größe :名前 "Øst–東京" }')
    # One character of the store for each: one that was read as another encoding would be several.
    rows = graph.query('SELECT ?o (STRLEN(?o) AS ?n) { :Größe :名前 ?o FILTER(STRENDS(?o, "東京")) }')
    assert rows == [{"o": "Øst–東京", "n": 6}]


def test_a_quote_inside_a_literal_is_an_error_with_its_place_and_its_repair_is_stored_once(graph):  # D19
    subject, predicate = "<http://kg.example/q1>", "<http://kg.example/text>"
    wrong = f'INSERT DATA {{ {subject} {predicate} "He said "go"\nand left\\." . }}'
    with pytest.raises(QueryError) as caught:
        graph.write(wrong)
    assert (caught.value.line, caught.value.column) == (1, wrong.index("go") + 1)
    assert graph.triples() == 0
    graph.write(f'INSERT DATA {{ {subject} {predicate} "He said \\"go\\"\nand left\\." . }}')
    assert graph.triples() == 1
    ((_, properties),) = graph.nodes.values()
    assert properties == {"http://kg.example/text": 'He said "go"\nand left\\.'}
    (line,) = graph.backend.dialect.lines(graph.told, graph.told)
    assert "\n" not in line
    graph.write(f"INSERT DATA {{ {line} }}")
    assert graph.triples() == 1


def test_a_query_as_a_write_writes_nothing_and_says_so(graph):  # D20
    with pytest.raises(QueryError, match="nothing was written"):
        graph.write("PREFIX k: <http://kg.example/> SELECT ?s WHERE { ?s k:p ?o }")


def test_a_write_as_a_query_is_refused_by_its_grammar(graph):  # D20
    graph.write('INSERT DATA { :a :verb "INSERT DATA then DELETE" ; :d 1 }')
    for statement in (
        "# only reads\nPREFIX k: <http://kg.example/> DELETE WHERE { ?s ?p ?o }",
        "INSERT DATA { :b :d 2 }",
        "DROP DEFAULT",
        "ASK {} ; DELETE WHERE { ?s ?p ?o }",
    ):
        with pytest.raises(QueryError):
            graph.query(statement)
    assert graph.triples() == 2
    assert graph.query('SELECT ?d WHERE { ?s :verb "INSERT DATA then DELETE" ; :d ?d }') == [{"d": 1}]


def test_illegal_characters_in_prefixed_names_are_mended(graph):  # D21
    graph.write(
        "PREFIX f: <http://kg.example/> INSERT DATA { f:Alien_(1979) f:by f:R.Scott . f:O'Neil f:in f:AC/DC . f:R&D"
        " f:rate f:50% . f:Acme_Inc. f:p 1 . }"
    )
    assert graph.triples() == 4
    found = {row["s"] for row in graph.query("SELECT ?s { ?s ?p ?o }")}
    assert found == {f"<http://kg.example/{name}>" for name in ("Alien_(1979)", "O'Neil", "R&D", "Acme_Inc.")}
    assert graph.query("SELECT ?w { f:Alien_(1979) f:by ?w }") == [{"w": "<http://kg.example/R.Scott>"}]


def test_a_missing_comma_is_an_error_with_its_place(graph):  # D55
    wrong = 'INSERT DATA { :Lantern rdf:type :Film; :title "The Lantern"; :starring :NoraVale :IdaMoss; :year :1952; }'
    with pytest.raises(QueryError) as caught:
        graph.write(wrong)
    assert (caught.value.line, caught.value.column) == (1, wrong.index(":IdaMoss") + 1)
    assert "," in caught.value.message
    assert graph.triples() == 0
    graph.write(wrong.replace(":NoraVale :IdaMoss", ":NoraVale, :IdaMoss"))
    assert [edge[2] for edge in graph.edges if edge[1] == "starring"] == [":IdaMoss", ":NoraVale"]


def test_names_of_another_operation_never_make_empty_nodes(graph):  # D53
    for statement, name in (
        ('INSERT DATA { _:f a :Film ; :name "The Lantern" } ; INSERT DATA { _:f :starring :Nora }', "_:f"),
        ("INSERT DATA { _:f a :Film } ; INSERT { _:f :starring ?a } WHERE { ?a a :Actor }", "_:f"),
        ("INSERT { ?f :starring ?a } WHERE { ?a a :Actor }", "?f"),
        ("DELETE { ?a :age ?n } INSERT { ?a :age ?m } WHERE { ?a :age ?n }", "?m"),
    ):
        with pytest.raises(QueryError) as caught:
            graph.write(statement)
        assert caught.value.message.startswith(name)
        assert statement[caught.value.column - 1 :].startswith(name) and caught.value.column > 1
        assert not graph.nodes
    graph.write('INSERT DATA { _:f a :Film ; :name "The Lantern" . _:f :starring :Nora }')
    graph.write("INSERT { [] :about ?f } WHERE { VALUES ?t { :Film } ?f a ?t }")
    assert len(graph.nodes) == 3 and len(graph.edges) == 2


def test_near_duplicates_stand_side_by_side(graph):  # D45
    for name, kind in (("System_Admin", "Role"), ("system_admin", "Role"), ("System__Admin", "Role")):
        graph.write(f'INSERT DATA {{ :{name} a :{kind} ; :name "{name}" }}')
        graph.write(f'INSERT DATA {{ :{name} a :{kind} ; :name "{name}" }}')
    lines = graph.backend.dialect.lines(graph.told, graph.told)
    assert len(lines) == 3 and all("dmin" in line for line in lines)


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT * { SERVICE <http://127.0.0.1:9/> { ?s ?p ?o } }",
        "SELECT * { sErViCe SILENT ?x { ?s ?p ?o } }",
        "SELECT * FROM <urn:other> { ?s ?p ?o }",
        "SELECT * { GRAPH ?g { ?s ?p ?o } }",
        "DESCRIBE ?s FROM NAMED <urn:x> { ?s ?p ?o }",
    ],
)
def test_queries_that_reach_outside_are_refused(graph, statement):
    with pytest.raises(QueryError, match="not allowed"):
        graph.query(statement)


@pytest.mark.parametrize(
    "statement",
    [
        "LOAD <http://127.0.0.1:9/x>",
        "LOAD SILENT <file:///etc/passwd>",
        "CLEAR ALL",
        "DROP GRAPH <urn:other>",
        "CLEAR SILENT NAMED",
        "CREATE GRAPH <urn:x>",
        "COPY DEFAULT TO <urn:x>",
        "MOVE <urn:x> TO DEFAULT",
        "ADD <urn:x> TO DEFAULT",
        "WITH <urn:x> DELETE { ?s ?p ?o } WHERE { ?s ?p ?o }",
        "INSERT DATA { GRAPH <urn:x> { :a :b 1 } }",
        "DELETE { ?s ?p ?o } USING <urn:x> WHERE { ?s ?p ?o }",
        "INSERT { ?s :p 1 } WHERE { SERVICE <http://127.0.0.1:9/> { ?s ?p ?o } }",
        "INSERT DATA { :a :b 2 } ; LOAD <http://127.0.0.1:9/x>",
        "INSERT DATA { << :a :b 1 >> :c 2 }",
        "INSERT DATA { :a :b <<( :a :b :c )>> }",
    ],
)
def test_writes_that_reach_outside_are_refused_and_change_nothing(graph, statement):
    graph.write("INSERT DATA { :a :b 1 }")
    with pytest.raises(QueryError, match="not allowed"):
        graph.write(statement)
    assert graph.triples() == 1


def test_words_in_literals_names_and_comments_are_no_keywords(graph):
    graph.write('INSERT DATA { :LOAD :SERVICE "SERVICE <http://x> { GRAPH }" } # CLEAR ALL')
    assert graph.query("SELECT ?x { :LOAD :SERVICE ?x } # SERVICE <http://x> {}") == [
        {"x": "SERVICE <http://x> { GRAPH }"}
    ]


def test_a_write_with_a_known_id_is_not_done_again(graph):
    call = Call("same")
    change = graph.backend.write("INSERT DATA { :a :n 1 }", call)
    assert (
        graph.backend.write("DELETE { ?s :n ?n } INSERT { ?s :n ?m } WHERE { ?s :n ?n BIND(?n + 1 AS ?m) }", call)
        == change
    )
    assert graph.query("SELECT ?n { :a :n ?n }") == [{"n": 1}]


def test_a_name_of_many_words_becomes_a_key_that_can_be_written(graph):
    graph.apply(Node("n1", ("Film",), {"name": "The Lantern (1952)"}))
    (key,) = graph.nodes
    assert key == ":The_Lantern_1952" and Names().read_key(key)
    assert graph.query(f"SELECT ?n {{ {key} :name ?n }}") == [{"n": "The Lantern (1952)"}]
