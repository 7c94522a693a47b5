"""Leaves out what a model only thought aloud: ``<think>`` blocks before or within its reply."""

from __future__ import annotations

import json
import re

TAG = re.compile(r"<(?P<close>/?)(?:think|thinking|thought|reasoning)>|\[(?P<close2>/?)THINK\]", re.IGNORECASE)
_QUOTE = re.compile(r"[\"`“”]|(?<![A-Za-z])'")


def strip_reasoning(text: str) -> str:
    """Gives the reply without its reasoning blocks and without white space around it.

    A block that is never closed takes the rest of the text with it. A closing tag without an opening one ends
    a block that began with the reply. A reply that is one JSON document is left as it is, and so is a tag inside
    quotes.
    """
    if not TAG.search(text) or _is_json(text):
        return text.strip()
    kept: list[str] = []
    at = 0
    for start, end in reasoning_spans(text):
        kept.append(text[at:start])
        at = end
    kept.append(text[at:])
    return "".join(kept).strip()


def blank_reasoning(text: str) -> str:
    """Gives the reply with its reasoning blocks emptied, so that the numbers of the other lines stay the same."""
    if not TAG.search(text) or _is_json(text):
        return text
    kept: list[str] = []
    at = 0
    for start, end in reasoning_spans(text):
        kept += [text[at:start], "\n" * text.count("\n", start, end)]
        at = end
    kept.append(text[at:])
    return "".join(kept)


def ends_in_reasoning(text: str) -> bool:
    """Tells whether the reply stops within a reasoning block, so that its real content never came."""
    if not TAG.search(text) or _is_json(text):
        return False
    spans = reasoning_spans(text)
    return bool(spans) and spans[-1][1] == len(text) and not is_closing(text, spans[-1][1])


def reasoning_spans(text: str) -> list[tuple[int, int]]:
    """Finds where reasoning stands, in order and without overlaps."""
    spans: list[tuple[int, int]] = []
    opened: int | None = None
    at_line_start = False
    quoted = 0
    for tag in TAG.finditer(text):
        closing = bool(tag["close"] or tag["close2"])
        line = _line_before(text, tag.start())
        if opened is not None:
            if closing:
                spans.append((opened, tag.end()))
                opened = None
        elif closing and quoted:
            quoted -= 1
        elif closing:
            if not text[tag.end() : tag.end() + 1].strip() or not line.strip():
                spans = [(0, tag.end())]
        elif line.strip() and _QUOTE.search(line):
            quoted += 1
        else:
            opened, at_line_start = tag.start(), not line.strip()
    if opened is not None and at_line_start:
        spans.append((opened, len(text)))
    return spans


def is_closing(text: str, end: int) -> bool:
    """Tells whether a closing tag ends at this place of the text."""
    start = text.rfind("<" if text[end - 1 : end] == ">" else "[", 0, end)
    tag = TAG.fullmatch(text, start, end) if start >= 0 else None
    return bool(tag and (tag["close"] or tag["close2"]))


def _line_before(text: str, at: int) -> str:
    """Gives the part of the line that stands before a place, at most some hundred characters of it."""
    lowest = max(0, at - 400)
    return text[max(lowest, text.rfind("\n", lowest, at) + 1) : at]


def _is_json(text: str) -> bool:
    if text.lstrip()[:1] not in {"{", "["}:
        return False
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True
