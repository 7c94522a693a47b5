"""Settings of all tools of this package: one table, so that a host is blocked or opened for all of them at once."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal


def _setting(default: Any, help: str, **marks: Any) -> Any:
    return field(default=default, metadata={"help": help, **marks})


@dataclass(frozen=True)
class WebSettings:
    """``tools.web.*``."""

    search: tuple[str, ...] = _setting(
        (),
        "Where search_web looks: pages, pages:FILE, searxng, serpapi, duckduckgo, wikipedia; the next where one fails;"
        " the first of them that is set up if empty",
        trusted=True,
    )
    pages: str = _setting("", "File of stored pages to search, JSON lines with title and text", trusted=True, path=True)
    searxng_url: str = _setting("", "Address of a SearXNG server", trusted=True, matters=False)
    serpapi_key: str = _setting("", "Key of SerpApi", secret=True, trusted=True, matters=False)
    serpapi_url: str = _setting("https://serpapi.com/search.json", "Address of SerpApi", trusted=True, matters=False)
    wikipedia_url: str = _setting(
        "https://{language}.wikipedia.org/w/api.php", "Address of a MediaWiki API", trusted=True, matters=False
    )
    archive_url: str = _setting(
        "https://web.archive.org", "Address of the Wayback Machine", trusted=True, matters=False
    )
    language: str = _setting("en", "Code of the language to search in")
    results: int = _setting(10, "Results that a search gives at most", minimum=1)

    allow_hosts: tuple[str, ...] = _setting(
        (),
        "Hosts or addresses that are reached although they are private: intranet.example, 10.0.0.5:8080",
        trusted=True,
    )
    block_hosts: tuple[str, ...] = _setting(
        (), "Hosts that are never reached, with all below them, such as sites that publish answers", trusted=True
    )
    user_agent: str = _setting(
        "", "How requests call themselves; kgot-tools-web and its version if empty", trusted=True, matters=False
    )
    # What others see of the user, and what is asked of their servers, no foreign file decides.
    robots: bool = _setting(False, "Keep to robots.txt of each host", trusted=True)
    per_second: float = _setting(
        2.0, "Requests a second to one host, after a first few", above=0, trusted=True, matters=False
    )
    seconds: float = _setting(30.0, "How long fetching one page may take, in seconds", above=0, matters=False)
    megabytes: int = _setting(20, "Size of a page or file at most, unpacked, in MiB", minimum=1, matters=False)
    cache_hours: float = _setting(
        24.0, "How long a page on disk counts as fresh, in hours; 0 keeps none", matters=False
    )

    cache_megabytes: int = _setting(
        1_024,
        "Size of the pages on disk at most, of all runs together, in MiB; those not used for the longest time go first",
        minimum=1,
        trusted=True,
        matters=False,
    )

    browser: Literal["auto", "always", "never"] = _setting(
        "auto", "Pages in a real browser: auto where a page is empty without, always, never"
    )
    browser_path: str = _setting("", "Program of the browser, found by itself if empty", trusted=True, matters=False)
    browser_sandbox: Literal["auto", "on", "off"] = _setting(
        "auto", "The browser's own sandbox: auto keeps it except as root, on, off", trusted=True, matters=False
    )
    browser_seconds: float = _setting(
        40.0, "How long a page may take in the browser, in seconds", above=0, matters=False
    )

    tokens: int = _setting(6_000, "Tokens of a page that one call gives at most", minimum=200)
    question_tokens: int = _setting(8_000, "Tokens that the model reads at once to answer from a page", minimum=200)
    question_parts: int = _setting(8, "Parts of a long page that are read for a question", minimum=1)
    steps: int = _setting(12, "Steps of browse_web at most", minimum=1)
    replan: int = _setting(4, "Steps of browse_web after which it plans again", minimum=1)
    viewport: int = _setting(5_000, "Characters of a page that browse_web sees at once", minimum=500)
