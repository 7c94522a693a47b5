"""The API of MediaWiki, as Wikipedia has it: search, articles now or at a date, titles that mean several things."""

from __future__ import annotations

import asyncio
import datetime
import html
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlsplit

from kgot_core.errors import KgotError
from kgot_tools_web.reading.html import read_html
from kgot_tools_web.search.json_api import ask_json
from kgot_tools_web.session import WebSession

_LANGUAGE = re.compile(r"[a-z]{2,3}(-[a-z]{2,10}){0,2}|simple")


@dataclass(frozen=True)
class Hit:
    """An article that a search found."""

    title: str
    snippet: str


@dataclass(frozen=True)
class Entry:
    """What a title leads to.

    Attributes:
        title: Title of the article, after redirects.
        url: Its address.
        redirected: The title that led there, empty where it is the same.
        ambiguous: It only lists articles that the title may mean.
        revision: Number of the revision at the date that was asked for; 0 where none was.
        changed: When that revision was made, ISO 8601.
    """

    title: str
    url: str
    redirected: str = ""
    ambiguous: bool = False
    revision: int = 0
    changed: str = ""


class MediaWiki:
    """A wiki in several languages.

    Args:
        session: The run's session.
    """

    def __init__(self, session: WebSession) -> None:
        self._session = session

    def api(self, language: str) -> str:
        """Gives the address of a language's API.

        Raises:
            KgotError: It is no code of a language.
        """
        if not _LANGUAGE.fullmatch(language):
            raise KgotError(f"{language[:20]!r} is no code of a language", hint="such as en, de, fr or simple")
        return self._session.settings.wikipedia_url.replace("{language}", language)

    def address(self, title: str, language: str) -> str:
        """Gives an article's address."""
        parts = urlsplit(self.api(language))
        return f"{parts.scheme}://{parts.netloc}/wiki/{quote(title.replace(' ', '_'), safe='/:,()')}"

    async def search(self, query: str, language: str, most: int) -> list[Hit]:
        """Finds articles by words.

        Raises:
            KgotError: The wiki cannot be asked.
        """
        data = await self._ask(
            language, {"action": "query", "list": "search", "srsearch": query, "srlimit": str(most), "srinfo": ""}
        )
        hits = data.get("query", {}).get("search", [])
        return [Hit(str(hit["title"]), _plain(str(hit.get("snippet", "")))) for hit in hits if hit.get("title")]

    async def look_up(self, title: str, language: str, day: datetime.date | None = None) -> Entry | None:
        """Finds the article with exactly this title; ``None`` where there is none.

        Args:
            title: The title; redirects are followed.
            language: Code of the language.
            day: The revision at the end of this day is wanted.

        Raises:
            KgotError: There was no such article on that day, or the wiki cannot be asked.
        """
        asked = {"action": "query", "titles": title, "redirects": "1", "prop": "info|pageprops", "inprop": "url"}
        asked |= {"ppprop": "disambiguation"}
        if day is not None:
            asked["prop"] += "|revisions"
            asked |= {"rvlimit": "1", "rvdir": "older", "rvprop": "ids|timestamp", "rvstart": f"{day}T23:59:59Z"}
        data = (await self._ask(language, asked)).get("query", {})
        page: Mapping[str, Any] = next(iter(data.get("pages", [])), {})
        if not page or page.get("missing") or page.get("invalid"):
            return None
        name = str(page["title"])
        moved = [str(item.get("from", "")) for item in data.get("redirects", [])]
        revisions = page.get("revisions", [])
        if day is not None and not revisions:
            raise KgotError(f"there was no article {name} yet on {day}", hint="leave date out, or take a later one")
        return Entry(
            name,
            str(page.get("fullurl") or self.address(name, language)),
            moved[0] if moved else "",
            "disambiguation" in page.get("pageprops", {}),
            int(revisions[0]["revid"]) if revisions else 0,
            str(revisions[0]["timestamp"]) if revisions else "",
        )

    async def article(self, entry: Entry, language: str) -> str:
        """Gives an article as Markdown.

        Raises:
            KgotError: The wiki cannot be asked.
        """
        which = {"oldid": str(entry.revision)} if entry.revision else {"page": entry.title}
        asked = {"action": "parse", "prop": "text", "disableeditsection": "1", "disabletoc": "1", **which}
        data = await self._ask(language, asked)
        html = str(data.get("parse", {}).get("text", ""))
        return (await asyncio.to_thread(read_html, html, entry.url, whole=True)).text

    async def _ask(self, language: str, parameters: Mapping[str, str]) -> Mapping[str, Any]:
        common = {"format": "json", "formatversion": "2"}
        data = await ask_json(self._session.services, self.api(language), {**parameters, **common})
        problem = data.get("error")
        if isinstance(problem, dict):
            raise KgotError(f"Wikipedia says: {_plain(str(problem.get('info', 'an error')))[:200]}")
        return data


def _plain(text: str) -> str:
    return " ".join(html.unescape(re.sub(r"<[^>]+>", "", text)).split())
