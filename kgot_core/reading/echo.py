"""Recognises a reply that repeats the invented content of an example in its prompt."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kgot_core.reading.reasoning import strip_reasoning

# Words of the forms themselves: they stand in every reply and tell nothing about where it comes from.
_FORM_WORDS = frozenset({
    "solve", "enhance", "decision", "reason", "basis", "answer", "final", "next", "step", "query", "result",
    "delete", "remove", "match", "return", "where", "merge", "create", "set", "insert", "select", "distinct",
    "prefix", "thing", "name", "title", "label", "nothing", "none", "missing", "value", "the", "a", "an", "this",
    "that", "there", "it", "its", "if", "in", "no", "yes", "we", "i", "so", "graph", "node", "nodes", "edge",
    "edges", "task", "question", "optional", "with", "as", "count", "order", "by", "limit", "not", "and", "or"
})  # fmt: skip
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n")
_WORD = re.compile(r"\w+")
_SHARE = 0.6
_MOST_PIECES = 2_000
_MOST_LETTERS = 2_000


@dataclass(frozen=True, slots=True)
class _Piece:
    """A line or sentence: its words without case, and those that name something invented."""

    words: tuple[str, ...]
    telling: frozenset[str]


def repeats_example(reply: str, examples: Sequence[str]) -> bool:
    """Tells whether a reply, or one line of it, repeats what an example was invented of.

    A line repeats an example's line where it has all names and numbers of it and most of the rest; case, white space
    and punctuation do not count. Words that belong to the form asked for, such as SOLVE, never tell.

    Args:
        reply: A reply, a block or a line.
        examples: The examples' invented content, each of one or many lines.
    """
    told = [piece for example in examples for piece in _pieces(example) if _is_telling(piece)]
    if not told:
        return False
    return any(_repeats(piece, other) for piece in _pieces(strip_reasoning(reply)) for other in told)


def _pieces(text: str) -> Iterator[_Piece]:
    for number, part in enumerate(_SENTENCE.split(text)):
        if number >= _MOST_PIECES:
            return
        words = _WORD.findall(unicodedata.normalize("NFKC", part[:_MOST_LETTERS]).replace("_", " "))
        if words:
            yield _Piece(tuple(word.casefold() for word in words), _telling(words))


def _telling(words: list[str]) -> frozenset[str]:
    """Gives the words that name something: with a capital within a sentence, or numbers of two digits and more."""
    found = {word.casefold() for word in words if word[0].isupper() or (word.isdigit() and len(word) > 1)}
    # The first word of a sentence has its capital anyway.
    if len(words) > 3 and words[0][0].isupper() and words[0][1:].islower() and words[1][:1].islower():
        found.discard(words[0].casefold())
    return frozenset(found - _FORM_WORDS)


def _is_telling(piece: _Piece) -> bool:
    """Tells whether a piece of an example cannot well come from anywhere else."""
    letters = sum(map(len, piece.words))
    return bool(piece.telling) and letters >= 8 and (len(piece.telling) >= 2 or len(piece.words) >= 5)


def _repeats(piece: _Piece, other: _Piece) -> bool:
    if not other.telling <= set(piece.words):
        return False
    if len(other.words) < 3:
        return other.words == piece.words
    pairs = set(zip(other.words, other.words[1:], strict=False))
    shared = pairs & set(zip(piece.words, piece.words[1:], strict=False))
    return len(shared) >= _SHARE * len(pairs)
