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

    A line that starts with ``- `` deletes where other lines of the run stand without any bullet; where all have
    one, it is only a bullet. ``DELETE`` and ``REMOVE`` always delete.

    Args:
        lines: The lines; empty ones, comments and the word NOTHING are passed over.
        first: The number of the first line.
    """
    facts: list[Fact] = []
    problems: list[LineProblem] = []
    kept = [(number, line.strip()) for number, line in enumerate(lines, first)]
    kept = [(number, line) for number, line in kept if line and not _SILENT.match(line)]
    plain = any(line.startswith(("(", '"')) for _, line in kept)
    for number, line in kept:
        text = _clean(line)
        if plain and _DASH.match(line) and not deletes(text):
            text = f"DELETE {text}"
        try:
            facts += read_line(text, number)
        except LineFault as fault:
            problems.append(LineProblem(number, line, str(fault)))
    return FactsReading(tuple(facts), tuple(problems))


def _clean(line: str) -> str:
    """Takes bullets, numbers and marks of emphasis off a line."""
    bullet = _BULLET.match(line)
    text = line[bullet.end() :] if bullet else line
    if text.count("**") % 2 == 0:
        text = text.replace("**", "")
    if len(text) > 2 and text[0] == text[-1] == "`":
        text = text[1:-1]
    return text.strip()
