"""What is read out of Cypher without a server: tokens, statements, variables."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kgot_neo4j.cypher.binding import bind
from kgot_neo4j.cypher.clauses import every, read_clauses, split_statements
from kgot_neo4j.cypher.joining import statements_of
from kgot_neo4j.cypher.tokens import NotClosed, mend_apostrophes, plain, quoted, tokenize

WORDS = ["MERGE", "(a:A", "WITH", "FOREACH", "CALL", "RETURN", "ON", "SET", "EXISTS", "MATCH", "é", "1.5", "$p"]
TEXTS = ["'x;y'", '"it\\"s"', "`a;``b`", "// c\n", "/* ; */"]
SYMBOLS = [*"{}()[];*,:|=.-<>", "..", "->", "<-", "+="]
PIECES = st.sampled_from(WORDS + TEXTS + SYMBOLS)


@given(st.lists(PIECES, max_size=30).map(" ".join))
@example("CALL {")
@example("MATCH (a) WHERE EXISTS {")
def test_any_tokens_are_read_without_a_crash(text):
    tokens = tokenize(text)
    assert [text[token.start : token.end] for token in tokens] == [token.text for token in tokens]
    for statement in split_statements(tokens):
        list(every(read_clauses(statement)))
        bind(statement)
    statements_of(text)


@given(st.text(max_size=60))
def test_any_text_is_read_or_its_open_quote_named(text):
    try:
        tokens = tokenize(text)
    except NotClosed as error:
        assert text[error.start] in "'\"`/"
    else:
        assert all(left.end <= right.start for left, right in itertools.pairwise(tokens))


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=40))
def test_text_in_quotes_is_one_token(text):
    for quote in "'\"":
        inner = text.replace("\\", "\\\\").replace(quote, f"\\{quote}")
        (token,) = tokenize(f"{quote}{inner}{quote}")
        assert token.kind == "string"
    called = text.replace("\\", "")  # in a name it is written as an escape, which the server resolves
    (name,) = tokenize(quoted(called) if called else "``")
    assert name.value == called


def test_a_block_is_split_not_by_semicolons_in_texts_and_comments():  # D11
    block = "MERGE (a:Tag {t: 'x;y'}); // two; three\nMERGE (b:Tag {t: \"it;s\"});;\nMERGE (c:Tag {t: 'z'});"
    assert [statement.text for statement in statements_of(block)] == [
        "MERGE (a:Tag {t: 'x;y'})",
        'MERGE (b:Tag {t: "it;s"})',
        "MERGE (c:Tag {t: 'z'})",
    ]
    assert statements_of(" ; // nothing\n") == []


def test_statements_that_share_variables_become_one():  # D53
    block = "MERGE (f:Film {title: 'L'}); MERGE (a1:Actor {name: 'N'}) RETURN a1; MERGE (f)-[:STARRING]->(a1);"
    (statement,) = statements_of(block)
    assert statement.text == "MERGE (f:Film {title: 'L'})\nMERGE (a1:Actor {name: 'N'})\nMERGE (f)-[:STARRING]->(a1)"
    assert not bind(tokenize(statement.text)).empty


def test_only_those_that_share_variables_are_joined():
    block = "MERGE (a:A {n: 1}); MERGE (b:B {n: 1}); MERGE (a:A {n: 2}); SET a.x = 1"
    assert [statement.text for statement in statements_of(block)] == [
        "MERGE (a:A {n: 1})",
        "MERGE (b:B {n: 1})",
        "MERGE (a:A {n: 2})\nSET a.x = 1",
    ]
    maps = "MERGE (x:A {n: 1}); MERGE (y:B {x: 2, n: [i IN [1] | i]})"
    assert len(statements_of(maps)) == 2


@pytest.mark.parametrize(
    ("statement", "names"),
    [
        ("MERGE (f)-[:STARRING]->(a1)", ["f", "a1"]),
        ("MERGE (a:X {n: 1}) WITH 1 AS q MERGE (a)-[:R]->(:B {x: 1})", ["a"]),
        ("MERGE (a:X {n: 1}) WITH a AS b MERGE (a)-[:R]->(b)", ["a"]),
        ("FOREACH (x IN [1] | MERGE (a:A {v: x})) MERGE (a)-[:R]->()", ["a", "()"]),
        ("MATCH (a:A) RETURN a UNION MERGE (a)-[:R]->(:B {x: 1})", ["a"]),
        ("MERGE (n) SET n.name = 'x'", ["n"]),
        ("CREATE (n)", ["n"]),
        ("CREATE (a)-[:R]->(b) SET a.name = 'x'", ["b"]),
        ("CREATE (n) SET n.name = 'x'", []),
        ("CREATE (a)-[:R]->(b), (a:A {n: 1}), (b:B {n: 2})", []),
        ("MERGE (a:X {n: 1}) WITH * MERGE (a)-[:R]->(a)", []),
        ("UNWIND [{n: 1}] AS row MERGE (p:P {n: row.n}) MERGE (p)-[:T]->(p)", []),
        ("MATCH p = (a:A)-[*1..2]->(b), q = shortestPath((c)-[*]-(d)) MERGE (a)-[:R]->(d)", []),
        ("CALL { MATCH (a:A) RETURN a } MERGE (a)-[:R]->(:B {n: 1})", []),
        ("CALL db.labels() YIELD label MERGE (x:L {name: label})", []),
        ("MATCH (a:A) FOREACH (i IN [1, 2] | MERGE (a)-[:R {i: i}]->(b:B {n: i}))", []),
        ("MATCH (a:A) WHERE a.name STARTS WITH 'x' MERGE (a)-[:R]->(a)", []),
    ],
)
def test_variables_that_would_make_empty_nodes_are_found(statement, names):  # D53
    assert list(bind(tokenize(statement)).empty) == names


@pytest.mark.parametrize(
    ("text", "mended"),
    [
        ("MERGE (g:Game {name: 'Rubik's Cube'})", "MERGE (g:Game {name: 'Rubik\\'s Cube'})"),  # D09
        ("MERGE (g:G {a: 'O'Neil's', b: \"it's\"})", "MERGE (g:G {a: 'O\\'Neil\\'s', b: \"it's\"})"),
        ("MERGE (g:G {a: 'the boys' hut'})", "MERGE (g:G {a: 'the boys' hut'})"),
        ("MERGE (g:G {a: 'x', b: 'y'})", "MERGE (g:G {a: 'x', b: 'y'})"),
    ],
)
def test_apostrophes_are_mended_where_it_is_clear(text, mended):
    assert mend_apostrophes(text) == mended


@given(st.lists(st.sampled_from(["it's", 'a "b"', "\\", "x;y", "é", "'"]), max_size=4))
def test_what_can_be_read_is_never_mended(texts):
    shown = ", ".join("'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'" for text in texts)
    assert mend_apostrophes(f"RETURN [{shown}]") == f"RETURN [{shown}]"


def test_escapes_that_the_server_resolves_first_cannot_end_a_text():
    assert plain(r"RETURN '\u0041\\u0041 \uD83D\uDE00'") == r"RETURN 'A\\u0041 😀'"
    sneaked = plain(r"RETURN '\u0027 DETACH DELETE n //'")
    assert [token.kind for token in tokenize(sneaked)] == ["word", "string"]
    with pytest.raises(NotClosed):
        tokenize("MERGE (a {t: 'x})")
