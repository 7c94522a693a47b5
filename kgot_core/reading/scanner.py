"""A tolerant reader of one JSON-like value: JSON, Python literals and JavaScript objects, good and damaged.

It reads what can only be meant one way and stops at everything else. Nothing is evaluated and nothing that is
missing at the end is filled in.
"""

from __future__ import annotations

import math
import re

from kgot_core.graph.values import JsonValue
from kgot_core.reading.strings import QUOTES, ScanError, read_string

MOST_LEVELS = 100
_BLANK = re.compile(r"[\s\ufeff\u200b\u2060]*")
_NAME = re.compile(r"[A-Za-z_$][\w$-]*")
_TOKEN = re.compile(r"[^\s,:\[\](){}\"'`#/“”‘’]+")
_NUMBER = re.compile(r"[+-]?(?:(?:0|[1-9]\d*|[1-9]\d{0,2}(?:_\d{3})+)(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?")
_WORDS: dict[str, JsonValue] = {"true": True, "false": False, "null": None, "none": None}
_NO_VALUES = frozenset({"undefined", "nan", "infinity", "inf"})
_LONGEST_COMMENT = 2_000
_ESCAPED_START = re.compile(r"[{\[](?:\s|\\[nrt])*\\[\"']")


class Scanner:
    """Reads values of one text.

    Attributes:
        committed: What was read begins like data and not like prose: a name in quotes, a name and a colon, or a
            first list item in quotes.
        omission: Dots stood for something left out.
        bare_names: An object had names without quotes.
        bare_words: A text stood without quotes.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.committed = False
        self.omission = False
        self.bare_names = False
        self.bare_words = False

    def escaped_twice(self, at: int) -> bool:
        """Tells whether the object or list that starts here has its own quotes escaped."""
        return _ESCAPED_START.match(self.text, at) is not None

    def value(self, at: int, follow: str, depth: int = 0) -> tuple[JsonValue, int]:
        """Reads the value at a place.

        Args:
            at: Where the value starts; white space and comments before it are passed over.
            follow: Characters that may come after the value.
            depth: How deep the value is nested.

        Returns:
            The value and the place behind it.

        Raises:
            ScanError: There is no value, or it can be understood in more than one way.
        """
        at = self.skip(at)
        letter = self.text[at : at + 1]
        if not letter:
            raise ScanError("the text ends where a value is expected", at, ended=True)
        if depth > MOST_LEVELS:
            self.committed = True
            raise ScanError("nested too deeply", at)
        if letter == "{":
            return self._object(at + 1, depth)
        if letter == "[":
            return self._items(at + 1, "]", depth)
        if letter == "(":
            return self._items(at + 1, ")", depth)
        if letter in QUOTES:
            return read_string(self.text, at, lambda place: self._ends(place, follow))
        return self._token(at, follow, depth)

    def skip(self, at: int) -> int:
        """Passes over white space and comments."""
        while True:
            at = self._blank(at)
            if self.text.startswith(("//", "#"), at):
                end = self.text.find("\n", at)
                at = len(self.text) if end < 0 else end
            elif self.text.startswith("/*", at):
                end = self.text.find("*/", at + 2)
                if end < 0:
                    raise ScanError("the text ends within a comment", len(self.text), ended=True)
                at = end + 2
            else:
                return at

    def _blank(self, at: int) -> int:
        match = _BLANK.match(self.text, at)
        return match.end() if match else at

    def _object(self, at: int, depth: int) -> tuple[JsonValue, int]:
        found: dict[str, JsonValue] = {}
        at = self.skip(at)
        self.committed = self.committed or self.text[at : at + 1] in {*QUOTES}
        while True:
            at = self.skip(at)
            if self._omission(at):
                at = self._after(self.skip(at), "}", mark=True)
                continue
            if self.text.startswith("}", at):
                return found, at + 1
            name, at = self._name(at)
            at = self.skip(at)
            if not self.text.startswith(":", at):
                raise ScanError("expected a colon after a name", at, ended=at >= len(self.text))
            self.committed = True
            value, at = self.value(at + 1, ",}", depth + 1)
            if name in found and repr(found[name]) != repr(value):
                raise ScanError(f"the name {name!r} stands twice with different values", at)
            found[name] = value
            at = self._after(at, "}")

    def _name(self, at: int) -> tuple[str, int]:
        if self.text[at : at + 1] and self.text[at] in QUOTES:
            return read_string(self.text, at, lambda place: True, key=True)
        match = _NAME.match(self.text, at)
        if match is None:
            raise ScanError("expected a name in quotes", at, ended=at >= len(self.text))
        self.bare_names = True
        return match.group(), match.end()

    def _items(self, at: int, close: str, depth: int) -> tuple[JsonValue, int]:
        found: list[JsonValue] = []
        commas = 0
        while True:
            at = self.skip(at)
            if self._omission(at):
                at = self._after(self.skip(at), close, mark=True)
                continue
            if self.text.startswith(close, at):
                break
            quoted = self.text[at : at + 1] in {*QUOTES}
            value, at = self.value(at, "," + close, depth + 1)
            found.append(value)
            self.committed = self.committed or quoted
            at = self._after(at, close, items=True)
            commas += self.text[at - 1] == ","
        if close == ")" and len(found) == 1 and not commas:
            return found[0], at + 1
        return found, at + 1

    def _after(self, at: int, close: str, *, items: bool = False, mark: bool = False) -> int:
        """Passes over what separates two members; a missing comma is seen where nothing else can be meant."""
        if mark:
            self.omission = True
            at += 3 if self.text.startswith("...", at) else 1
        start = at
        at = self.skip(at)
        if self.text.startswith(",", at):
            return at + 1
        if self.text.startswith(close, at):
            return at
        if items and self.text.startswith("{", at) and self.text[start - 1] == "}":
            return at
        if not items and "\n" in self.text[start:at] and self._starts_member(at):
            return at
        raise ScanError(f"expected a comma or {close}", at, ended=at >= len(self.text))

    def _omission(self, at: int) -> bool:
        return self.text.startswith(("...", "…"), at)

    def _starts_member(self, at: int) -> bool:
        quote = self.text[at : at + 1]
        if quote not in {'"', "'"}:
            return False
        end = self.text.find(quote, at + 1, at + 100)
        if end < 0 or "\n" in self.text[at:end]:
            return False
        return self.text.startswith(":", self._blank(end + 1))

    def _ends(self, at: int, follow: str) -> bool:
        """Tells whether a string may end before this place, from what comes behind it."""
        start = at
        at = self._blank(at)
        while self.text.startswith(("//", "#", "/*"), at):
            mark = "*/" if self.text.startswith("/*", at) else "\n"
            end = self.text.find(mark, at, at + _LONGEST_COMMENT)
            if end < 0:
                return len(self.text) - at < _LONGEST_COMMENT
            at = self._blank(end + len(mark))
        if at >= len(self.text) or self.text[at] in follow:
            return True
        return "}" in follow and "\n" in self.text[start:at] and self._starts_member(at)

    def _token(self, at: int, follow: str, depth: int) -> tuple[JsonValue, int]:
        match = _TOKEN.match(self.text, at)
        if match is None:
            raise ScanError("expected a value", at)
        token, end = match.group(), match.end()
        if self._omission(at) and token.strip(".…") == "":
            self.omission = True
            return token, end
        place = self.skip(end)
        next_member = "}" in follow and "\n" in self.text[end:place] and self._starts_member(place)
        if place < len(self.text) and self.text[place] not in follow and not next_member:
            raise ScanError(f"expected a comma or {follow[-1:]}", place)
        if place >= len(self.text) and follow:
            raise ScanError("the text ends within a value", place, ended=True)
        lowered = token.lower()
        if lowered in _WORDS:
            return _WORDS[lowered], end
        if _NUMBER.fullmatch(token):
            return self._number(token, at), end
        if "}" in follow and _NAME.fullmatch(token) and lowered not in _NO_VALUES and "$" not in token:
            self.bare_words = True
            return token, end
        raise ScanError(f"{token[:40]!r} is not a value", at)

    def _number(self, token: str, at: int) -> int | float:
        plain = token.replace("_", "")
        try:
            number = float(plain) if set(plain) & set(".eE") else int(plain)
        except ValueError:
            raise ScanError("the number is too long", at) from None
        if isinstance(number, float) and not math.isfinite(number):
            raise ScanError("the number is too large", at)
        return number
