"""Reads the facts of a whole reply: those in its fenced blocks, or its bare lines."""

from __future__ import annotations

from kgot_core.graph.facts.model import FactsReading, LineProblem
from kgot_core.graph.facts.reader import read_lines
from kgot_core.reading.blocks import Block, Prose, read_parts


def read_facts(text: str, *, cut: bool = False) -> FactsReading:
    """Reads the facts of a reply, or of one block's text, line by line.

    Where the reply has fenced blocks that hold facts, only those count; else its bare lines are read. Reasoning is
    left out.

    Args:
        text: The reply.
        cut: The reply was cut off by a token limit; its last line is then passed over unless a closed block ends
            the reply.
    """
    parts = read_parts(text)
    blocks = [part for part in parts if isinstance(part, Block)]
    last = parts[-1] if parts else None
    fenced = [_read_part(part, cut and part is last) for part in blocks]
    if any(reading.facts for reading in fenced):
        return _joined(fenced)
    bare = [_read_part(part, cut and part is last) for part in parts if isinstance(part, Prose)]
    return _joined(bare if any(reading.facts for reading in bare) or not fenced else fenced)


def _read_part(part: Block | Prose, cut: bool) -> FactsReading:
    if isinstance(part, Block) and part.closed:
        cut = False
    lines = part.text.split("\n")
    fence = isinstance(part, Block) and part.line != part.end
    first = part.line + 1 if fence else part.line
    dropped: list[LineProblem] = []
    if cut and lines[-1].strip():
        dropped = [LineProblem(first + len(lines) - 1, lines[-1].strip(), "the reply was cut off within this line")]
        lines = lines[:-1]
    reading = read_lines(lines, first)
    return FactsReading(reading.facts, (*reading.problems, *dropped))


def _joined(readings: list[FactsReading]) -> FactsReading:
    return FactsReading(
        tuple(fact for reading in readings for fact in reading.facts),
        tuple(problem for reading in readings for problem in reading.problems),
    )
