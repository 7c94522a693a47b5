"""Whether the values of an element stand in the text that it is said to come from (paper, section 2.5)."""

from __future__ import annotations

import datetime
import re
import unicodedata
from dataclasses import dataclass
from functools import cached_property

from kgot_core.graph.elements import Element
from kgot_core.graph.values import Iri, LangText, Scalar, TypedText, plain_text

_NUMBER = re.compile(r"\d[\d\u00a0\u202f ,.']*\d|\d")
_WORD = re.compile(r"[^\W_]+")
SHORTEST_WORD = 3
# Texts are reworded and cut when they are taken into a graph, so a few of their words may be the model's own.
SHARE_OF_WORDS = 0.75


@dataclass(frozen=True)
class SourceText:
    """The text of an element's sources, made ready for looking things up in it."""

    text: str

    def holds(self, value: Scalar) -> bool:
        """Tells whether a value stands in the text, in whatever form a person would take for the same."""
        if isinstance(value, bool | Iri):
            return True
        if isinstance(value, int | float):
            return self._number(value)
        if isinstance(value, datetime.datetime | datetime.date):
            return value.isoformat()[:10] in self.text or {value.year, value.day} <= self._numbers
        said = value.text if isinstance(value, LangText | TypedText) else plain_text(value)
        return self._phrase(said)

    def _number(self, value: float) -> bool:
        if value in self._numbers or abs(value) in self._numbers:
            return True
        digits = len(str(value).partition(".")[2]) if isinstance(value, float) else 0
        # A number may be given shorter than it stands there, but not as a whole one: 61.5 is not 62.
        return digits > 0 and any(round(number, digits) == abs(value) for number in self._numbers)

    def _phrase(self, said: str) -> bool:
        plain = _plain(said)
        if not plain or f" {plain} " in f" {self._plain} ":
            return True
        words = {word for word in plain.split() if len(word) >= SHORTEST_WORD or word.isdigit()}
        return bool(words) and len(words & self._words) >= SHARE_OF_WORDS * len(words)

    @cached_property
    def _plain(self) -> str:
        return _plain(self.text)

    @cached_property
    def _words(self) -> frozenset[str]:
        return frozenset(self._plain.split())

    @cached_property
    def _numbers(self) -> frozenset[float]:
        return frozenset(number for found in _NUMBER.findall(self.text) for number in _readings(found))


def unsupported(element: Element, source: SourceText) -> tuple[str, ...]:
    """Names the properties whose value does not stand in the sources' text, each once, in their order."""
    missing = []
    for name, value in element.properties.items():
        values = value if isinstance(value, tuple) else (value,)
        if not all(source.holds(item) for item in values):
            missing.append(name)
    return tuple(missing)


def _plain(text: str) -> str:
    """Gives words in lower case without accents, one space apart."""
    folded = unicodedata.normalize("NFKD", text).casefold()
    bare = "".join(mark for mark in folded if not unicodedata.combining(mark))
    return " ".join(_WORD.findall(bare))


def _readings(digits: str) -> set[float]:
    """Reads a number in each way in which its separators may be meant: ``1,234`` is 1234 or 1.234."""
    bare = re.sub(r"[\s']", "", digits)
    forms = {re.sub(r"[,.]", "", bare), bare.replace(",", ""), bare.replace(".", "").replace(",", ".")}
    parts = re.split(r"[\s,.']+", digits)
    found: set[float] = set()
    for form in (*forms, *parts):
        try:
            found.add(float(form))
        except (ValueError, OverflowError):
            continue
    return found
