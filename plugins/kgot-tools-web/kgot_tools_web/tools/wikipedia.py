"""``wikipedia``: an article, a section of it, as it was at a date, or a question answered from it."""

from __future__ import annotations

import hashlib
import re
from typing import Any

from pydantic import BaseModel, Field, PrivateAttr

from kgot_core.contracts.prompts import tagged
from kgot_core.contracts.tools import Source, ToolArtifact, ToolContext
from kgot_core.errors import KgotError
from kgot_tools_web.answering import answer
from kgot_tools_web.dates import last_day
from kgot_tools_web.mediawiki import Entry, Hit, MediaWiki
from kgot_tools_web.net.cache import now
from kgot_tools_web.reading.pages import Page
from kgot_tools_web.reading.windows import windows
from kgot_tools_web.settings import WebSettings
from kgot_tools_web.tools.base import WebTool
from kgot_tools_web.tools.visit_page import shown

HITS = 8
_HEADING = re.compile(r"^(#{2,6}) +(.+?)[ #]*$", re.MULTILINE)


class WikipediaArguments(BaseModel):
    """Arguments of ``wikipedia``."""

    title: str = Field(min_length=1, description="Title of the article, such as Mount Everest; or words to search for")
    question: str = Field(
        default="",
        description="What you want to know, as a complete question; leave it out to get the text",
    )
    section: str = Field(default="", description="Heading of the one section that is wanted, such as History")
    date: str = Field(default="", description="The article as it was then: 2015, 2015-03 or 2015-03-14")
    language: str = Field(default="", description="Code of the language edition, such as de")
    page: int = Field(default=1, ge=1, description="Part of a long article, as an earlier result says")


class WikipediaTool(WebTool):
    """Reads Wikipedia through its API."""

    name: str = "wikipedia"
    description: str = (
        "Reads a Wikipedia article by its title: its text with tables and links, one section of it, how it was at a"
        " date, or a question answered from all of it. Where a title means several things, or there is no such article,"
        ' it lists those to choose from. Example: {"title": "Mount Everest", "question": "How high is it?"}'
    )
    args_schema: type[BaseModel] = WikipediaArguments
    _wiki: MediaWiki = PrivateAttr()

    def __init__(self, context: ToolContext, settings: WebSettings, **fields: Any) -> None:
        super().__init__(context, settings, **fields)
        self._wiki = MediaWiki(self._session)

    async def _arun(
        self,
        title: str,
        question: str = "",
        section: str = "",
        date: str = "",
        language: str = "",
        page: int = 1,
    ) -> tuple[str, ToolArtifact]:
        async def make() -> Any:
            return await look(self._wiki, title, language or self._settings.language, date)

        found: Any = await self._context.once("article", make)
        if "options" in found:
            sources = tuple(Source(option["url"], option["title"], "search result") for option in found["options"])
            return str(found["text"]), ToolArtifact(sources)
        article = Page.from_json(found)
        text, place = cut(article.text, section) if section.strip() else (article.text, "")
        article = Page(article.url, article.title, text, article.at, article.sha256, article.notes)
        if question.strip():
            told = await answer(self._context, article, question.strip(), self._settings)
            return shown(article, told, place, tag="answer"), ToolArtifact((article.source(place),))
        every = windows(text, self._settings.tokens * 4)
        if page > len(every):
            raise KgotError(f"the article has {len(every)} parts; page is 1 to {len(every)}")
        part = f"part {page} of {len(every)}" if len(every) > 1 else ""
        where = ", ".join(filter(None, [place, part]))
        rest = (
            f"\n\n[To read on: wikipedia with title {article.title!r} and page {page + 1}]" if page < len(every) else ""
        )
        contents = _contents(text) if len(every) > 1 and page == 1 else ""
        return shown(article, every[page - 1], where) + contents + rest, ToolArtifact((article.source(where),))


async def look(wiki: MediaWiki, title: str, language: str, date: str = "") -> dict[str, Any]:
    """Finds an article by its exact title, else gives what there is to choose from; nothing is guessed.

    Returns:
        A page as JSON, or ``options`` and ``text``.

    Raises:
        KgotError: There is neither, or the wiki cannot be asked.
    """
    title = " ".join(title.replace("_", " ").split())
    day = last_day(date) if date.strip() else None
    entry = await wiki.look_up(title, language, day)
    if entry is None:
        hits = await wiki.search(title, language, HITS)
        same = [hit for hit in hits if hit.title.casefold() == title.casefold()]
        entry = await wiki.look_up(same[0].title, language, day) if same else None
        if entry is None:
            return _choice(wiki, title, language, hits)
    text = await wiki.article(entry, language)
    if entry.ambiguous:
        told = f"{entry.title} may mean several things; call again with the exact title of one of these."
        listed = tagged("options", text, title=entry.title)
        return {"options": [{"title": entry.title, "url": entry.url}], "text": f"{told}\n\n{listed}"}
    digest = hashlib.sha256(text.encode()).hexdigest()
    page = Page(_url(entry), entry.title, text, now().isoformat(timespec="seconds"), digest, _notes(entry))
    return page.to_json()


def cut(text: str, section: str) -> tuple[str, str]:
    """Gives one section of an article with those below it, and its heading.

    Raises:
        KgotError: There is none of that name; the message lists those that there are.
    """
    headings = list(_HEADING.finditer(text))
    wanted = section.strip().strip("#= ").casefold()
    exact = [found for found in headings if found[2].strip("*_ ").casefold() == wanted]
    near = exact or [found for found in headings if wanted in found[2].casefold()]
    if not near:
        names = ", ".join(found[2] for found in headings[:40]) or "none"
        raise KgotError(f"the article has no section {section!r}; it has: {names}")
    first = near[0]
    later = (found.start() for found in headings if found.start() > first.start() and len(found[1]) <= len(first[1]))
    return text[first.start() : next(later, len(text))].strip(), f"section {first[2]}"


def _choice(wiki: MediaWiki, title: str, language: str, hits: list[Hit]) -> dict[str, Any]:
    if not hits:
        raise KgotError(
            f"Wikipedia has no article {title!r}, and finds nothing for these words", hint="try other words"
        )
    lines = "\n".join(f"- {hit.title}: {hit.snippet}" for hit in hits)
    told = f"there is no article with the title {title!r}; call again with the exact title of one of these."
    options = [{"title": hit.title, "url": wiki.address(hit.title, language)} for hit in hits]
    return {"options": options, "text": f"{told}\n\n{tagged('results', lines, query=title)}"}


def _url(entry: Entry) -> str:
    return f"{entry.url}?oldid={entry.revision}" if entry.revision else entry.url


def _notes(entry: Entry) -> tuple[str, ...]:
    notes = (f"{entry.redirected} leads to {entry.title}",) if entry.redirected else ()
    return (*notes, f"as it was after the change of {entry.changed}") if entry.revision else notes


def _contents(text: str) -> str:
    names = [found[2] for found in _HEADING.finditer(text)]
    return f"\n\n[Sections: {'; '.join(names)}. section gives one of them]" if names else ""
