"""Errors of parsers and servers in words for the model, with the place in its own statement."""

from __future__ import annotations

import re

from kgot_core.errors import QueryError
from kgot_rdf.text import Built

_MOST = 240
_POSITION = re.compile(r"(?:error at |line |Line )(\d+)(?:[,:]? ?(?:column |col: |between columns )?)(\d+)")
_HEAD = re.compile(r"^(?:Parser error at line \d+ (?:column \d+|between columns \d+ and \d+)|error at \d+:\d+): ")
# A server's position is in what was sent to it, not in the model's statement.
_ELSEWHERE = re.compile(r"^(?:MALFORMED QUERY: |Parse error: )+| at line \d+, column \d+\.?|Line \d+, column \d+: ")
_DOT = "A dot is expected at the end of statements"
_SEPARATORS = (
    'something is missing before this: "," stands between values of one property, ";" between properties, "." between'
    " things"
)


def syntax_error(message: str, line: int, column: int, built: Built | None) -> QueryError:
    """Makes the error for a statement that cannot be read.

    Args:
        message: What the parser or the server says.
        line: Where in ``built``; 0 where the message may tell.
        column: The same.
        built: What was sent.
    """
    if not line and (found := _POSITION.search(message)):
        line, column = int(found[1]), int(found[2])
    place = built.locate(line, column) if built is not None else (0, 0)
    return QueryError(plain(message), *place)


def plain(message: str) -> str:
    """Puts a message on one line, short and without its position."""
    text = _ELSEWHERE.sub("", _HEAD.sub("", " ".join(message.split())))
    if text.startswith(_DOT):
        return _SEPARATORS
    if text.startswith("expected "):
        text = f"this cannot be read here; {text}"
    return text if len(text) <= _MOST else f"{text[:_MOST]} [...]"
