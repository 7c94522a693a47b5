"""What the tools of one run share, such as cookies, and what all runs do: a pace for each host, stored pages."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from urllib.parse import urlsplit

from kgot_core.contracts.cache import cache_folder
from kgot_core.contracts.tools import ToolContext
from kgot_tools_web.net.cache import PageCache
from kgot_tools_web.net.fetching import Fetcher, Limits
from kgot_tools_web.net.guard import Guard
from kgot_tools_web.net.pace import Pace
from kgot_tools_web.reading.pages import Page
from kgot_tools_web.search.corpus import Corpus
from kgot_tools_web.settings import WebSettings

CACHE = "pages"
_KEY = "kgot-tools-web"


class AllRuns:
    """What the runs of a batch have in common: a host sees one asker in them, and stored pages are read once.

    Args:
        per_second: Requests a second to one host.

    Attributes:
        pace: When a host may be asked.
    """

    def __init__(self, per_second: float) -> None:
        self.pace = Pace(per_second)
        self._corpora: dict[Path, Corpus] = {}

    def corpus(self, path: Path) -> Corpus:
        """Gives the stored pages of a file."""
        return self._corpora.setdefault(path.absolute(), Corpus(path))


class WebSession:
    """The web as one run reaches it.

    Args:
        settings: The settings.
        all_runs: What it has in common with other runs; nothing by default.

    Attributes:
        guard: What pages may be reached.
        pages: Fetches pages: what a model names.
        services: Fetches from search engines, Wikipedia and the archive: what the user has set.
        cache: Where both keep what they fetched.
        settings: The settings.
    """

    def __init__(self, settings: WebSettings, all_runs: AllRuns | None = None) -> None:
        self.settings = settings
        self._all_runs = all_runs or AllRuns(settings.per_second)
        self.cache = cache = PageCache(cache_folder(CACHE), settings.cache_hours, settings.cache_megabytes << 20)
        pace = self._all_runs.pace
        limits = Limits(settings.seconds, settings.megabytes << 20)
        agent = settings.user_agent or f"kgot-tools-web/{_version()} (research assistant)"
        self.guard = Guard(settings.allow_hosts, settings.block_hosts)
        own = [_place(url) for url in (settings.searxng_url, settings.serpapi_url, settings.archive_url)]
        own += [_place(settings.wikipedia_url)] if "{" not in urlsplit(settings.wikipedia_url).netloc else []
        services = Guard([*settings.allow_hosts, *filter(None, own)], settings.block_hosts)
        self.pages = Fetcher(self.guard, cache, pace, limits, agent, settings.language, settings.robots)
        self.services = Fetcher(services, cache, pace, limits, agent, settings.language)

    def corpus(self, file: str = "") -> Corpus:
        """Gives the stored pages of a file, that of the settings where none is named; read once for all runs."""
        return self._all_runs.corpus(Path(file or self.settings.pages))

    async def stored(self, url: str) -> Page | None:
        """Gives a stored page of a file that is searched in, by its address."""
        files = {name.partition(":")[2] or self.settings.pages for name in self.settings.search if _is_stored(name)}
        for file in sorted(files | ({self.settings.pages} if not self.settings.search else set())):
            if file and (page := await self.corpus(file).page(url)) is not None:
                return page
        return None


def _is_stored(name: str) -> bool:
    return name.partition(":")[0] == "pages"


def session_of(context: ToolContext, settings: WebSettings) -> WebSession:
    """Gives the session of a run, the same for all tools of this package."""

    def make() -> WebSession:
        every = context.share(f"{_KEY} of all runs", lambda: AllRuns(settings.per_second), among_runs=True)
        return WebSession(settings, every)

    return context.share(_KEY, make)


def _place(url: str) -> str:
    """Gives host and port of an address that the user has set."""
    return urlsplit(url).netloc.rpartition("@")[2]


def _version() -> str:
    try:
        return version("kgot-tools-web")
    except PackageNotFoundError:
        return "0"
