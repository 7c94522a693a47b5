"""Which engines a run searches with."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from kgot_core.errors import KgotError
from kgot_tools_web.search.engine import Engine
from kgot_tools_web.search.names import chosen, missing, problem
from kgot_tools_web.session import WebSession


def engines(session: WebSession) -> list[Engine]:
    """Makes the engines of a run.

    Raises:
        KgotError: None is set up; the message says what to set.
    """
    settings = session.settings
    why, way_out = problem(settings)
    if why:
        raise KgotError(why, hint=way_out)
    return [_engine(name, session) for name in chosen(settings) if not missing(name, settings)]


def _engine(name: str, session: WebSession) -> Engine:
    kind, _, file = name.partition(":")
    if kind == "pages":
        from kgot_tools_web.search.stored import StoredPages

        return StoredPages(session.corpus(file))
    if kind == "duckduckgo":
        from kgot_tools_web.search.duckduckgo import DuckDuckGo

        return DuckDuckGo(session.settings)
    from kgot_tools_web.search import services

    makers: Mapping[str, Callable[[WebSession], Engine]] = {
        "searxng": services.Searxng,
        "serpapi": services.SerpApi,
        "wikipedia": services.Wikipedia,
    }
    return makers[kind](session)
