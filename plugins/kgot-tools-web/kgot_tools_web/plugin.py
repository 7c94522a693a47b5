"""The entry point: tools that reach the web."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from kgot_core.hookspecs import hookimpl
from kgot_core.providers import Problem, ToolProvider, later
from kgot_tools_web.settings import WebSettings

if TYPE_CHECKING:
    from langchain_core.tools import BaseTool

    from kgot_core.contracts.tools import ToolContext

_PARTS = ("bs4", "h2", "httpcore", "httpx", "lxml", "markdownify")


def check(settings: object) -> Problem | None:
    """Tells whether what fetches and reads pages is installed."""
    missing = [name for name in _PARTS if importlib.util.find_spec(name) is None]
    if missing:
        return Problem(f"not installed: {', '.join(missing)}", "pip install --force-reinstall kgot-tools-web")
    return None


def _visit_page(settings: WebSettings, context: ToolContext) -> Sequence[BaseTool]:
    from kgot_tools_web.tools.visit_page import VisitPage

    return [VisitPage(context, settings)]


def check_search(settings: WebSettings) -> Problem | None:
    """Tells whether there is anything to search with."""
    from kgot_tools_web.search.names import problem

    why, way_out = problem(settings)
    # What to set stands in the message too, which is all that a run shows of it.
    return check(settings) or (Problem(f"{why} ({way_out})", way_out) if why else None)


def _search_web(settings: WebSettings, context: ToolContext) -> Sequence[BaseTool]:
    from kgot_tools_web.tools.search_web import SearchWeb

    return [SearchWeb(context, settings)]


def _browse_web(settings: WebSettings, context: ToolContext) -> Sequence[BaseTool]:
    from kgot_tools_web.tools.browse_web import BrowseWeb

    return [BrowseWeb(context, settings)]


def check_youtube(settings: WebSettings) -> Problem | None:
    """Tells whether what fetches transcripts is installed."""
    if importlib.util.find_spec("youtube_transcript_api") is None:
        return Problem("youtube-transcript-api is not installed", "pip install 'kgot-tools-web[youtube]'")
    return check(settings)


def _youtube(settings: WebSettings, context: ToolContext) -> Sequence[BaseTool]:
    from kgot_tools_web.tools.youtube_transcript import YouTubeTranscript

    return [YouTubeTranscript(context, settings)]


def _wikipedia(settings: WebSettings, context: ToolContext) -> Sequence[BaseTool]:
    from kgot_tools_web.tools.wikipedia import WikipediaTool

    return [WikipediaTool(context, settings)]


def _provider(name: str, summary: str, create: Callable[[Any, Any], Sequence[BaseTool]], **more: Any) -> ToolProvider:
    return ToolProvider(
        **{
            "name": name,
            "summary": summary,
            "settings": WebSettings,
            "table": "web",
            "check": check,
            "create": create,
            "trial": later("kgot_tools_web.trial:trial"),
            **more,
        }
    )


@hookimpl
def kgot_tools() -> Iterable[ToolProvider]:
    """The tools."""
    return [
        _provider("search_web", "Searches the web, Wikipedia or stored pages.", _search_web, check=check_search),
        _provider(
            "browse_web",
            "Finds something out on the web: an agent searches, reads and follows links.",
            _browse_web,
            check=check_search,
            seconds=1_800.0,
        ),
        _provider("wikipedia", "Reads Wikipedia: articles, sections, tables, how they were at a date.", _wikipedia),
        _provider(
            "youtube_transcript", "Gives what is said in a YouTube video, with times.", _youtube, check=check_youtube
        ),
        _provider("visit_page", "Gives one page of the web as Markdown, or answers a question from it.", _visit_page),
    ]
