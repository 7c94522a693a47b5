"""``visit_page``: a single look at one page, without an agent."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field, PrivateAttr

from kgot_core.contracts.prompts import tagged
from kgot_core.contracts.tools import ToolArtifact, ToolContext
from kgot_core.errors import KgotError
from kgot_tools_web.answering import answer
from kgot_tools_web.reading.pages import Page
from kgot_tools_web.reading.windows import windows
from kgot_tools_web.settings import WebSettings
from kgot_tools_web.tools.base import WebTool
from kgot_tools_web.visiting import SavedFile, Visitor


class VisitArguments(BaseModel):
    """Arguments of ``visit_page``."""

    url: str = Field(description="Whole address of the page or file, such as https://example.org/ships.html")
    question: str = Field(
        default="",
        description="What you want to know, as a complete question; leave it out to get the text",
    )
    page: int = Field(default=1, ge=1, description="Part of a long page, as an earlier result says")
    browser: bool = Field(default=False, description="Use a real browser, only if the page was empty without")


class VisitPage(WebTool):
    """Gives the text of a page, or answers a question from it."""

    name: str = "visit_page"
    description: str = (
        "Opens one page of the web, or a file there (PDF, spreadsheet, image), by its address and gives its text as"
        " Markdown with tables and links, long pages in parts (page=2 reads on). With question a model reads all of it"
        ' and answers. Example: {"url": "https://example.org/ships.html"}'
    )
    args_schema: type[BaseModel] = VisitArguments
    _visitor: Visitor = PrivateAttr()

    def __init__(self, context: ToolContext, settings: WebSettings, **fields: Any) -> None:
        super().__init__(context, settings, **fields)
        self._visitor = Visitor(self._session, context)

    async def _arun(
        self, url: str, question: str = "", page: int = 1, browser: bool = False
    ) -> tuple[str, ToolArtifact]:
        question = question.strip()
        found = await self._visitor.fetch(url, browser, key="page")
        if isinstance(found, SavedFile):
            told = await self._visitor.read_file(found, question)
            return shown(told, told.text), ToolArtifact((told.source(),), (found.name,))
        if question:
            text = await answer(self._context, found, question, self._settings)
            return shown(found, text, tag="answer"), ToolArtifact((found.source(),))
        every = windows(found.text, self._settings.tokens * 4)
        if page > len(every):
            raise KgotError(f"{found.url} has {len(every)} parts; page is 1 to {len(every)}")
        text = every[page - 1]
        place = f"part {page} of {len(every)}" if len(every) > 1 else ""
        more = page < len(every)
        rest = f'\n\n[To read on: visit_page with url "{found.url}" and page {page + 1}]' if more else ""
        return shown(found, text, place) + rest, ToolArtifact((found.source(place),))


def shown(page: Page, text: str, place: str = "", tag: str = "page") -> str:
    """Writes a page for a model, marked as data of others."""
    notes = [f"[Note: {note}]" for note in page.notes]
    block = tagged(tag, text or "(no text)", url=page.url, title=page.title, part=place)
    return "\n\n".join([*notes, block])
