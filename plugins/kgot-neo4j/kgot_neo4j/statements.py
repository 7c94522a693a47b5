"""From a model's text to statements that are run: split, joined, mended, screened."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from kgot_core.errors import QueryError
from kgot_neo4j.cypher.binding import bind
from kgot_neo4j.cypher.joining import statements_of
from kgot_neo4j.cypher.maps import dotted_properties, flatten_maps
from kgot_neo4j.cypher.merging import add_with, merge_known, return_places
from kgot_neo4j.cypher.names import hide_bookkeeping, quote_names
from kgot_neo4j.cypher.screen import refused
from kgot_neo4j.cypher.tokens import NotClosed, Token, check_brackets, mend_apostrophes, plain, tokenize

MOST = 200_000


@dataclass(frozen=True)
class Ready:
    """A statement that may be run.

    Attributes:
        text: What is sent.
        written: What the model wrote, split but not mended.
        place: Where it stands in its block, in words; empty where it is alone.
        tells: Each row is a list of places of nodes, and one of places of relationships.
    """

    text: str
    written: str
    place: str = ""
    tells: bool = False


class NotReadable(Exception):
    """The text is not Cypher as far as quotes and brackets go; the server says it best.

    Args:
        text: The text to ask it with.
        message: What to say where the server finds nothing.
    """

    def __init__(self, text: str, message: str) -> None:
        super().__init__(message)
        self.text = text


def ready_to_write(block: str, dotted: Collection[str] = ()) -> tuple[list[Ready], frozenset[str]]:
    """Makes a block ready.

    Args:
        block: One or several statements.
        dotted: Names of properties that hold a dot.

    Returns:
        The statements, and the texts in quotes in them: what the nodes are known by.

    Raises:
        QueryError: A statement may not be run, or would make empty nodes.
        NotReadable: A quote or a bracket is not closed.
    """
    text = _readable(block)
    made = statements_of(text)
    if not made:
        raise QueryError("the block holds no statement")
    ready: list[Ready] = []
    for statement in made:
        place = f"statement {statement.number}" if len(made) > 1 else ""
        tokens = tokenize(statement.text)
        _refuse(refused(tokens, query=False), place)
        _refuse(_too_large(tokens), place)
        if empty := bind(tokens).empty:
            _refuse(_unbound(list(empty)), place)
        mended = flatten_maps(quote_names(statement.text))
        mended = hide_bookkeeping(add_with(merge_known(dotted_properties(mended, dotted))))
        told, tells = return_places(mended)
        ready.append(Ready(told, statement.text, place, tells))
    texts = frozenset(token.text[1:-1] for token in tokenize(text) if token.kind == "string")
    return ready, texts


def ready_to_query(statement: str, dotted: Collection[str] = ()) -> Ready:
    """Makes a query ready.

    Raises:
        QueryError: It may not be run, or is not one statement.
        NotReadable: A quote or a bracket is not closed.
    """
    text = _readable(statement)
    made = statements_of(text)
    if not made:
        raise QueryError("the query is empty")
    if len(made) > 1:
        raise QueryError(f"a query is one statement, not {len(made)}")
    only = made[0].text
    _refuse(refused(tokenize(only), query=True), "")
    return Ready(hide_bookkeeping(dotted_properties(quote_names(only), dotted)), only)


def _readable(text: str) -> str:
    if len(text) > MOST:
        raise QueryError(f"the statement is longer than {MOST:,} characters; write less at once")
    if any("\ud800" <= character <= "\udfff" for character in text):
        raise QueryError("the statement holds half a character")
    text = mend_apostrophes(plain(text))
    try:
        check_brackets(tokenize(text))
    except NotClosed as error:
        raise NotReadable(text, str(error)) from None
    return text


def _refuse(why: str, place: str) -> None:
    if why:
        raise QueryError(f"{place}: {why}" if place else why)


def _too_large(tokens: Sequence[Token]) -> str:
    """Names the property that a number beyond 64 bits is meant for."""
    for place, token in enumerate(tokens):
        if token.kind == "number" and token.text.isdigit() and int(token.text) >= 2**63:
            before = tokens[place - 3 if place > 2 and tokens[place - 1].text == "-" else place - 2].value
            return f"the property {before} is a number beyond 64 bits; write it as text"
    return ""


def _unbound(names: list[str]) -> str:
    named = [name for name in names if name != "()"]
    if not named:
        return (
            "the pattern () would make a node without a label and without properties; "
            'describe it, as in (:Label {name: "..."})'
        )
    shown = " and ".join([", ".join(named[:-1]), named[-1]] if len(named) > 1 else named)
    verb = "are not bound; they" if len(named) > 1 else "is not bound; it"
    return (
        f"in this statement {shown} {verb} would become new empty nodes. Bind each in the same statement before it is "
        f'used: MERGE ({named[0]}:Label {{name: "..."}})'
    )
