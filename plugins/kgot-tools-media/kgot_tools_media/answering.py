"""A question answered by a model from a document, long ones read in parts (paper, B.4: Text Inspector)."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass

from kgot_core.contracts.prompts import tagged
from kgot_core.contracts.tools import Source, ToolContext
from kgot_core.errors import ContextOverflow
from kgot_tools_media.documents import Document
from kgot_tools_media.parts import Part
from kgot_tools_media.prompts import fill
from kgot_tools_media.ranking import Ranking
from kgot_tools_media.windows import Window, windows

AT_ONCE = 4
SMALLEST = 200
MOST_SOURCES = 20
_NOTHING = "NOTHING"
_BRACKET = re.compile(r"\[([^\[\]\n]{1,120})\]")
_NUMBERED = re.compile(r"\b(page|slide|row|line|cell|chapter)s?\s+(\d+)", re.IGNORECASE)


@dataclass(frozen=True)
class Reading:
    """How much of a document is read for a question.

    Attributes:
        tokens: Tokens that are read at once.
        parts: Parts that are read at most.
    """

    tokens: int
    parts: int


async def answer(
    context: ToolContext, document: Document, question: str, reading: Reading
) -> tuple[str, tuple[Source, ...]]:
    """Answers a question from a document.

    Returns:
        The answer, and where in the document it rests.

    Raises:
        ModelError: The model cannot be asked.
    """
    every = windows(document.parts, reading.tokens)
    chosen = _chosen(every, question, reading.parts)
    if len(every) == 1:
        text = await _ask(context, "answer_file", document, question, every[0], reading.tokens)
    else:
        notes = await _notes(context, document, question, chosen, reading.tokens)
        if not notes:
            text = "Nothing in what was read helps to answer the question."
        else:
            content = "\n".join(tagged("notes", note, part=window.place) for window, note in notes)
            text = await context.answer(fill("answer_notes", content=content, question=question))
    if len(chosen) < len(every):
        places = "; ".join(window.place for window in chosen)
        text += f"\n\n[{len(chosen)} of {len(every)} parts were read, those that share most words: {places}]"
    return text, sources_of(document, text, chosen)


def sources_of(document: Document, text: str, read: Sequence[Window]) -> tuple[Source, ...]:
    """Gives the places that an answer names, where the document has them; else those that were read."""
    named = [place for place in _BRACKET.findall(text) if _known(document.parts, place)]
    places = list(dict.fromkeys(named)) or [window.place for window in read]
    digest = document.sha256
    return tuple(Source(document.address, place=place, sha256=digest) for place in places[:MOST_SOURCES])


def _chosen(every: Sequence[Window], question: str, most: int) -> list[Window]:
    if len(every) <= most:
        return list(every)
    best = Ranking([window.text for window in every]).best(question, most)
    places = best + [place for place in range(len(every)) if place not in best]
    return [every[place] for place in sorted(places[:most])]


async def _notes(
    context: ToolContext, document: Document, question: str, chosen: Sequence[Window], tokens: int
) -> list[tuple[Window, str]]:
    """Takes notes from each window, some at once: always in the same groups, so that equal runs ask equally."""
    notes: list[tuple[Window, str]] = []
    for start in range(0, len(chosen), AT_ONCE):
        group = chosen[start : start + AT_ONCE]
        asked = (_ask(context, "note_part", document, question, window, tokens) for window in group)
        replies = await asyncio.gather(*asked)
        notes += [(window, reply) for window, reply in zip(group, replies, strict=True) if _says_something(reply)]
    return notes


async def _ask(
    context: ToolContext, prompt: str, document: Document, question: str, window: Window, tokens: int
) -> str:
    content = tagged("file", window.text, name=document.address, part=window.place)
    try:
        return await context.answer(fill(prompt, content=content, question=question))
    except ContextOverflow:
        if tokens // 2 < SMALLEST:
            raise
    # The model has less room than was thought: the same in halves, one after the other.
    replies = []
    for half in windows(window.parts, tokens // 2):
        reply = await _ask(context, "note_part", document, question, half, tokens // 2)
        replies += [reply] if _says_something(reply) else []
    if prompt == "note_part":
        return "\n".join(replies) or _NOTHING
    content = "\n".join(tagged("notes", reply) for reply in replies) or "(no part holds anything on it)"
    return await context.answer(fill("answer_notes", content=content, question=question))


def _says_something(reply: str) -> bool:
    return bool(reply.strip()) and reply.strip().strip(".").upper() != _NOTHING


def _known(parts: Sequence[Part], place: str) -> bool:
    numbered = [(unit.lower(), int(number)) for unit, number in _NUMBERED.findall(place)]
    for part in parts:
        if part.section and part.section.casefold().removeprefix("sheet ") in place.casefold():
            return True
        if any(unit == part.unit and part.first <= number <= part.last for unit, number in numbered):
            return True
    return False
