"""A page as the Surfer sees it: one piece of about 5,000 characters at a time (paper, B.4)."""

from __future__ import annotations

import re
from collections.abc import Sequence

from kgot_core.errors import KgotError
from kgot_tools_web.reading.pages import Page

_PART = re.compile(r"(\?|\s+)")


class Viewport:
    """The piece of a page that is looked at.

    Args:
        page: The page.
        size: Characters of a piece, about.
    """

    def __init__(self, page: Page, size: int) -> None:
        self.page = page
        self._pieces = pieces(page.text, size)
        self._now = 0
        self._matches: Sequence[int] = ()
        self._match = 0
        self._pattern = ""

    @property
    def text(self) -> str:
        """The piece that is looked at."""
        start, end = self._pieces[self._now]
        return self.page.text[start:end].strip()

    @property
    def place(self) -> str:
        """Which piece it is."""
        return f"part {self._now + 1} of {len(self._pieces)}" if len(self._pieces) > 1 else ""

    def down(self) -> None:
        """Goes on to the next piece.

        Raises:
            KgotError: This is the last one.
        """
        if self._now + 1 >= len(self._pieces):
            raise KgotError("this is the end of the page")
        self._now += 1

    def up(self) -> None:
        """Goes back to the piece before.

        Raises:
            KgotError: This is the first one.
        """
        if not self._now:
            raise KgotError("this is the beginning of the page")
        self._now -= 1

    def find(self, pattern: str) -> str:
        """Goes to the first place with some words, and tells how many there are.

        Args:
            pattern: Words, in any case; ``*`` stands for anything within a line, ``?`` for one character.

        Raises:
            KgotError: They stand nowhere on the page.
        """
        expression = wildcard(pattern)
        if expression is None:
            raise KgotError("find_on_page needs a word")
        self._pattern = pattern.strip()
        self._matches = [found.start() for found in expression.finditer(self.page.text)]
        if not self._matches:
            raise KgotError(f"{self._pattern!r} stands nowhere on this page; try one shorter word, or * between words")
        self._match = 0
        return self._go()

    def find_next(self) -> str:
        """Goes to the next place with the words that were looked for last.

        Raises:
            KgotError: There is no other, or nothing was looked for on this page.
        """
        if not self._matches:
            raise KgotError("nothing was found on this page yet: use find_on_page first")
        if self._match + 1 >= len(self._matches):
            raise KgotError(f"there is no other place with {self._pattern!r} on this page")
        self._match += 1
        return self._go()

    def _go(self) -> str:
        place = self._matches[self._match]
        self._now = next(number for number, (_, end) in enumerate(self._pieces) if place < end)
        return f"place {self._match + 1} of {len(self._matches)} with {self._pattern!r}"

    @property
    def near(self) -> str:
        """The words around the place that was found last."""
        place = self._matches[self._match]
        start = self.page.text.rfind("\n", 0, place) + 1
        line = self.page.text[start:].split("\n", 1)[0]
        at = max(0, place - start - 150)
        return " ".join(line[at : at + 350].split())


def pieces(text: str, size: int) -> list[tuple[int, int]]:
    """Cuts a text into pieces at the ends of paragraphs, else of lines, else of sentences or words.

    Args:
        text: The text.
        size: Characters of a piece at most.

    Returns:
        Beginning and end of each piece; together they are the whole text. At least one.
    """
    found: list[tuple[int, int]] = []
    start = 0
    while len(text) - start > size:
        half = start + size // 2
        end = start + size
        for mark in ("\n\n", "\n", ". ", " "):
            place = text.rfind(mark, half, end)
            if place >= 0:
                end = place + len(mark)
                break
        found.append((start, end))
        start = end
    return [*found, (start, len(text))]


def wildcard(pattern: str) -> re.Pattern[str] | None:
    """Gives the expression for words with ``*`` and ``?``; ``None`` where there is no word in them."""
    words = pattern.strip().strip("*")
    if not re.search(r"[^\s*?]", words):
        return None
    first, *others = (_segment(part) for part in re.split(r"\*+", words))
    # What follows a star is taken at the nearest place, and kept: else a few stars could take hours on one page.
    return re.compile(first + "".join(rf"(?>[^\n]{{0,200}}?{part})" for part in others), re.IGNORECASE)


def _segment(words: str) -> str:
    parts = (r"[^\n]" if part == "?" else r"\s++" if part.isspace() else re.escape(part) for part in _PART.split(words))
    return "".join(parts)
