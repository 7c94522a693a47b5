"""What became of a reply that was to be written into the graph."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal, TypeAlias

from kgot_core.reading.blocks import strip_reasoning

Written: TypeAlias = Literal["written", "nothing", "failed", "unreadable"]
"""All of it was written; it says that there is nothing to write; a part could not be mended; it says neither."""

_ORDER: Sequence[Written] = ("failed", "written", "nothing", "unreadable")


def all_written(outcomes: Sequence[Written]) -> Written:
    """Gives what became of several parts together."""
    return next((outcome for outcome in _ORDER if outcome in outcomes), "unreadable")


def says_nothing(text: str) -> bool:
    """Tells whether a reply is the one word that means that there is nothing to write, maybe with a remark."""
    said = strip_reasoning(text)
    if re.match(r"[\W_]*NOTHING\b", said) and "```" not in said:
        return True
    return re.fullmatch(r"\W*(?:\w*\W+)?nothing\W*", said, re.IGNORECASE) is not None
