"""Reads a file of CONSTRUCT rules."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

from kgot_core.errors import QueryError, Refused
from kgot_rdf.names import PREFIXES
from kgot_rdf.text import place
from kgot_rdf.tokens import Token, tokenize
from kgot_rdf.triple_terms import triple_term


def read_rules(path: str, namespace: str) -> Sequence[str]:
    """Gives the rules of a file, ready to be run: CONSTRUCT queries behind shared prefixes, ``;`` between them.

    Raises:
        Refused: The file cannot be read as such; the message says where.
    """
    try:
        source = Path(path).read_text("utf-8")
        tokens = tokenize(source)
    except (OSError, UnicodeDecodeError) as error:
        raise Refused(f"the rules {path} cannot be read: {error}") from None
    except QueryError as error:
        raise Refused(f"the rules {path}: {error}") from None
    starts = [index for index, token in enumerate(tokens) if token.word == "CONSTRUCT" and token.depth == 0]
    if not starts:
        raise Refused(f"the rules {path} hold no CONSTRUCT query")
    head = source[: tokens[starts[0]].start]
    declared = {
        token.text[:-1]
        for before, token in pairwise(tokens[: starts[0]])
        if before.word == "PREFIX" and token.kind == "name"
    }
    known = {"": namespace, **PREFIXES}
    supplied = "".join(f"PREFIX {name}: <{address}>\n" for name, address in known.items() if name not in declared)
    ends = [*starts[1:], len(tokens)]
    return [supplied + head + _rule(path, source, tokens[begin:end]) for begin, end in zip(starts, ends, strict=True)]


def _rule(path: str, source: str, tokens: Sequence[Token]) -> str:
    rule = list(tokens)
    while rule and rule[-1].text == ";":
        rule.pop()
    if (found := triple_term(rule)) is not None:
        raise Refused(f"the rules {path}: line {place(source, found[0].start)[0]}: {found[1]}")
    template_ended = False
    for token in rule:
        line, _ = place(source, token.start)
        if token.word in ("SERVICE", "GRAPH", "FROM"):
            raise Refused(f"the rules {path}: line {line}: {token.text} is not allowed")
        if not template_ended and (token.kind == "blank" or token.text == "["):
            raise Refused(f"the rules {path}: line {line}: a rule cannot make blank nodes")
        template_ended = template_ended or token.text == "}"
    return source[rule[0].start : rule[-1].end]
