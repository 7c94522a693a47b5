"""Names that hold within one operation: a statement that counts on those of another is refused before it is run."""

from __future__ import annotations

from collections.abc import Sequence

from kgot_core.errors import QueryError
from kgot_rdf.text import place
from kgot_rdf.tokens import Token


def check_variables(source: str, template: Sequence[Token], where: Sequence[Token]) -> None:
    """Refuses a template with a variable that its WHERE never mentions: its triples would be left out silently.

    Raises:
        QueryError: There is one.
    """
    bound = {token.text[1:] for token in where if token.kind == "var"}
    for token in template:
        if token.kind == "var" and token.text[1:] not in bound:
            raise QueryError(
                f"{token.text} is not bound: it stands nowhere in WHERE of this operation, so that nothing would be "
                f"written; bind it there, or write the name itself, such as :{token.text[1:]}",
                *place(source, token.start),
            )


def check_blank_nodes(source: str, operations: Sequence[Sequence[Token]]) -> None:
    """Refuses a label of a blank node that two operations use: it would stand for a new, empty node in the second.

    Raises:
        QueryError: There is one.
    """
    seen: set[str] = set()
    for tokens in operations:
        labels = {token.text: token for token in reversed(tokens) if token.kind == "blank"}
        for label in sorted(labels.keys() & seen):
            raise QueryError(
                f"{label} of an earlier operation is not known in this one, where it would be a new node; write both "
                f"as one operation, or give the node a name, such as :{label[2:]}",
                *place(source, labels[label].start),
            )
        seen |= labels.keys()
