"""Stored pages: an offline corpus that is searched and read like the web."""

from __future__ import annotations

import asyncio
import gzip
import hashlib
import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from kgot_core.errors import KgotError
from kgot_tools_web.reading.pages import Page
from kgot_tools_web.search.index import Index

SCHEME = "pages:"


class Corpus:
    """Pages of a file, read and indexed when first used, by any thread.

    Args:
        path: JSON lines, packed by gzip or not: ``title`` and ``text``, and where there are ``url``, ``id``, ``date``.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._index: Index | None = None
        self._dates: list[str] = []
        self.pages: list[Page] = []
        self._by_url: dict[str, int] = {}

    async def ready(self) -> Index:
        """Reads the file.

        Raises:
            KgotError: It cannot be read.
        """
        if (index := self._index) is None:
            index = await asyncio.to_thread(self._ready)
        return index

    async def page(self, url: str) -> Page | None:
        """Gives a stored page by its address."""
        await self.ready()
        number = self._by_url.get(url)
        return self.pages[number] if number is not None else None

    def date(self, number: int) -> str:
        """Gives a page's date, empty where it has none."""
        return self._dates[number]

    @property
    def dated(self) -> bool:
        """Pages have dates."""
        return any(self._dates)

    def _ready(self) -> Index:
        with self._lock:
            if self._index is None:
                self._index = self._read()
            return self._index

    def _read(self) -> Index:
        for number, item in enumerate(self._items()):
            identity = str(item.get("id") or number)
            text, title = str(item.get("text", "")), str(item.get("title", ""))
            url = str(item.get("url") or f"{SCHEME}{identity}")
            digest = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
            self.pages.append(Page(url, title, text, sha256=digest))
            self._dates.append(str(item.get("date") or ""))
            self._by_url |= {url: number, f"{SCHEME}{identity}": number}
        return Index((page.title, page.text) for page in self.pages)

    def _items(self) -> Iterator[dict[str, Any]]:
        number = 0
        try:
            with gzip.open(self._path) if self._path.suffix == ".gz" else self._path.open("rb") as file:
                for line in file:
                    number += 1
                    if line.strip():
                        yield _item(line)
        except OSError as error:
            raise KgotError(f"the stored pages {self._path.name} cannot be read: {error.strerror or error}") from None
        except ValueError as error:
            raise KgotError(f"line {number} of the stored pages {self._path.name} is no JSON object: {error}") from None


def _item(line: bytes) -> dict[str, Any]:
    item = json.loads(line)
    if not isinstance(item, dict):
        raise ValueError("it is of another kind")
    return item
