"""Tells from what stands before and behind a value whether it is whole, or only a part of a damaged one."""

from __future__ import annotations

from kgot_core.reading.scanner import Scanner
from kgot_core.reading.strings import ScanError

_PAIRS = {"{": "}", "[": "]", "(": ")", '"': '"', "'": "'", "`": "`", "<": ">"}
_LONGEST = 2_000


def check_surroundings(scanner: Scanner, start: int, end: int) -> None:
    """Refuses a value that is not whole.

    A value behind ``"name":`` lacks the braces around it; a quote too few within a value leaves one too many behind
    it; where there is one too many before it, it stands within a string itself.

    Args:
        scanner: The scanner that read the value.
        start: The value's place.
        end: The place behind it.

    Raises:
        ScanError: The value is only a part of another one, or not data at all.
    """
    text = scanner.text
    before, after = _last(text, start), _first(text, end)
    opener = text[before : before + 1] if before >= 0 else ""
    mark = text[after : after + 1]
    member = opener == ":" and text[_last(text, before) : before].strip()[:1] in {'"', "'"}
    if scanner.bare_names and not member and (mark == ")" or not _starts_line(text, start)):
        scanner.committed = False
        raise ScanError("expected names in quotes", end)
    following = _first(text, after + 1)
    follows = text[following : following + 1] if mark == "," else ""
    closes = mark != "" and _PAIRS.get(opener) == mark
    goes_on = mark != "" and (mark in '}]"' or (mark == "," and follows not in {"", "{", "["}))
    rest = line_after(text, end)
    quoted = closes and mark == '"'
    odd = not quoted and (_odd_quotes(rest) or _odd_quotes(line_before(text, start)))
    if member or odd or (goes_on and not closes) or (scanner.bare_words and rest.strip(" \t\r`;)")):
        scanner.committed = True
        raise ScanError("expected one whole value, with all its braces", after)


def line_before(text: str, at: int) -> str:
    """Gives the part of the line before a place; at most some thousand characters of it."""
    lowest = max(0, at - _LONGEST)
    return text[max(lowest, text.rfind("\n", lowest, at) + 1) : at]


def line_after(text: str, at: int) -> str:
    """Gives the part of the line behind a place; at most some thousand characters of it."""
    highest = min(len(text), at + _LONGEST)
    end = text.find("\n", at, highest)
    return text[at : highest if end < 0 else end]


def _last(text: str, before: int) -> int:
    at = before - 1
    while at >= 0 and text[at].isspace():
        at -= 1
    return at


def _first(text: str, at: int) -> int:
    while at < len(text) and text[at].isspace():
        at += 1
    return at


def _odd_quotes(text: str) -> bool:
    return text.replace('\\"', "").count('"') % 2 == 1


def _starts_line(text: str, at: int) -> bool:
    before = at - 1
    while before >= 0 and text[before] in " \t":
        before -= 1
    return before < 0 or text[before] == "\n" or text[before] in "=:`"
