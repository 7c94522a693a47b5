"""Reads the numbers of a list that a model names, each with what it says of it."""

from __future__ import annotations

import re

from kgot_core.reading.blocks import strip_reasoning

_LINE = re.compile(
    r"^[\s>*_#`-]*(?:(?:no|nr|number|item|line|statement)\.?\s*)?"
    r"\[?\(?(?P<numbers>\d+(?:\s*(?:,|and|&)\s*\d+)*)[\])]?[*_`]*\s*(?:[:.)\-–—]+\s*(?P<reason>.*))?$",
    re.IGNORECASE,
)


def read_numbered(text: str, count: int) -> dict[int, str]:
    """Reads lines such as ``3: it is said nowhere``; all other lines say nothing.

    Args:
        text: The reply.
        count: How many items were listed; other numbers are passed over.

    Returns:
        What is said of each number that is named, in the order of the reply; the first word on a number counts.
    """
    found: dict[int, str] = {}
    for line in strip_reasoning(text).splitlines():
        match = _LINE.match(line.rstrip())
        if match is None:
            continue
        reason = (match["reason"] or "").strip().strip("*_`").strip()
        for number in map(int, re.findall(r"\d+", match["numbers"])):
            if 1 <= number <= count:
                found.setdefault(number, reason)
    return found
