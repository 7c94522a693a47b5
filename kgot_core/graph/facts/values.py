"""Values of the fact language: quoted text stays text, the rest is read by its look."""

from __future__ import annotations

import datetime
import json
import math
import re

from kgot_core.graph.facts.model import LineFault
from kgot_core.graph.facts.names import is_placeholder
from kgot_core.graph.values import Scalar, Value, plain_text

CLOSERS = {'"': '"', "'": "'", "“": "”", "„": "“", "‘": "’", "«": "»", "`": "`"}
_CHUNKS = {closer: re.compile(f"[^{closer}\\\\]*") for closer in CLOSERS.values()}
_WHOLE = re.compile(r"[-−]?(?:0|[1-9]\d{0,17})")
_DECIMAL = re.compile(
    r"[-−]?(?:0|[1-9]\d{0,17})\.\d{1,20}(?:[eE][+-]?\d{1,3})?|[-−]?[1-9](?:\.\d{1,20})?[eE][+-]?\d{1,3}"
)
_GROUPED = re.compile(r"[-−]?\d{1,3}(?:(?:,\d{3}){2,5}|(?:,\d{3}){1,5}\.\d{1,2}|,\d{3}\.\d{3,9})")
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_DATETIME = re.compile(r"\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,6})?)?(?:Z|[+-]\d{2}:\d{2})?")
_TIME = re.compile(r"\d{2}:\d{2}:\d{2}(?:\.\d{1,6})?(?:Z|[+-]\d{2}:\d{2})?")
_NOTHING = frozenset(
    {"", "null", "none", "n/a", "na", "nil", "unknown", "not known", "not specified", "not given", "not stated",
     "not available", "not mentioned", "undefined", "-", "–", "—", "?", "tbd"}
)  # fmt: skip
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "/": "/", "\\": "\\"}


def read_value(text: str) -> Value:
    """Reads one value: text in quotes, a list in square brackets, or a bare value.

    Raises:
        LineFault: The line gives no value.
    """
    text = text.strip()
    if text[:1] in CLOSERS and (quoted := read_quoted(text, 0)) and quoted[1] == len(text):
        if is_placeholder(text[1:-1]):
            raise LineFault("a placeholder stands for the value")
        return quoted[0]
    if text.startswith("[") and text.endswith("]") and len(text) > 2:
        items = tuple(item for part in split_list(text[1:-1]) for item in _items(part))
        if items:
            return items
    return read_bare(text)


def read_bare(text: str) -> Scalar:
    """Reads a value without quotes: a number, a truth value, an ISO date or time, else text.

    Digits with a leading zero or plus sign, and one group of a thousand (``1,234``), stay text: they may be codes,
    telephone numbers or decimal fractions.

    Raises:
        LineFault: The text says that there is no value, or only holds its place.
    """
    text = text.strip()
    if text.casefold() in _NOTHING:
        raise LineFault("there is no value")
    if is_placeholder(text):
        raise LineFault("a placeholder stands for the value")
    if text.casefold() in {"true", "false"}:
        return text.casefold() == "true"
    number = text.replace("−", "-")
    if _WHOLE.fullmatch(text):
        return int(number) if number != "-0" else text
    if _DECIMAL.fullmatch(text) and math.isfinite(float(number)):
        return float(number)
    if _GROUPED.fullmatch(text) and not number.lstrip("-").startswith("0"):
        number = number.replace(",", "")
        return float(number) if "." in number else int(number)
    return _read_moment(text)


def _read_moment(text: str) -> Scalar:
    try:
        if _DATE.fullmatch(text):
            return datetime.date.fromisoformat(text)
        if _DATETIME.fullmatch(text):
            return datetime.datetime.fromisoformat(text)
        if _TIME.fullmatch(text):
            return datetime.time.fromisoformat(text)
    except ValueError:
        pass
    return text


def read_quoted(text: str, at: int) -> tuple[str, int] | None:
    """Reads the quoted text that starts at a place; ``None`` where it does not end.

    Returns:
        The text and the place behind its closing quote.
    """
    closer = CLOSERS[text[at]]
    chunk = _CHUNKS[closer]
    parts: list[str] = []
    place = at + 1
    while (match := chunk.match(text, place)) and match.end() < len(text):
        parts.append(match.group())
        place = match.end()
        if text[place] == "\\":
            part, place = _escape(text, place, closer)
            parts.append(part)
        elif closer in "'’" and text[place + 1 : place + 2].isalnum():
            parts.append(closer)
            place += 1
        else:
            return "".join(parts), place + 1
    return None


def _escape(text: str, at: int, closer: str) -> tuple[str, int]:
    letter = text[at + 1 : at + 2]
    if letter == "u" and re.fullmatch(r"[0-9a-fA-F]{4}", text[at + 2 : at + 6]):
        code = int(text[at + 2 : at + 6], 16)
        if not 0xD800 <= code < 0xE000:
            return chr(code), at + 6
    if letter == closer:
        return closer, at + 2
    return (_ESCAPES[letter] if letter in _ESCAPES else "\\" + letter), at + 2


def split_list(text: str, separators: str = ",;") -> list[str]:
    """Splits at separators that stand outside of quotes and brackets."""
    parts: list[str] = []
    start = at = depth = 0
    while at < len(text):
        letter = text[at]
        if letter in CLOSERS and not text[start:at].strip() and (quoted := read_quoted(text, at)):
            at = quoted[1]
            continue
        depth += (letter in "([{") - (letter in ")]}")
        if letter in separators and depth <= 0:
            parts.append(text[start:at])
            start = at + 1
        at += 1
    return [*parts, text[start:]]


def show_value(value: Value) -> str:
    """Writes a value so that it is read back as the same value.

    References, text with a language and literals of other types are written as plain text; numbers that are
    none (NaN) as text.
    """
    if isinstance(value, tuple):
        return "[" + ", ".join(show_value(item) for item in value) + "]"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str | int | float | datetime.date | datetime.time):
        bare = plain_text(value)
        try:
            again = read_bare(bare)
        except LineFault:
            again = None
        if not isinstance(value, str) and type(again) is type(value) and again == value:
            return bare
    return quote(plain_text(value))


def quote(text: str) -> str:
    """Puts text in double quotes, with JSON's escapes; what looks like a placeholder is escaped so that it is none."""
    if is_placeholder(text):
        return f'"\\u{ord(text[0]):04x}{quote(text[1:])[1:]}' if len(text) > 1 else f'"\\u{ord(text):04x}"'
    return json.dumps(text, ensure_ascii=False)


def _items(part: str) -> tuple[Scalar, ...]:
    if not part.strip():
        return ()
    value = read_value(part)
    return value if isinstance(value, tuple) else (value,)
