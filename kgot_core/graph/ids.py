"""Ids for elements that come from files: those that they have there as far as they are unique, else new ones."""

from __future__ import annotations


class Ids:
    """Gives each id once, to a node or an edge."""

    def __init__(self) -> None:
        self._taken: set[str] = set()
        self._count: dict[str, int] = {}

    def give(self, wanted: str, letter: str) -> str:
        """Gives the wanted id where it is free, else the next one of a letter: ``n1``, ``e1``."""
        while not wanted or wanted in self._taken:
            self._count[letter] = self._count.get(letter, 0) + 1
            wanted = f"{letter}{self._count[letter]}"
        self._taken.add(wanted)
        return wanted
