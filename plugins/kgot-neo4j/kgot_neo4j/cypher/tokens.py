"""Cypher's tokens: strings, names in backticks and comments are told apart, so that their content is never code."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from typing import NamedTuple

_TOKEN = re.compile(
    r"""(?P<space>\s+|//[^\n\r]*|/\*.*?\*/)
    |(?P<word>[^\W\d]\w*)
    |(?P<number>0[xX][0-9a-fA-F]+|(?:\d+(?:\.(?!\.)\d+)?|\.\d+)(?:[eE][+-]?\d+)?)
    |(?P<string>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")
    |(?P<name>`(?:[^`]|``)*`)
    |(?P<parameter>\$\w+|\$`(?:[^`]|``)*`)
    |(?P<open>['"`]|/\*)
    |(?P<symbol>\+=|<>|<=|>=|=~|\.\.|\|\||.)""",
    re.VERBOSE | re.DOTALL,
)
_BRACKETS = {"(": ")", "[": "]", "{": "}"}
_ESCAPE = re.compile(r"\\(?:u+([0-9a-fA-F]{4})|.)", re.DOTALL)
_APOSTROPHE = re.compile(r"(?<=\w)'(?=\w)")


class Token(NamedTuple):
    """A token and its place.

    Attributes:
        kind: ``word``, ``name`` (in backticks), ``string``, ``number``, ``parameter`` or ``symbol``.
        text: As written.
        start: Index of its first character.
        end: Index after its last character.
    """

    kind: str
    text: str
    start: int
    end: int

    @property
    def upper(self) -> str:
        """Its text as a keyword."""
        return self.text.upper() if self.kind == "word" else ""

    @property
    def value(self) -> str:
        """The name that a word or a name in backticks stands for."""
        return self.text[1:-1].replace("``", "`") if self.kind == "name" else self.text


class NotClosed(ValueError):
    """A string, a name in backticks, a comment or a bracket has no end, or a bracket no beginning.

    Args:
        start: Index where it stands.
        found: How it begins.
    """

    def __init__(self, start: int, found: str) -> None:
        if found in _BRACKETS.values():
            super().__init__(f"the bracket {found} closes none that is open")
        else:
            what = {"/*": "the comment", "`": "the name in backticks", **dict.fromkeys(_BRACKETS, "the bracket")}
            super().__init__(f"{what.get(found, 'the text in quotes')} that begins with {found} is not closed")
        self.start = start


def tokenize(text: str) -> list[Token]:
    """Gives the tokens of a text without ``\\u`` escapes (see :func:`plain`).

    Raises:
        NotClosed: A string, name or comment has no end.
    """
    tokens: list[Token] = []
    for found in _TOKEN.finditer(text):
        kind = found.lastgroup
        if kind == "space":
            continue
        if kind == "open":
            raise NotClosed(found.start(), found.group())
        tokens.append(Token(kind or "symbol", found.group(), found.start(), found.end()))
    return tokens


def plain(text: str) -> str:
    """Resolves ``\\u`` escapes, which the server resolves before it reads anything else.

    A quote written so would end a string there; it is written as a quote inside the string, as it was meant.
    """
    if "\\u" not in text:
        return text

    def resolved(found: re.Match[str]) -> str:
        if found[1] is None:
            return found[0]
        character = chr(int(found[1], 16))
        return f"\\{character}" if character in "'\"`\\\n\r" else character

    return _ESCAPE.sub(resolved, text).encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def mend_apostrophes(text: str) -> str:
    """Escapes apostrophes between two letters inside single quotes (``'Rubik's Cube'``).

    Only a text that cannot be read otherwise is touched: a string of it is not closed, or a letter follows on a
    string's end at once. Where that does not make it readable, it is given back as it is.
    """
    if "'" not in text or not _broken(text):
        return text
    mended = _escaped(text)
    return text if _broken(mended) else mended


def _broken(text: str) -> bool:
    try:
        tokens = tokenize(text)
    except NotClosed:
        return True
    return any(
        left.kind == "string" and right.kind in ("word", "number") and left.end == right.start
        for left, right in itertools.pairwise(tokens)
    )


def _escaped(text: str) -> str:
    parts: list[str] = []
    place, opened = 0, ""
    while place < len(text):
        character = text[place]
        if opened and character == "\\":
            parts.append(text[place : place + 2])
            place += 2
            continue
        if opened == "'" and _APOSTROPHE.match(text, place):
            parts.append("\\'")
        elif opened:
            opened = "" if character == opened else opened
            parts.append(character)
        else:
            opened = character if character in "'\"`" else ""
            parts.append(character)
        place += 1
    return "".join(parts)


def matching(tokens: Sequence[Token], index: int, stop: int | None = None) -> int:
    """Gives the index of the bracket that closes the one at ``index``; where there is none, the end or ``stop``."""
    end = len(tokens) if stop is None else min(stop, len(tokens))
    depth = 0
    for place in range(index, end):
        text = tokens[place].text
        if text in ("(", "[", "{"):
            depth += 1
        elif text in (")", "]", "}"):
            depth -= 1
            if not depth:
                return place
    return end


def check_brackets(tokens: Sequence[Token]) -> None:
    """Checks that each bracket is closed by one of its kind, and that none is closed which is not open.

    Raises:
        NotClosed: One is not.
    """
    opened: list[Token] = []
    for token in tokens:
        if token.text in _BRACKETS:
            opened.append(token)
        elif token.text in _BRACKETS.values() and (not opened or _BRACKETS[opened.pop().text] != token.text):
            raise NotClosed(token.start, token.text)
    if opened:
        raise NotClosed(opened[-1].start, opened[-1].text)


class Edits:
    """Replacements in a text, gathered and then made at once.

    Args:
        text: The text.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._made: list[tuple[int, int, str]] = []

    def replace(self, start: int, end: int, text: str) -> None:
        """Notes a replacement; those that overlap an earlier one are left out."""
        self._made.append((start, end, text))

    def done(self) -> str:
        """Gives the text with all replacements."""
        parts: list[str] = []
        place = 0
        for start, end, text in sorted(self._made, key=lambda made: made[0]):
            if start < place:
                continue
            parts += [self._text[place:start], text]
            place = end
        return "".join([*parts, self._text[place:]])


def quoted(name: str) -> str:
    """Writes a label, type, property or variable name so that it can be read back, whatever it holds."""
    return name if re.fullmatch(r"[^\W\d]\w*", name) else ticked(name)


def ticked(name: str) -> str:
    """Writes a name in backticks. A backslash is written as its code, since one before ``u`` would begin a code."""
    escaped = name.replace("\\", "\\u005C").replace("`", "``")
    return f"`{escaped}`"
