"""Reads the line that names what an answer rests on: ``BASIS: name | name``."""

from __future__ import annotations

import re
from collections.abc import Sequence

from kgot_core.graph.facts.line import read_line
from kgot_core.graph.facts.model import LineFault, mentions_of

_LABEL = re.compile(r"[\s*_#>`-]*(?:basis|based on)\s*[*_]*\s*[:=]\s*[*_]*", re.IGNORECASE)
_BULLET = re.compile(r"\s*(?:[-*+•]|\d{1,2}[.)])\s+(.+)")
_TRIM = " \t*_`\"'“”‘’.;"
_MOST_NAMES = 200


def read_basis(lines: Sequence[str]) -> tuple[tuple[str, ...], list[str]]:
    """Takes the lines that name an answer's basis out of others.

    Names are separated by bars; where there is none, by semicolons or commas, and then the whole is given as well,
    for a name may hold a comma. A node in parentheses gives its name, an edge the names of both its ends.

    Returns:
        The names in order, each once, and the other lines.
    """
    names: dict[str, None] = {}
    kept: list[str] = []
    listing = False
    for line in lines:
        label = _LABEL.match(line)
        bullet = _BULLET.match(line) if listing else None
        if label is None and bullet is None:
            listing = listing and not line.strip()
            kept.append(line)
            continue
        text = line[label.end() :] if label else (bullet[1] if bullet else "")
        listing = not text.strip(_TRIM) if label else True
        for name in _split(text.strip()):
            if len(names) < _MOST_NAMES:
                names[name] = None
    return tuple(names), kept


def _split(text: str) -> list[str]:
    if "|" in text:
        parts = text.split("|")
    elif text.startswith("("):
        return _named(text) or [text]
    elif ";" in text:
        parts = text.split(";")
    else:
        pieces = text.split(",")
        parts = [text, *pieces] if len(pieces) > 1 else [text]
    return [name for part in parts if (cleaned := part.strip(_TRIM)) for name in _named(cleaned) or [cleaned]]


def _named(text: str) -> list[str]:
    """Gives the names of the things that a fact mentions, nothing where the text is not a fact."""
    if not text.startswith("(") and "-[" not in text:
        return []
    try:
        facts = read_line(text)
    except LineFault:
        inner = text.strip("() ")
        return [inner] if text.startswith("(") and inner else []
    return [mention.name for fact in facts for mention in mentions_of(fact)]
