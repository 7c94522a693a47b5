"""Long Markdown in parts that a model can take."""

from __future__ import annotations

import re

_RULE = re.compile(r"^\|[ :|-]*-[ :|-]*\|?$")


def size(text: str) -> int:
    """Estimates the tokens of a text: about four bytes each, in any script."""
    return len(text.encode("utf-8", "replace")) // 4 + 1


def windows(text: str, most: int) -> list[str]:
    """Cuts a text at its blank lines, else at lines, else anywhere; a table that is cut repeats its first row.

    Args:
        text: Markdown.
        most: Characters of a part at most, but for a repeated row.

    Returns:
        At least one part; put together they hold everything that the text does.
    """
    parts: list[str] = []
    group = ""
    for block in re.split(r"\n[ \t]*\n", text.strip("\n")):
        for piece in _pieces(block, most):
            if group and len(group) + len(piece) + 2 > most:
                parts.append(group)
                group = ""
            group = f"{group}\n\n{piece}" if group else piece
    return [*parts, group] if group or not parts else parts


def _pieces(block: str, most: int) -> list[str]:
    if len(block) <= most:
        return [block]
    lines = block.split("\n")
    head = "\n".join(lines[:2]) if len(lines) > 2 and _RULE.match(lines[1].strip()) else ""
    if len(head) * 2 > most:
        head = ""
    pieces, group = [], ""
    for line in lines[2:] if head else lines:
        for start in range(0, max(1, len(line)), most):
            bit = line[start : start + most]
            if group and len(group) + len(bit) + 1 > most:
                pieces.append(group)
                group = ""
            group = f"{group}\n{bit}" if group else bit
    pieces += [group] if group else []
    return [f"{head}\n{piece}" for piece in pieces] if head else pieces
