"""Text of models, tools and pages made safe to show: what a terminal would obey is written out instead."""

from __future__ import annotations

import unicodedata

# Marks that turn the direction of the text around them, so that it reads as something else than it is.
_TURNS = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def visible(text: str) -> str:
    """Writes control characters and marks of direction as ``\\u001b``; line ends and tabs stay.

    The form is that of JSON strings, so JSON stays JSON.
    """
    if text.isprintable():
        return text
    return "".join(f"\\u{ord(mark):04x}" if _obeyed(mark) else mark for mark in text)


def _obeyed(mark: str) -> bool:
    return mark in _TURNS or (unicodedata.category(mark) == "Cc" and mark not in "\n\t")
