"""``robots.txt``, where the user wants it kept to."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from urllib.parse import urlsplit
from urllib.robotparser import RobotFileParser

from kgot_core.errors import KgotError, TransientToolError
from kgot_tools_web.net.guard import Blocked


class Robots:
    """Keeps to what hosts say.

    Args:
        agent: The name under which we are looked for.
        fetch: Fetches a text.
    """

    def __init__(self, agent: str, fetch: Callable[[str], Awaitable[str]]) -> None:
        self._agent = agent
        self._fetch = fetch
        self._known: dict[str, RobotFileParser] = {}

    async def check(self, url: str) -> None:
        """Checks an address.

        Raises:
            KgotError: The host does not want it fetched by programs.
        """
        parts = urlsplit(url)
        origin = f"{parts.scheme}://{parts.netloc}"
        if origin not in self._known:
            self._known[origin] = await self._rules(origin)
        if not self._known[origin].can_fetch(self._agent, url):
            raise KgotError(
                f"{parts.hostname} does not want programs to fetch this page (robots.txt, tools.web.robots)"
            )

    async def _rules(self, origin: str) -> RobotFileParser:
        rules = RobotFileParser()
        try:
            rules.parse((await self._fetch(f"{origin}/robots.txt")).splitlines())
        except (Blocked, TransientToolError):
            raise
        except KgotError:
            rules.parse([])  # a host without the file allows everything
        return rules
