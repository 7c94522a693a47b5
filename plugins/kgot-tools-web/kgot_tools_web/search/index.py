"""A small full-text index in memory: BM25 with word stems, by SQLite's own FTS5."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable
from typing import Any

TITLE_WEIGHT = 2.0
_WORD = re.compile(r"\w+")
# Words that stand in nearly every question and say nothing about what is asked.
_COMMON = frozenset(
    _WORD.findall(
        "a an and are as at be been by did do does for from had has have how in into is it its many much of on or that"
        " the their there this to was were what when where which who whom whose why will with"
    )
)


class Index:
    """Texts by what they share with a query.

    Args:
        texts: Title and text of each.
    """

    def __init__(self, texts: Iterable[tuple[str, str]]) -> None:
        self._base = sqlite3.connect(":memory:", check_same_thread=False)
        self._base.execute(
            "CREATE VIRTUAL TABLE texts USING fts5(title, body, tokenize='porter unicode61 remove_diacritics 2')"
        )
        rows = ((number, title, body) for number, (title, body) in enumerate(texts))
        self._base.executemany("INSERT INTO texts(rowid, title, body) VALUES (?, ?, ?)", rows)

    def best(self, query: str, most: int) -> list[int]:
        """Gives the numbers of the texts that share most with a query, best first; rare words count for more."""
        every = list(dict.fromkeys(word.lower() for word in _WORD.findall(query)))
        words = [word for word in every if word not in _COMMON] or every
        if not words:
            return []
        asked = " OR ".join(f'"{word}"' for word in words)
        found = self._base.execute(
            "SELECT rowid FROM texts WHERE texts MATCH ? ORDER BY bm25(texts, ?, 1.0), rowid LIMIT ?",
            (asked, TITLE_WEIGHT, most),
        )
        return [int(number) for (number,) in found]

    def snippet(self, query: str, number: int) -> str:
        """Gives the words of a text around what it shares with a query."""
        asked = " OR ".join(f'"{word}"' for word in _WORD.findall(query) if word.lower() not in _COMMON)
        if not asked:
            return ""
        found = self._base.execute(
            "SELECT snippet(texts, 1, '', '', ' ... ', 40) FROM texts WHERE texts MATCH ? AND rowid = ?",
            (asked, number),
        ).fetchone()
        return " ".join(str(found[0]).split()) if found else ""

    def close(self) -> None:
        """Frees the memory."""
        self._base.close()

    def __enter__(self) -> Index:
        return self

    def __exit__(self, *error: Any) -> None:
        self.close()
