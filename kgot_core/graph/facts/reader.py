"""Reads lines of the fact language, each with its own fate."""

from __future__ import annotations

import re
from collections.abc import Sequence

from kgot_core.graph.facts.line import deletes, read_line
from kgot_core.graph.facts.model import Fact, FactsReading, LineFault, LineProblem

_BULLET = re.compile(r"(?:[-*+•·‣▪–—]\s+|\(?\d{1,3}[.):]\s+|>\s+)+")
_DASH = re.compile(r"-\s+")
_SILENT = re.compile(r"(?:#|//|--\s|[`~]{3}|</?\w|\|?[\s:|-]+\|?$)|(?:nothing|none)\W*$", re.IGNORECASE)


def read_lines(lines: Sequence[str], first: int = 1) -> FactsReading:
    """Reads a run of lines; a bad one costs only itself.

    A line that starts with ``- `` deletes where at least as many other lines of the run are facts without any
    bullet; elsewhere it is only a bullet. ``DELETE`` and ``REMOVE`` always delete.

    Args:
        lines: The lines; empty ones, comments and the word NOTHING are passed over.
        first: The number of the first line.
    """
    kept = [(number, line.strip()) for number, line in enumerate(lines, first)]
    kept = [(number, line) for number, line in kept if line and not _SILENT.match(line)]
    dashes = [bool(_DASH.match(line)) for _, line in kept]
    read = [_read(_clean(line), number) for number, line in kept]
    plain = sum(
        isinstance(facts, list) and not _BULLET.match(line) for (_, line), facts in zip(kept, read, strict=True)
    )
    dashed = sum(dashes)
    facts: list[Fact] = []
    problems: list[LineProblem] = []
    for (number, line), dash, found in zip(kept, dashes, read, strict=True):
        text = _clean(line)
        if dash and plain >= dashed and not deletes(text):
            found = _read(f"DELETE {text}", number)
        if isinstance(found, list):
            facts += found
        else:
            problems.append(LineProblem(number, line, str(found)))
    return FactsReading(tuple(facts), tuple(problems))


def _read(text: str, number: int) -> list[Fact] | LineFault:
    try:
        return read_line(text, number)
    except LineFault as fault:
        return fault


def _clean(line: str) -> str:
    """Takes bullets, numbers and marks of emphasis off a line."""
    bullet = _BULLET.match(line)
    text = line[bullet.end() :] if bullet else line
    if text.count("**") % 2 == 0:
        text = text.replace("**", "")
    if len(text) > 2 and text[0] == text[-1] == "`":
        text = text[1:-1]
    return text.strip()
