"""``search_files``: which passages of the user's own documents a question is about."""

from __future__ import annotations

import asyncio
from typing import Any

from pydantic import BaseModel, Field, PrivateAttr

from kgot_core.contracts.prompts import tagged
from kgot_core.contracts.tools import Source, ToolArtifact, ToolContext
from kgot_core.errors import KgotError
from kgot_tools_media.folders import Listed, listed
from kgot_tools_media.meaning import Meanings
from kgot_tools_media.parts import Passage, size
from kgot_tools_media.process import Limits
from kgot_tools_media.ranking import fused
from kgot_tools_media.readings import Readings
from kgot_tools_media.searching import Library
from kgot_tools_media.settings import SearchSettings
from kgot_tools_media.tools.base import MediaTool

MOST = 20
MOST_NAMED = 10


class SearchArguments(BaseModel):
    """Arguments of ``search_files``."""

    query: str = Field(min_length=1, description="Words that stand in the passage you look for: names, terms, numbers")
    most: int = Field(default=8, ge=1, le=MOST, description="How many passages you want at most")


class SearchFiles(MediaTool):
    """Searches the folders that the user opened, and the task's attachments."""

    name: str = "search_files"
    description: str = (
        "Searches all of the user's own files at once, and gives the passages that fit the query best,"
        " each with file and page, sheet or row. Use it to find which file says something; inspect_file reads on there."
        ' Example: {"query": "harbour dues 1952"}'
    )
    args_schema: type[BaseModel] = SearchArguments
    _settings: SearchSettings = PrivateAttr()
    _library: Library = PrivateAttr()
    _meanings: Meanings = PrivateAttr()
    _alone: asyncio.Lock = PrivateAttr()

    def __init__(self, context: ToolContext, settings: SearchSettings, **fields: Any) -> None:
        super().__init__(context, **fields)
        self._settings = settings
        readings = context.share("kgot-tools-media readings", Readings, among_runs=True)
        self._library = Library(Limits(settings.seconds, settings.memory_mb), readings)
        self._meanings = Meanings(context, settings.embedded)
        self._alone = asyncio.Lock()

    async def _arun(self, query: str, most: int = 8) -> tuple[str, ToolArtifact]:
        files = self._files()
        if not files:
            raise KgotError("there are no files to search", hint="--file attaches a file, --folder opens a folder")
        # Two searches at once would read, and pay for, the same files twice.
        async with self._alone:
            unread = await self._library.take(files[: self._settings.files])
            near = await self._meanings.nearest(query, self._library.passages)
        places = fused(self._library.ranked(query), near)[:most]
        left_out = max(0, len(files) - self._settings.files)
        notes = [f"[Note: {note}]" for note in self._notes(unread, left_out)]
        shown: list[Passage] = []
        room = self._settings.tokens
        for passage in (self._library.passages[place] for place in places):
            if shown and size(passage.text) > room:
                break
            shown.append(passage)
            room -= size(passage.text)
        first = f"{len(shown)} passages found in {len(files):,} files"
        if not shown:
            first = f"no passage of the {len(files):,} files shares a word with the query; try other words"
        blocks = [tagged("passage", passage.text, file=passage.address, place=passage.place) for passage in shown]
        sources = tuple(Source(passage.address, place=passage.place) for passage in shown)
        return "\n\n".join([first, *notes, *blocks]), ToolArtifact(sources)

    def _files(self) -> list[Listed]:
        files = self._context.files
        below = list(listed(files.folders))
        known = {one.path for one in below}
        attached = [Listed(name, files.path(name)) for name in files.names()]
        return [*(one for one in attached if one.path not in known), *below]

    def _notes(self, unread: int, left_out: int) -> list[str]:
        library, notes = self._library, list[str]()
        if left_out:
            notes.append(f"{left_out:,} files are above the number that is searched (tools.search_files.files)")
        if unread:
            notes.append(f"for {unread:,} files there was no time (tools.search_files.seconds)")
        if library.failed:
            named = [f"{address} {why}" for address, why in list(library.failed.items())[:MOST_NAMED]]
            notes.append(f"{len(library.failed)} files are not searched: " + "; ".join(named))
        if library.silent:
            named = library.silent[:MOST_NAMED]
            notes.append(f"{len(library.silent)} files hold no text or scanned pages only: " + ", ".join(named))
        if self._meanings.failed:
            notes.append(f"passages are found by their words only: {self._meanings.failed}")
        elif meant := self._meanings.left_out(library.passages):
            notes.append(f"{meant:,} passages are found by their words only (tools.search_files.embedded)")
        return notes
