"""Reads which of several numbered candidates a reply chooses."""

from __future__ import annotations

import re

from kgot_core.errors import Unreadable
from kgot_core.reading.blocks import strip_reasoning

_MARK = re.compile(r"(?im)^[\s>*#`_\-\"'{]*choice\b[\s*`_\"']*[:=\-–—]?(?P<said>.*)$")
_NUMBER = re.compile(r"(?<![\w.,-])\d{1,4}(?![\w-]|[.,]\d)")
_ALONE = re.compile(r"\W*(?:candidate|choice|number|no\.?)?\W*(\d{1,4})\W*", re.IGNORECASE)


def read_chosen(text: str, most: int) -> int:
    """Reads a verdict: the number on the last line that begins with CHOICE, or a reply that is nothing but a number.

    Args:
        text: The reply.
        most: How many candidates there were, numbered from 1.

    Raises:
        Unreadable: There is no number, there are several, or no candidate has it.
    """
    stripped = strip_reasoning(text).strip()
    marks = list(_MARK.finditer(stripped))
    if marks:
        numbers = set(_NUMBER.findall(marks[-1]["said"]))
    else:
        alone = _ALONE.fullmatch(stripped)
        numbers = {alone[1]} if alone else set()
    if len(numbers) != 1:
        raise Unreadable("expected a last line CHOICE: with the number of one candidate")
    number = int(numbers.pop())
    if not 1 <= number <= most:
        raise Unreadable(f"there is no candidate {number}, only 1 to {most}")
    return number
