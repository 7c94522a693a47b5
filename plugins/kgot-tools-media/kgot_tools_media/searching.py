"""The passages of many documents, and which of them a question is about."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

from kgot_tools_media.documents import document_of
from kgot_tools_media.folders import Listed
from kgot_tools_media.locating import Located
from kgot_tools_media.parts import Passage
from kgot_tools_media.process import Limits, Told, run_child
from kgot_tools_media.ranking import Ranking
from kgot_tools_media.readings import Messages, Readings, State, state_of
from kgot_tools_media.windows import NATURAL, windows

PASSAGE_TOKENS = 300
AT_ONCE = 40


class Library:
    """Documents, read once and then searched.

    Args:
        limits: What reading may use; the time is that of all documents together.
        readings: What other runs have read, and where what is read here is kept for them.
    """

    def __init__(self, limits: Limits, readings: Readings) -> None:
        self._limits = limits
        self._readings = readings
        self._left = limits.seconds
        self._seen: set[str] = set()
        self._ranking: Ranking | None = None
        self.passages: list[Passage] = []
        self.failed: dict[str, str] = {}
        self.silent: list[str] = []

    async def take(self, files: Sequence[Listed]) -> int:
        """Reads those files that were not read before, and gives how many there was no time for."""
        for file in files:
            if str(file.path) not in self._seen and (messages := self._readings.of(file.path)) is not None:
                self._add(file, messages)
        waiting = [file for file in files if str(file.path) not in self._seen]
        while waiting and self._left > 0:
            batch = waiting[:AT_ONCE]
            states = {str(file.path): state_of(file.path) for file in batch}
            began = time.monotonic()
            job = {
                "do": "read_many",
                "paths": [str(file.path) for file in batch],
                "options": {"ocr": False},
            }
            limits = Limits(self._left, self._limits.memory_mb)
            told = await run_child(job, limits)
            self._left -= time.monotonic() - began
            self._take(told, {str(file.path): file for file in batch}, states)
            waiting = [file for file in waiting if str(file.path) not in self._seen]
        return len(waiting)

    def ranked(self, query: str) -> list[int]:
        """Gives the places of the passages that share most words with a query, best first."""
        if self._ranking is None:
            # A file's name says what it is about, too.
            self._ranking = Ranking([f"{passage.address} {passage.text}" for passage in self.passages])
        return self._ranking.best(query, len(self.passages))

    def _take(self, told: Told, batch: Mapping[str, Listed], states: Mapping[str, State | None]) -> None:
        messages: list[Mapping[str, Any]] = []
        open_path = ""
        for message in told.messages:
            if "begin" in message:
                open_path, messages = message["begin"], []
            elif "done" in message:
                file = batch[message["done"]]
                self._readings.keep(file.path, states[str(file.path)], messages)
                self._add(file, messages)
                open_path = ""
            else:
                messages.append(message)
        if open_path and told.ended != "time":
            # The file at which the process ended is not tried again, or nothing after it would ever be read.
            self.failed[batch[open_path].address] = "could not be read: it needs too much memory or is damaged"
            self._seen.add(open_path)
        elif not self._seen & batch.keys() and told.ended != "time":
            self._seen.update(batch)
            self.failed.update({file.address: f"could not be read: {told.cause}" for file in batch.values()})

    def _add(self, file: Listed, messages: Messages) -> None:
        self._seen.add(str(file.path))
        self._ranking = None
        failed = next((message["failed"] for message in messages if "failed" in message), "")
        if failed:
            self.failed[file.address] = failed
            return
        document = document_of(Located(file.path.name, file.path, file.address), messages)
        # A page is a passage of its own, so that evidence names it alone.
        pages = [[part] for part in document.parts if part.unit in NATURAL]
        rest = [part for part in document.parts if part.unit not in NATURAL]
        every = [window for parts in (*pages, rest) for window in windows(parts, PASSAGE_TOKENS)]
        found = [window for window in every if window.text.strip()]
        if not found or any("no text layer" in note for note in document.notes):
            self.silent.append(file.address)
        self.passages += [Passage(file.address, window.place, window.text) for window in found]
