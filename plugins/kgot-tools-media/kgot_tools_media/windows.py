"""A document cut into windows that fit a budget: what ``page=`` counts, and what a model reads at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from kgot_tools_media.parts import Part, numbers, size

NATURAL = ("page", "slide")


@dataclass(frozen=True)
class Window:
    """Parts that are shown together.

    Attributes:
        parts: The parts, those that follow each other joined.
    """

    parts: tuple[Part, ...]

    @property
    def text(self) -> str:
        """Markdown."""
        return "\n".join(part.whole() for part in self.parts)

    @property
    def places(self) -> tuple[str, ...]:
        """Where its parts stand, each once."""
        return tuple(dict.fromkeys(part.place for part in self.parts if part.place))

    @property
    def place(self) -> str:
        """Where it stands, in a few words."""
        first, last = self.parts[0], self.parts[-1]
        if first.section == last.section and first.unit == last.unit and first.first:
            return ", ".join(filter(None, [first.section, numbers(first.unit, first.first, last.last)]))
        places = self.places
        return "; ".join(places[:6]) + ("; ..." if len(places) > 6 else "")


def natural(parts: Sequence[Part], budget: int) -> bool:
    """Tells whether a document is counted in its own pages: each of them fits the budget."""
    return bool(parts) and all(part.unit in NATURAL and size(part.whole()) <= budget for part in parts)


def windows(parts: Sequence[Part], budget: int) -> list[Window]:
    """Cuts a document into windows of a number of tokens, between its parts where that is possible."""
    made: list[list[Part]] = []
    room = 0
    for part in _small(parts, budget):
        joins = bool(made) and part.follows(made[-1][-1])
        need = size(part.text) + (0 if joins else size(part.head)) + (size(part.tail) if part.tail else 0)
        if made and need <= room:
            if joins:
                made[-1][-1] = made[-1][-1].joined(part)
            else:
                made[-1].append(part)
            room -= need
        else:
            made.append([part])
            room = budget - size(part.whole())
    return [Window(tuple(group)) for group in made]


def window_at(parts: Sequence[Part], page: int, budget: int) -> Window:
    """Gives the window of a document's own pages that begins at one of them."""
    from_there = [part for part in parts if part.first >= page]
    return windows(from_there, budget)[0]


def _small(parts: Sequence[Part], budget: int) -> Iterator[Part]:
    for part in parts:
        if size(part.whole()) <= budget:
            yield part
            continue
        # What is too long by itself is cut at its lines; a remark below belongs to the last piece.
        pieces = list(_pieces(part, max(budget - size(part.head) - 1, budget // 2, 50)))
        for place, piece in enumerate(pieces):
            tail = part.tail if place == len(pieces) - 1 else ""
            yield replace(part, text=piece, tail=tail[: budget * 4])


def _pieces(part: Part, budget: int) -> Iterator[str]:
    group, room = list[str](), budget
    for line in part.text.split("\n"):
        for piece in _cut(line, budget):
            need = size(piece)
            if group and need > room:
                yield "\n".join(group)
                group, room = [], budget
            group.append(piece)
            room -= need
    if group:
        yield "\n".join(group)


def _cut(line: str, budget: int) -> Iterator[str]:
    # Four bytes are the most that one character has.
    length = max(1, budget if not line.isascii() else budget * 3)
    for start in range(0, max(1, len(line)), length):
        yield line[start : start + length]
