"""The reader of statements: tokens, screening, and the way back to the statement as written."""

from __future__ import annotations

from itertools import pairwise

import pyoxigraph as ox
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgot_core.errors import QueryError
from kgot_rdf.names import DEFAULT_NAMESPACE
from kgot_rdf.statement import Reader, check_hidden
from kgot_rdf.tokens import DEEPEST, tokenize

READER = Reader(DEFAULT_NAMESPACE, 100_000)
LITERALS = st.sampled_from(
    ['"SERVICE <x> {"', "'it\\'s } LOAD'", '"""a "quoted"\n{ line"""', "'''{'''", '"\\"{"', '"# no"']
)
COMMENTS = st.sampled_from(["", ' # SERVICE <http://x> { } "\n', "#{\n", "\n\t"])
NAMES = st.sampled_from(
    [":service", ":LOAD", "<http://e.example/SERVICE#x>", "foaf:clear", ":a.b", ":x%20y", "schema:from"]
)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(NAMES, NAMES, LITERALS | NAMES, COMMENTS), min_size=1, max_size=4))
def test_tame_statements_pass_and_mean_what_a_full_parser_reads(parts):
    body = " ".join(f"{subject} {predicate} {obj} {comment} ." for subject, predicate, obj, comment in parts)
    update = READER.update(f"INSERT DATA {{ {body} }}")
    (operation,) = update.operations
    assert operation.data is not None
    ours = {str(item) for item in ox.parse(operation.data.text, ox.RdfFormat.TURTLE)}
    store = ox.Store()
    prefixes = {"": DEFAULT_NAMESPACE, "foaf": "http://xmlns.com/foaf/0.1/", "schema": "http://schema.org/"}
    store.update(f"INSERT DATA {{ {body} }}", prefixes=prefixes)
    assert ours == {str(quad) for quad in store}
    query = READER.query(f"SELECT * WHERE {{ {body} }}")
    check_hidden(body, query.built)
    ox.Store().query(query.built.text)


@settings(max_examples=200, deadline=None)
@given(
    LITERALS,
    COMMENTS,
    st.sampled_from(["SERVICE", "service", "Service SILENT"]),
    st.sampled_from(["<http://x.example/>", "?g", ":x"]),
)
def test_a_call_of_another_server_is_found_wherever_it_stands(literal, comment, word, target):
    call = f"{comment} {word} {target}{{ ?x ?y ?z }}"
    statement = f"SELECT * WHERE {{ ?s ?p {literal} .{comment} {{ ?a ?b 1 }} UNION {{{call} }} }}"
    with pytest.raises(QueryError, match="SERVICE"):
        READER.query(statement)


@settings(max_examples=300, deadline=None)
@given(st.text(st.sampled_from("{}()[]<>\"'\\#:;,.?$@^_aSERVICE \n1%&/"), max_size=40))
def test_any_text_is_read_or_refused_and_tokens_cover_it(text):
    try:
        tokens = tokenize(text)
    except QueryError as error:
        assert error.line >= 1 and error.column >= 1
        return
    assert all(left.end <= right.start for left, right in pairwise(tokens))
    for token in tokens:
        assert token.text and token.start < token.end


@pytest.mark.parametrize(
    "statement",
    [
        'SELECT * { ?a :p "x }',
        "SELECT * { ?a :p ?b",
        "SELECT * { ?a :p ?b ) }",
        "SELECT * { " + "{" * (DEEPEST + 1) + "}" * (DEEPEST + 1) + " }",
        "",
        "tell me all",
        "PREFIX ex: SELECT * { }",
    ],
)
def test_what_cannot_be_read_is_refused_with_its_place(statement):
    with pytest.raises(QueryError) as caught:
        READER.query(statement)
    assert caught.value.line == 1


def test_a_statement_that_is_too_long_is_refused():
    with pytest.raises(QueryError, match="characters"):
        Reader(DEFAULT_NAMESPACE, 10).update("INSERT DATA { :a :b 1 }")


@pytest.mark.parametrize(
    ("pattern", "kept"),
    [
        ("?a :p/:q ?b", ":p/:q"),
        ("?a :p/a ?b", ":p/a"),
        ("?a :p*/:q+ ?b FILTER(xsd:integer(?b)>3&&?a!=:x)", "xsd:integer(?b)>3&&?a!=:x"),
        ("?a :p (1 2)", "(1 2)"),
        ("?a :p :b.", ":b."),
        ("?a :p ?b FILTER(?b<5&&?c>3)", "?b<5&&?c>3"),
    ],
)
def test_what_has_a_meaning_is_not_mended(pattern, kept):
    assert kept in READER.query(f"SELECT * WHERE {{ {pattern} }}").built.text


def test_declarations_in_the_style_of_turtle_are_understood():
    query = READER.query("@prefix ex: <http://e.example/> .\nSELECT * { ?s ex:p ?o }")
    assert "PREFIX ex: <http://e.example/>" in query.built.text and "@prefix" not in query.built.text


def test_places_survive_supplied_and_mended_text():
    source = "SELECT ?x WHERE {\n  ?x foaf:name :R&D .\n  ?x :p ]"
    with pytest.raises(QueryError) as caught:
        READER.query(source)
    assert (caught.value.line, caught.value.column) == (3, 9)
    built = READER.query(source[:-1] + "?y }").built
    line = next(number for number, text in enumerate(built.text.split("\n"), 1) if "?x :p" in text)
    assert built.locate(line, 3) == (3, 3)
    assert built.locate(99, 1) == (0, 0)
