"""Markdown: tables without loss, and long texts cut at their headings, paragraphs and rows."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from kgot_tools_media.parts import Part

PIECE = 2_000
"""Characters of one part, about; windows are put together from parts."""
_HEADING = re.compile(r"^#{1,6} +(.+?)[ #]*$")
_RULE = re.compile(r"^\|[ :|-]*-[ :|-]*\|?$")


def cell(text: object) -> str:
    """Writes a table's cell on one line; :func:`cells` reads it back."""
    shown = "" if text is None else str(text)
    shown = re.sub(r"\\(?=[|\\<])", r"\\\\", shown).replace("|", "\\|").replace("<br>", "\\<br>")
    return re.sub(r"\r\n|\r|\n", "<br>", shown)


def cells(line: str) -> list[str]:
    """Reads a table's line back into the texts of its cells."""
    found = [""]
    for mark in re.findall(r"\\[|\\<]|<br>|.", line.strip(" ").removeprefix("|").removesuffix("|"), re.DOTALL):
        if mark == "|":
            found.append("")
        else:
            found[-1] += "\n" if mark == "<br>" else mark[-1]
    return [text[1:-1] for text in found]


def row(values: Iterable[object]) -> str:
    """Writes one line of a table."""
    return "| " + " | ".join(map(cell, values)) + " |"


def header(values: Sequence[object]) -> str:
    """Writes a table's first line and the rule below it."""
    return f"{row(values)}\n|{'---|' * len(values)}"


def table(rows: Sequence[Sequence[object]]) -> str:
    """Writes a whole table; the first row is its header, short rows are filled up."""
    if not rows:
        return ""
    width = max(len(values) for values in rows)
    full = [[*values, *[""] * (width - len(values))] for values in rows]
    return "\n".join([header(full[0]), *map(row, full[1:])])


def line_parts(text: str, unit: str = "line", section: str = "") -> Iterator[Part]:
    """Cuts a plain text into parts of some lines."""
    group: list[str] = []
    first, last, length = 1, 1, 0
    for number, line in enumerate(text.splitlines(), 1):
        for piece in _pieces(line):
            if group and length + len(piece) > PIECE:
                yield Part("\n".join(group), section, unit, first, last)
                group, length = [], 0
            first, last = (first if group else number), number
            group.append(piece)
            length += len(piece)
    if group:
        yield Part("\n".join(group), section, unit, first, last)


def markdown_parts(text: str, section: str = "") -> Iterator[Part]:
    """Cuts a Markdown text at its blank lines; each part knows the heading above it, long tables repeat their head."""
    outer, group, length = section, list[str](), 0
    for block in re.split(r"\n[ \t]*\n", text.replace("\r\n", "\n").strip("\n")):
        if not block.strip():
            continue
        heading = _HEADING.match(block.strip().split("\n", 1)[0])
        long = len(block) > PIECE
        if group and (heading or long or length + len(block) > PIECE):
            yield Part("\n\n".join(group) + "\n", section)
            group, length = [], 0
        if heading:
            title = heading.group(1).strip("*_ ")
            section = f"{outer}, {title}" if outer else title
        if long:
            yield from _long_block(block, section)
        else:
            group.append(block)
            length += len(block)
    if group:
        yield Part("\n\n".join(group) + "\n", section)


def table_parts(rows: Iterable[tuple[int, str]], head: str, section: str = "") -> Iterator[Part]:
    """Gives the written rows of a table, each with its number, in parts under one head."""
    group: list[str] = []
    first, last, length = 0, 0, 0
    for number, line in rows:
        if group and length + len(line) > PIECE:
            yield Part("\n".join(group), section, "row", first, last, head)
            group, length = [], 0
        first, last = (first if group else number), number
        group.append(line)
        length += len(line)
    if group:
        yield Part("\n".join(group), section, "row", first, last, head)


def _long_block(block: str, section: str) -> Iterator[Part]:
    lines = block.split("\n")
    if len(lines) > 2 and _RULE.match(lines[1].strip()):
        head = "\n".join(lines[:2])
        yield from table_parts(enumerate(lines[2:], 1), head, section)
        return
    for part in line_parts(block):
        yield Part(part.text, section)


def _pieces(line: str) -> Iterator[str]:
    """Cuts a line that is much longer than a part."""
    for start in range(0, max(1, len(line)), 4 * PIECE):
        yield line[start : start + 4 * PIECE]
