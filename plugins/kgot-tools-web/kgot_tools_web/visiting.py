"""A visit: an address becomes a page, whatever it gives."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, cast
from urllib.parse import unquote, urlsplit

from kgot_core.contracts.tools import ToolContext
from kgot_core.errors import KgotError
from kgot_tools_web.browser.rendering import Browser
from kgot_tools_web.net.cache import Fetched
from kgot_tools_web.net.urls import normal_url
from kgot_tools_web.reading.html import Html
from kgot_tools_web.reading.pages import Page, kind_of, read_page
from kgot_tools_web.reading.walls import check_for_humans, consent_wall, needs_scripts
from kgot_tools_web.session import WebSession

INSPECT = "inspect_file"
MOST_MOVES = 5
_LONGEST_NAME = 120
_ENDINGS = {
    "application/pdf": ".pdf",
    "text/csv": ".csv",
    "application/zip": ".zip",
    "image/png": ".png",
    "image/jpeg": ".jpg",
    "image/gif": ".gif",
    "image/webp": ".webp",
    "image/svg+xml": ".svg",
    "audio/mpeg": ".mp3",
    "video/mp4": ".mp4",
    "application/epub+zip": ".epub",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": ".xlsx",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": ".docx",
    "application/vnd.openxmlformats-officedocument.presentationml.presentation": ".pptx",
}


class Visitor:
    """Visits addresses for the tools of a run.

    Args:
        session: The run's session.
        context: What a tool may use.
    """

    def __init__(self, session: WebSession, context: ToolContext) -> None:
        self._session = session
        self._context = context
        self._browser = Browser(session.pages, session.cache, session.settings)

    async def fetch(self, url: str, browser: bool = False, key: str = "") -> Page | SavedFile:
        """Visits an address.

        Args:
            url: The address.
            browser: Use a real browser in any case.
            key: Records the visit under this name, for a caller that asks a model about it.

        Raises:
            KgotError: It gives nothing that can be read; the message says why.
        """

        async def make() -> Any:
            found = await self._visit(url, browser)
            return {"page": found.to_json()} if isinstance(found, Page) else {"file": dict(vars(found))}

        if not key:
            return await self._visit(url, browser)
        data = cast(dict[str, Any], await self._context.once(key, make))
        return Page.from_json(data["page"]) if "page" in data else self._known(SavedFile(**data["file"]))

    async def read_file(self, file: SavedFile, question: str = "") -> Page:
        """Gives what a file says, by the tool that reads files.

        Raises:
            KgotError: There is no such tool in the run, or it cannot read the file.
        """
        if INSPECT not in self._context.tools:
            raise KgotError(
                f"{file.url} is no page but a file of the kind {file.kind} ({file.size:,} bytes); it was saved as"
                f" {file.name}, and this run has no tool that reads it",
                hint="pip install kgot-tools-media",
            )
        result = await self._context.call(INSPECT, {"path": file.name, **({"question": question} if question else {})})
        if result.failed:
            raise KgotError(f"{file.url} was saved as {file.name}, but cannot be read: {result.text}")
        return Page(file.url, file.name, result.text, file.at, file.sha256, ())

    async def _visit(self, url: str, browser: bool, moves: int = 0) -> Page | SavedFile:
        if (stored := await self._session.stored(url.strip())) is not None:
            return stored
        url = normal_url(url)
        settings = self._session.settings
        if browser or settings.browser == "always":
            return await self._rendered(url)
        fetched = await self._session.pages.get(url)
        if kind_of(fetched) == "file":
            return self._saved(fetched)
        page, html = await read_page(fetched)
        if html is None:
            return page
        if html.moves_to and len(page.text) < 500 and html.moves_to.partition("#")[0] not in (url, fetched.final):
            if moves == MOST_MOVES:
                raise KgotError(f"{url} sends its readers from page to page without end")
            return await self._visit(html.moves_to, browser, moves + 1)
        return await self._or_rendered(page, html)

    async def _or_rendered(self, page: Page, html: Html) -> Page:
        """Gives the page, or what a browser makes of it where it is none without."""
        scripted = needs_scripts(page.text, html.scripted)
        human = check_for_humans(page.title, page.text)
        if scripted or human:
            problem = "" if self._session.settings.browser == "auto" else "tools.web.browser is never"
            problem = problem or self._browser.problem()
            if not problem:
                return await self._rendered(page.url)
            if scripted:
                return _noted(page, f"the page is empty until its scripts run, and there is no browser here: {problem}")
        if human:
            raise KgotError(f"{page.url} gives only a check whether a human reads it; use another source")
        if consent_wall(page.text):
            return _noted(page, "this seems to be a notice that asks for consent, not the page itself")
        if not page.text:
            return _noted(page, "the page holds no text")
        return page

    async def _rendered(self, url: str) -> Page:
        if problem := self._browser.problem():
            raise KgotError(f"there is no browser here: {problem}", hint="leave browser out to read the page without")
        page, _ = await read_page(await self._browser.render(url))
        if check_for_humans(page.title, page.text):
            raise KgotError(f"{page.url} gives only a check whether a human reads it; use another source")
        return page

    def _saved(self, fetched: Fetched) -> SavedFile:
        folder = self._context.files.folder
        name = _free(folder, _name(fetched))
        with (folder / name).open("xb") as file:
            file.write(fetched.body)
        known = self._context.files.add(folder / name)
        kind = fetched.kind or "unknown"
        return SavedFile(fetched.final, known, kind, len(fetched.body), fetched.at, fetched.sha256)

    def _known(self, file: SavedFile) -> SavedFile:
        """Makes a file known again that was saved before a run was broken off."""
        path = self._context.files.folder / file.name
        if file.name not in self._context.files.names() and path.is_file():
            self._context.files.add(path)
        return file


class SavedFile:
    """A file of the web that became one of the run.

    Args:
        url: Where it is from.
        name: Its name in the run.
        kind: Media type.
        size: Bytes.
        at: When it was fetched.
        sha256: Hash of its content.
    """

    def __init__(self, url: str, name: str, kind: str, size: int, at: str, sha256: str) -> None:
        self.url = url
        self.name = name
        self.kind = kind
        self.size = size
        self.at = at
        self.sha256 = sha256


def _noted(page: Page, note: str) -> Page:
    return Page(page.url, page.title, page.text, page.at, page.sha256, (*page.notes, note))


def _name(fetched: Fetched) -> str:
    last = fetched.filename or unquote(urlsplit(fetched.final).path).rstrip("/").rpartition("/")[2]
    name = (
        re.sub(r"[^\w. -]", "_", last).encode(errors="ignore")[-_LONGEST_NAME:].decode(errors="ignore").strip(". -")
        or "file"
    )
    if b"%PDF-" in fetched.body[:64]:
        return name if name.lower().endswith(".pdf") else f"{name}.pdf"
    return name if "." in name[-6:] else name + _ENDINGS.get(fetched.kind, "")


def _free(folder: Path, name: str) -> str:
    """Gives a name that no file there has yet."""
    path, number = folder / name, 1
    while path.exists():
        number += 1
        path = folder / f"{Path(name).stem}-{number}{Path(name).suffix}"
    return path.name
