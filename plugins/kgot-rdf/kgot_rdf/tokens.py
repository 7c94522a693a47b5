"""Cuts SPARQL into tokens: knows strings, IRIs and comments, and mends slips whose meaning is plain."""

from __future__ import annotations

import re
from typing import Literal, NamedTuple, TypeAlias

from kgot_core.errors import QueryError
from kgot_rdf.names import LOCAL_CHARS
from kgot_rdf.text import place

Kind: TypeAlias = Literal["iri", "string", "at", "var", "blank", "name", "number", "word", "mark"]

DEEPEST = 200
_TOKEN = re.compile(
    rf"""
    (?:(?P<iri><[^\x00-\x20<>"{{}}|^`\\]*>
      | <(?:[A-Za-z][A-Za-z0-9+.-]*:(?://)|urn:)[^\n\t\r<>"{{}}|^`\\]*>
      | <[\w][\w ,.'-]*>)
  | (?P<string>\"\"\"(?:[^\\]|\\.)*?\"\"\" | '''(?:[^\\]|\\.)*?'''
      | "(?:[^"\\\n\r]|\\.)*" | '(?:[^'\\\n\r]|\\.)*' | "(?:[^"\\]|\\.)*" | '(?:[^'\\]|\\.)*')
  | (?P<at>@[A-Za-z]+(?:-[A-Za-z0-9]+)*)
  | (?P<var>[?$][{LOCAL_CHARS}]+)
  | (?P<blank>_:[{LOCAL_CHARS}]+(?:\.+[{LOCAL_CHARS}]+)*)
  | (?P<name>(?:[^\W\d_][\w-]*(?:\.[\w-]+)*)?:
      (?:(?:[{LOCAL_CHARS}:]|%[0-9A-Fa-f]{{2}}|\\[_~.\-!$&'()*+,;=/?\#@%])
         (?:\.*(?:[{LOCAL_CHARS}:]|%[0-9A-Fa-f]{{2}}|\\[_~.\-!$&'()*+,;=/?\#@%]))*)?)
  | (?P<number>(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d+)?)
  | (?P<word>[^\W\d]\w*)
  | (?P<mark>\^\^|&&|\|\||!=|<=|>=|<<|.))
    (?:\s+|\#[^\n]*)*
    """,
    re.VERBOSE | re.DOTALL,
)
_SPACE = re.compile(r"(?:\s+|#[^\n]*)*")
_ESCAPE = re.compile(r"\\(?:[tbnrf\"'\\]|u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8})|\\|\n|\r")
_IN_NAME = re.compile(rf"[{LOCAL_CHARS}:]+")
_PARENTHESIS = re.compile(rf"\([{LOCAL_CHARS}.,'&]*\)")
_BEYOND = frozenset("('/&%.")
_EXPRESSION = frozenset({"filter", "having", "bind", "by"})
_CLOSING = {")": "(", "]": "[", "}": "{"}


class Token(NamedTuple):
    """A token.

    Attributes:
        kind: What it is; keywords are words.
        text: Its text, mended.
        start: Where it begins in the statement.
        end: Where it ends there.
        depth: How many brackets are open around it.
    """

    kind: Kind
    text: str
    start: int
    end: int
    depth: int = 0

    @property
    def word(self) -> str:
        """The keyword in capitals, empty for other tokens."""
        return self.text.upper() if self.kind == "word" else ""


def tokenize(source: str) -> list[Token]:
    """Cuts a statement into tokens, without white space and comments.

    Raises:
        QueryError: A string or a bracket is not closed, or brackets are nested too deeply.
    """
    tokens: list[Token] = []
    brackets: list[Token] = []
    position, size = _SPACE.match(source).end(), len(source)  # type: ignore[union-attr]
    match, new = _TOKEN.match, tuple.__new__  # a token's own constructor takes as long as the matching
    while position < size:
        found = match(source, position)
        assert found is not None, "the last alternative takes any character"
        kind: Kind = found.lastgroup  # type: ignore[assignment]
        text, start, end, position = found[kind], found.start(), found.end(kind), found.end()
        depth = len(brackets)
        if kind == "mark":
            depth = _bracket(source, text, start, brackets)
        elif kind == "name":
            if end < size and source[end] in _BEYOND:
                rest, end = _longer(source, end, text, tokens, brackets)
                if rest:
                    text += rest
                    position = _SPACE.match(source, end).end()  # type: ignore[union-attr]
        elif kind == "iri":
            if " " in text:
                text = text.replace(" ", "%20")
        elif kind == "string":
            text = _mended(text)
        tokens.append(new(Token, (kind, text, start, end, depth)))
    if brackets:
        raise QueryError(f"{brackets[-1].text} is not closed", *place(source, brackets[-1].start))
    return tokens


def _bracket(source: str, text: str, start: int, brackets: list[Token]) -> int:
    if text in ('"', "'"):
        raise QueryError("the string that begins here is not closed", *place(source, start))
    if text in "([{":
        brackets.append(Token("mark", text, start, start + 1))
        if len(brackets) > DEEPEST:
            raise QueryError("brackets are nested too deeply", *place(source, start))
        return len(brackets) - 1
    if text in _CLOSING:
        if not brackets or brackets[-1].text != _CLOSING[text]:
            raise QueryError(f"{text} closes nothing that is open here", *place(source, start))
        brackets.pop()
    return len(brackets)


def _mended(text: str) -> str:
    """Escapes line breaks in a string with single quotes around it, and stray backslashes in any."""
    if "\\" not in text and "\n" not in text and "\r" not in text:
        return text
    size = 3 if text[:3] in ('"""', "'''") and len(text) >= 6 else 1
    shown = {"\\": "\\\\"} if size == 3 else {"\\": "\\\\", "\n": "\\n", "\r": "\\r"}
    body = _ESCAPE.sub(lambda found: shown.get(found[0], found[0]), text[size:-size])
    return f"{text[:size]}{body}{text[-size:]}"


def _longer(source: str, end: int, name: str, tokens: list[Token], brackets: list[Token]) -> tuple[str, int]:
    """Takes characters into a prefixed name that it may not hold as they are, where nothing else can be meant."""
    if name.endswith(":") or not brackets:
        return "", end
    before = tokens[-1] if tokens else None
    if brackets[-1].text == "(" or (before is not None and before.text.lower() in _EXPRESSION):
        return "", end
    subject = before is None or before.text in (".", "{")
    rest = ""
    while end < len(source):
        taken, shown = _next(source, end, subject)
        if not taken:
            break
        rest += shown
        end += taken
    return rest, end


def _next(source: str, at: int, subject: bool) -> tuple[int, str]:
    """Gives how many characters belong to the name, and how they are written there."""
    character, after = source[at], source[at + 1 : at + 2]
    if found := _IN_NAME.match(source, at):
        return len(found[0]), found[0]
    if character == "(" and (found := _PARENTHESIS.match(source, at)):
        return len(found[0]), re.sub(r"([(),'&])", r"\\\1", found[0])
    if character == "%" and not re.match(r"%[0-9A-Fa-f]{2}", source[at : at + 3]):
        return 1, "%25"
    word = _IN_NAME.match(source, at + 1)
    if character == "&" and word:
        return 1, "\\&"
    if character == "'" and word and not source.startswith("'", word.end()):
        return 1, "\\'"
    if character == "/" and word and ":" not in word[0] and word[0] != "a":
        return 1, "\\/"
    if character == "." and (word or (subject and after.isspace())):
        return 1, "." if word else "\\."
    return 0, ""
