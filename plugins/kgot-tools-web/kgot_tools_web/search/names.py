"""The search engines by name, and what each needs; loads none of them."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from types import MappingProxyType

from kgot_core.errors import KgotError
from kgot_tools_web.settings import WebSettings

SET_UP: Mapping[str, str] = MappingProxyType(
    {
        "pages": "tools.web.pages names a file of stored pages, JSON lines with title and text",
        "searxng": "tools.web.searxng_url names a SearXNG server",
        "serpapi": "tools.web.serpapi_key is its key (KGOT_TOOLS__WEB__SERPAPI_KEY)",
        "duckduckgo": "pip install 'kgot-tools-web[duckduckgo]'; its host must not be in tools.web.block_hosts",
        "wikipedia": "it needs no key, but its host must not be in tools.web.block_hosts",
    }
)


def chosen(settings: WebSettings) -> list[str]:
    """Names the engines of the settings, each as it is set, the default first.

    Raises:
        KgotError: One is not known.
    """
    if settings.search:
        for name in settings.search:
            if name.partition(":")[0] not in SET_UP:
                raise KgotError(
                    f"there is no search engine {name!r}", hint=f"tools.web.search takes {', '.join(SET_UP)}"
                )
        return list(settings.search)
    # One alone: what searches an offline corpus must not go on to the web when it fails.
    return [name for name in SET_UP if not missing(name, settings)][:1]


def missing(name: str, settings: WebSettings) -> str:
    """Tells what an engine still needs; empty where it can be used."""
    there = {
        "pages": bool(settings.pages),
        "searxng": bool(settings.searxng_url),
        "serpapi": bool(settings.serpapi_key),
        "duckduckgo": importlib.util.find_spec("ddgs") is not None and not _blocked("duckduckgo.com", settings),
        "wikipedia": not _blocked("wikipedia.org", settings),
    }
    kind, _, file = name.partition(":")
    return "" if there[kind] or (kind == "pages" and file) else f"{kind}: {SET_UP[kind]}"


def _blocked(host: str, settings: WebSettings) -> bool:
    entries = (entry.rpartition("://")[2].partition("/")[0].strip("*. ").lower() for entry in settings.block_hosts)
    return any(f".{entry}".endswith(f".{host}") for entry in entries)


def problem(settings: WebSettings) -> tuple[str, str]:
    """Tells why there is nothing to search with, and the way out; both empty where there is something."""
    try:
        names = chosen(settings)
    except KgotError as error:
        return error.message, error.hint
    lacking = [told for name in names if (told := missing(name, settings))]
    if not names:
        lacking = [f"{name}: {told}" for name, told in SET_UP.items()]
    return ("no search engine is set up", "; ".join(lacking)) if len(lacking) >= len(names) else ("", "")
