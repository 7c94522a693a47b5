"""Reads ``key = value`` pairs: after a node, within an edge, and in braces."""

from __future__ import annotations

import re

from kgot_core.graph.facts.model import LineFault
from kgot_core.graph.facts.names import is_placeholder, key_name
from kgot_core.graph.facts.values import CLOSERS, read_quoted, read_value
from kgot_core.graph.values import Value

KEY = r"[^\W\d]\w{0,60}(?:[ -]\w{1,40}){0,5}"
_PAIR = re.compile(rf"\s*(?:[\"'`]({KEY})[\"'`]|({KEY}))\s*(:?=|:(?!//))\s*")
_NEXT = {
    "=": re.compile(rf"[,;]\s*(?:and\s+)?(?=(?:[\"'`]?{KEY}[\"'`]?)\s*:?=)"),
    ":": re.compile(rf"[,;]\s*(?:and\s+)?(?=(?:[\"'`]?{KEY}[\"'`]?)\s*(?:=|:\s|:[\"']))"),
}
_CLOSE_NEXT = re.compile(r"(?<=\s)(?=[^\W\d]\w{0,60}=[^\s=])")
_NOTE = re.compile(r"(?<=\s)(?:#|//)\s.*$")


def starts_pair(text: str, at: int = 0) -> bool:
    """Tells whether ``key =`` stands at a place."""
    return _PAIR.match(text, at) is not None


def read_pairs(text: str, *, close: bool = False) -> list[tuple[str, Value]]:
    """Reads assignments that are separated by commas or semicolons, to the end of the text.

    A separator counts only where another key follows it, so that values may hold commas.

    Args:
        text: The assignments.
        close: ``key=value`` without blanks around the sign may also be separated by blanks alone.

    Raises:
        LineFault: Something else stands there, or a value is missing.
    """
    pairs: list[tuple[str, Value]] = []
    at = 0
    while text[at:].strip(" .,;"):
        match = _PAIR.match(text, at)
        if match is None:
            raise LineFault("expected key = value")
        key = match[1] or match[2]
        if key.casefold() in {"key", "property"} and text[match.end() :].strip(" .").casefold() in {"value", "..."}:
            raise LineFault("this is the pattern of a fact, not a fact")
        if is_placeholder(key) or not key_name(key):
            raise LineFault("the property has no name")
        raw, at = _value_text(text, match.end(), match[3][-1], close)
        pairs.append((key_name(key), read_value(raw)))
    if not pairs:
        raise LineFault("expected key = value")
    return pairs


def read_map(text: str) -> dict[str, Value]:
    """Reads the assignments of an edge, or those in braces; there may be none.

    Raises:
        LineFault: Something else stands there, or a value is missing.
    """
    return dict(read_pairs(text, close=True)) if text.strip() else {}


def _value_text(text: str, at: int, sign: str, close: bool) -> tuple[str, int]:
    """Cuts out one value; gives it and the place where the next pair starts."""
    quoted = read_quoted(text, at) if text[at : at + 1] in {*CLOSERS} else None
    if quoted is not None:
        rest = text[quoted[1] :].lstrip()
        if rest.startswith(("#", "//")):
            return text[at : quoted[1]], len(text)
        if not rest or rest[0] in ",;." or (close and starts_pair(rest)):
            return text[at : quoted[1]], len(text) - len(rest.lstrip(",;. "))
    end, after = _end_of_value(text, at, sign, close)
    raw = text[at:end].strip()
    noted = _NOTE.sub("", raw).strip().rstrip(".,;")
    if not isinstance(_typed(noted), str):
        return noted, after
    return without_stop(raw), after


def _end_of_value(text: str, at: int, sign: str, close: bool) -> tuple[int, int]:
    bracket = text.find("]", at) if text[at : at + 1] == "[" else -1
    while bracket >= 0:
        rest = text[bracket + 1 :].lstrip()
        if not rest or rest[0] == ";" or (rest[0] in ",." and (not rest[1:].strip() or starts_pair(rest, 1))):
            return bracket + 1, len(text) - len(rest.lstrip(",;. "))
        bracket = text.find("]", bracket + 1)
    following = _NEXT[sign].search(text, at)
    spaced = _CLOSE_NEXT.search(text, at) if close else None
    ends = [(match.start(), match.end()) for match in (following, spaced) if match]
    return min(ends, default=(len(text), len(text)))


def _typed(raw: str) -> Value:
    try:
        return read_value(raw)
    except LineFault:
        return raw


def without_stop(raw: str) -> str:
    """Takes off a full stop that ends the line and not an abbreviation such as ``Inc.`` or ``J.``"""
    stripped = raw.rstrip(";, ")
    if not stripped.endswith(".") or stripped.endswith(".."):
        return stripped
    last = stripped[:-1].rpartition(" ")[2]
    return stripped if "." in last or 0 < len(last) <= 3 else stripped[:-1]
