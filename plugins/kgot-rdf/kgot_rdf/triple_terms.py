"""Triples as terms (RDF-star, RDF 1.2): found in statements, rules and results, and refused in all of them.

Servers that know only SPARQL 1.1 refuse them, others take them and fail at every later write, and the neutral graph has
no place for them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyoxigraph as ox

from kgot_core.errors import QueryError
from kgot_rdf.tokens import Token

INSTEAD = "use rdf:subject, rdf:predicate, rdf:object"
NESTED = f"a statement about a statement is not allowed: {INSTEAD}"
# None of these is a name that SPARQL 1.1 knows; after `subject` and the like stands no bracket in it.
_FUNCTIONS = frozenset({"TRIPLE", "ISTRIPLE", "SUBJECT", "PREDICATE", "OBJECT"})


def triple_term(tokens: Sequence[Token]) -> tuple[Token, str] | None:
    """Finds the first place where a statement speaks of a triple as a term.

    These are ``<< >>``, ``<<( )>>``, the annotation ``{| |}``, the name of a reifier behind ``~``, and the functions
    that make triples or take them apart.

    Returns:
        The token and what is not allowed there; ``None`` where there is none.
    """
    for index, token in enumerate(tokens):
        form = ""
        if token.kind == "mark":
            if token.text in ("<<", "~"):
                form = token.text
            elif token.text == "|":
                before = tokens[index - 1] if index else token
                after = tokens[index + 1] if index + 1 < len(tokens) else token
                if before.text == "{":
                    token, form = before, "{|"
                elif after.text == "}":
                    form = "|}"
        elif token.kind == "word" and token.word in _FUNCTIONS:
            form = token.text
        if form:
            return token, f"{form} is not allowed: {INSTEAD}"
    return None


def text_of(term: object) -> str:
    """Gives a term of pyoxigraph as text, in the form of N-Triples.

    Raises:
        QueryError: It is itself a triple.
    """
    if isinstance(term, ox.Triple):
        raise QueryError(NESTED)
    return str(term)


def holds_triple_term(body: bytes) -> bool:
    """Tells whether a result that a parser refused holds triples as terms, in whatever form its server writes them."""
    return any(line.lstrip().startswith(b"<<") or b" <<" in line for line in body.splitlines())


def is_triple_binding(data: Any) -> bool:
    """Tells whether a binding of a JSON result is a triple: its value is an object, not a text."""
    return not isinstance(data["value"], str)
