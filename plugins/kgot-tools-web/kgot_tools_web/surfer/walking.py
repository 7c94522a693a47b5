"""Carries the Surfer's actions out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kgot_core.contracts.tools import ToolContext
from kgot_core.errors import KgotError
from kgot_tools_web.answering import summary
from kgot_tools_web.dates import last_day, span
from kgot_tools_web.mediawiki import MediaWiki
from kgot_tools_web.net.urls import normal_url
from kgot_tools_web.reading.pages import Page, read_page
from kgot_tools_web.search.engine import Engine
from kgot_tools_web.search.engines import engines
from kgot_tools_web.session import WebSession
from kgot_tools_web.surfer.memory import Seen
from kgot_tools_web.surfer.viewport import Viewport
from kgot_tools_web.tools.search_web import search, written
from kgot_tools_web.tools.wikipedia import look
from kgot_tools_web.visiting import SavedFile, Visitor


class Walk:
    """A walk over pages for one task.

    Args:
        session: The run's session.
        context: What a tool may use.
        task: What is to be found.

    Attributes:
        visited: Pages that were opened, by their addresses, with the step at which each was.
        files: Names of files that were saved.
    """

    def __init__(self, session: WebSession, context: ToolContext, task: str) -> None:
        self._session = session
        self._context = context
        self._task = task
        self._visitor = Visitor(session, context)
        self._wiki = MediaWiki(session)
        self._view: Viewport | None = None
        self.visited: dict[str, tuple[Page, int]] = {}
        self.files: list[str] = []

    async def fetch(self, key: str, name: str, arguments: Mapping[str, Any]) -> Page | SavedFile | str:
        """Does the part of an action that reaches outside; several may run at once.

        Returns:
            A page, a file, or a text to show.

        Raises:
            KgotError: Nothing came of it.
        """
        said = {key: str(value).strip() for key, value in arguments.items()}
        if name == "visit_page":
            return await self._visitor.fetch(_needed(said, "url"), key=key)
        if name == "find_archived":
            return await self._recorded_page(key, lambda: self._archived(_needed(said, "url"), said.get("date", "")))
        if name == "navigate":
            return await self._visitor.fetch(await self._first(key, _needed(said, "query")), key=key)
        if name == "wikipedia":
            return await self._article(key, _needed(said, "title"), said.get("date", ""))
        return await self._searched(key, _needed(said, "query"), said.get("since", ""), said.get("until", ""))

    async def show(self, step: int, name: str, found: Page | SavedFile | str) -> Seen:
        """Makes what was fetched the open page, in the order in which it was asked for."""
        if isinstance(found, str):
            return Seen("see below", found, place="results")
        if isinstance(found, SavedFile):
            self.files.append(found.name)
            found = await self._visitor.read_file(found)
        again = self.visited.get(found.url)
        self.visited.setdefault(found.url, (found, step))
        self._view = Viewport(found, self._session.settings.viewport)
        notes = "".join(f"; {note}" for note in found.notes)
        before = f"; you had opened it at step {again[1]}" if again else ""
        return self._seen(f"opened {found.title or found.url}{before}{notes}")

    async def look(self, name: str, arguments: Mapping[str, Any]) -> Seen:
        """Does an action on the open page.

        Raises:
            KgotError: No page is open, or there is nothing to see.
        """
        view = self._view
        if view is None:
            raise KgotError("no page is open: search, then visit_page")
        match name:
            case "page_down":
                view.down()
                return self._seen("next part")
            case "page_up":
                view.up()
                return self._seen("part before")
            case "find_on_page":
                return self._found(view.find(str(arguments.get("pattern", ""))))
            case "find_next":
                return self._found(view.find_next())
            case _:
                text = await summary(self._context, view.page, self._task, self._session.settings)
                return Seen(f"summary of {view.page.title or view.page.url}", text, view.page.url, "summary")

    def _seen(self, outcome: str) -> Seen:
        view = self._view
        assert view is not None
        return Seen(outcome, view.text or "(no text)", view.page.url, view.place)

    def _found(self, place: str) -> Seen:
        view = self._view
        assert view is not None
        # The words around it are the page's, so they are shown with the page and not told as an outcome.
        return Seen(place, f"[{place}: {view.near}]\n\n{view.text}", view.page.url, view.place)

    async def _first(self, key: str, query: str) -> str:
        _, results = await search(self._engines(), query, 1, span("", ""), self._session.guard)
        if not results.found:
            raise KgotError(f"no page is found for {query!r}")
        return results.found[0].url

    async def _searched(self, key: str, query: str, since: str, until: str) -> str:
        async def make() -> Any:
            most, days = self._session.settings.results, span(since, until)
            name, results = await search(self._engines(), query, most, days, self._session.guard)
            return written(query, name, results)

        return str(await self._context.once(key, make))

    async def _article(self, key: str, title: str, date: str) -> Page | str:
        async def make() -> Any:
            return await look(self._wiki, title, self._session.settings.language, date)

        found: Any = await self._context.once(key, make)
        return str(found["text"]) if "options" in found else Page.from_json(found)

    async def _recorded_page(self, key: str, fetch: Any) -> Page:
        async def make() -> Any:
            return (await fetch()).to_json()

        found: Any = await self._context.once(key, make)
        return Page.from_json(found)

    async def _archived(self, url: str, date: str) -> Page:
        """Opens the copy of a page that the archive has nearest to a date."""
        url = normal_url(url)
        self._session.guard.check(url)
        stamp = f"{last_day(date):%Y%m%d}" if date else "2"
        try:
            fetched = await self._session.services.get(
                f"{self._session.settings.archive_url.rstrip('/')}/web/{stamp}id_/{url}"
            )
        except KgotError as error:
            raise KgotError(f"the web archive has no copy of {url} that can be read: {error.message}") from None
        page, _ = await read_page(fetched)
        kept = fetched.final.partition("/web/")[2][:8]
        note = f"a copy of {kept[:4]}-{kept[4:6]}-{kept[6:8]}" if kept.isdigit() else "a copy"
        return Page(page.url, page.title, page.text, page.at, page.sha256, (*page.notes, f"{note} in the web archive"))

    def _engines(self) -> Sequence[Engine]:
        return engines(self._session)


def _needed(said: Mapping[str, str], name: str) -> str:
    if not said.get(name):
        raise KgotError(f"{name} is missing")
    return said[name]
