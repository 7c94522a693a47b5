"""Text made of pieces of a statement, which finds its way back to the place in the statement."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Piece:
    """Some text; ``start`` is where it stands in the statement, -1 where it was supplied."""

    text: str
    start: int = -1


class Built:
    """What is sent to an engine in a statement's place.

    Args:
        source: The statement as the model wrote it.
        pieces: What the text is made of, in order.
    """

    def __init__(self, source: str, pieces: Iterable[Piece]) -> None:
        self._source = source
        self._pieces = tuple(pieces)
        self.text = "".join(piece.text for piece in self._pieces)

    def locate(self, line: int, column: int) -> tuple[int, int]:
        """Gives the line and column in the statement for one of this text; zeros where there is none."""
        if line < 1:
            return 0, 0
        lines = self.text.split("\n")
        if line > len(lines):
            return 0, 0
        offset = sum(len(text) + 1 for text in lines[: line - 1]) + max(column - 1, 0)
        begin, last = 0, -1
        for piece in self._pieces:
            end = begin + len(piece.text)
            if piece.start >= 0:
                last = piece.start + min(max(offset - begin, 0), len(piece.text))
            if offset < end and last >= 0:
                break
            begin = end
        return place(self._source, last) if last >= 0 else (0, 0)


def place(source: str, offset: int) -> tuple[int, int]:
    """Gives line and column, both from 1, of an offset."""
    before = source[:offset]
    return before.count("\n") + 1, offset - before.rfind("\n")
