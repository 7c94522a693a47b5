"""Reads string literals of JSON, Python and JavaScript as models write them, good and damaged ones."""

from __future__ import annotations

import re
from collections.abc import Callable

QUOTES = "\"'`“”„‘’"
_CLOSERS = {'"': '"', "'": "'", "`": "`", "“": "”“", "”": "”", "„": "“”", "‘": "’‘", "’": "’"}
_CHUNK = {opener: re.compile(f"[^{re.escape(closers)}\\\\]*") for opener, closers in _CLOSERS.items()}
_SIMPLE = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_HEX = {"u": re.compile(r"u([0-9a-fA-F]{4})"), "x": re.compile(r"x([0-9a-fA-F]{2})")}
_LOW = re.compile(r"\\u([dD][c-fC-F][0-9a-fA-F]{2})")
_BEFORE_INNER = frozenset(",:[{=")
_AFTER_STRING = frozenset(",:]}[{")


class ScanError(Exception):
    """A value could not be read.

    Args:
        message: What was expected.
        position: Where reading stopped; everything before it was looked at.
        ended: The text ended within the value.
    """

    def __init__(self, message: str, position: int, *, ended: bool = False) -> None:
        super().__init__(message)
        self.message = message
        self.position = position
        self.ended = ended


def read_string(text: str, at: int, ends: Callable[[int], bool], *, key: bool = False) -> tuple[str, int]:
    """Reads the string literal that starts at ``at``.

    Args:
        text: The whole text.
        at: Place of the opening quote.
        ends: Tells for the place behind a quote whether a string may end there; what decides whether a quote
            within the string is text.
        key: The string is a name in an object: stray backslashes are left out of it.

    Returns:
        The string and the place behind its closing quote.

    Raises:
        ScanError: The string does not end, or it is not clear where.
    """
    opener = text[at]
    if opener in "\"'" and text.startswith(opener * 3, at):
        return _read_triple(text, at, opener)
    closers, chunk = _CLOSERS[opener], _CHUNK[opener]
    parts: list[str] = []
    inner = 0
    place = at + 1
    while True:
        match = chunk.match(text, place)
        if match is None or match.end() >= len(text):
            raise ScanError("the text ends within a string", len(text), ended=True)
        parts.append(match.group())
        place = match.end()
        if text[place] == "\\":
            part, place = _unescape(text, place, opener, key)
            parts.append(part)
        elif text[place] in closers and (key or ends(place + 1)):
            break
        else:
            if not _is_text(text, at, place, opener, inner):
                raise ScanError("a quote stands within a string, or one is missing", place)
            inner += opener == '"'
            parts.append(text[place])
            place += 1
    if inner % 2 or (inner and any("\n" in part for part in parts)):
        raise ScanError("a quote stands within a string, or one is missing", place)
    return whole_text("".join(parts)), place + 1


def whole_text(text: str) -> str:
    """Replaces halves of surrogate pairs, which no file can hold."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def unescape_once(text: str) -> str:
    """Takes one level of backslash escapes off a whole document that was escaped twice."""
    parts: list[str] = []
    at = 0
    while (slash := text.find("\\", at)) >= 0 and slash + 1 < len(text):
        parts.append(text[at:slash])
        part, at = _unescape(text, slash, "'", False)
        parts.append(part)
    parts.append(text[at:])
    return whole_text("".join(parts))


def _read_triple(text: str, at: int, opener: str) -> tuple[str, int]:
    parts: list[str] = []
    place = at + 3
    while True:
        end = text.find(opener * 3, place)
        if end < 0:
            raise ScanError("the text ends within a string", len(text), ended=True)
        slash = text.find("\\", place, end)
        if slash < 0:
            parts.append(text[place:end])
            return whole_text("".join(parts)), end + 3
        parts.append(text[place:slash])
        part, place = _unescape(text, slash, "'", False)
        parts.append(part)


def _unescape(text: str, at: int, opener: str, key: bool) -> tuple[str, int]:
    """Decodes the escape whose backslash stands at ``at``; one that means nothing here is kept as it is."""
    if at + 1 >= len(text):
        raise ScanError("the text ends within a string", len(text), ended=True)
    letter = text[at + 1]
    if letter in _SIMPLE:
        return _SIMPLE[letter], at + 2
    if letter == "u" and (code := _HEX["u"].match(text, at + 1)):
        unit = int(code[1], 16)
        if 0xD800 <= unit < 0xDC00 and (low := _LOW.match(text, code.end())):
            return chr(0x10000 + ((unit - 0xD800) << 10) + int(low[1], 16) - 0xDC00), low.end()
        return chr(unit), code.end()
    if opener in "'‘’`":
        if letter == "x" and (code := _HEX["x"].match(text, at + 1)):
            return chr(int(code[1], 16)), code.end()
        if letter in "'`‘’":
            return letter, at + 2
        if letter == "\n":
            return "", at + 2
    if key and not letter.isalnum():
        return letter, at + 2
    return "\\" + letter, at + 2


def _is_text(text: str, start: int, at: int, opener: str, inner: int) -> bool:
    """Tells whether a quote that cannot end its string is surely part of its text.

    An apostrophe is, between two letters. A double quote is where it opens or closes a quoted word; next to
    punctuation of JSON it may as well be the beginning of the next string, so it is not.
    """
    before, after = text[at - 1], text[at + 1 : at + 2]
    if opener in "'‘’":
        return before.isalnum() and after.isalnum() and at - 1 > start
    if opener in "“”„":
        return True
    if opener == "`" or not after or '"' in (before, after):
        return False
    ahead, back = at + 1, at - 1
    while ahead < len(text) and text[ahead].isspace():
        ahead += 1
    while back > start and text[back].isspace():
        back -= 1
    if text[ahead : ahead + 1] in _AFTER_STRING:
        return False
    if inner % 2:
        return not before.isspace()
    return back > start and text[back] not in _BEFORE_INNER and not after.isspace()
