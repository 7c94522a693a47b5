"""Fetches addresses: guarded at each hop, at a polite pace, within limits, from the disk where it was kept."""

from __future__ import annotations

import asyncio
import contextlib
import re
import ssl
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, replace
from http.cookiejar import CookieJar
from urllib.parse import unquote, urlsplit

import httpcore
import httpx

from kgot_core.errors import KgotError, TransientToolError
from kgot_tools_web.net.cache import Fetched, PageCache, now
from kgot_tools_web.net.guard import Guard
from kgot_tools_web.net.pace import Pace
from kgot_tools_web.net.refusals import raise_for
from kgot_tools_web.net.robots import Robots
from kgot_tools_web.net.transport import GuardedTransport
from kgot_tools_web.net.unpacking import ACCEPTED, Unpacker
from kgot_tools_web.net.urls import joined, normal_url

MOST_REDIRECTS = 10
_REDIRECTS = (301, 302, 303, 307, 308)
_KIND = re.compile(r"[\w.+-]{1,80}/[\w.+-]{1,120}")
_TEXTUAL = re.compile(r"text/|application/(?:[\w.+-]*\+)?(?:json|xml)|application/xhtml")
_HEADERS = {
    "Accept": "text/html,application/xhtml+xml,application/json;q=0.9,*/*;q=0.8",
    "Accept-Encoding": ACCEPTED,
}


@dataclass(frozen=True)
class Limits:
    """What one request may take: seconds, and bytes of its body, unpacked."""

    seconds: float
    size: int


class Fetcher:
    """Fetches pages with the cookies of its own session and none of the user's.

    Args:
        guard: What may be reached.
        cache: Where pages are kept.
        pace: How often hosts are asked.
        limits: Limits of one request.
        agent: How requests call themselves.
        language: Code of the language that pages should be in.
        robots: Keep to ``robots.txt``.
    """

    def __init__(
        self,
        guard: Guard,
        cache: PageCache,
        pace: Pace,
        limits: Limits,
        agent: str,
        language: str = "en",
        robots: bool = False,
    ) -> None:
        self.guard = guard
        self.agent = agent
        self._cache = cache
        self._pace = pace
        self._limits = limits
        self._headers = {**_HEADERS, "User-Agent": agent, "Accept-Language": f"{language},en;q=0.7,*;q=0.3"}
        self._cookies = CookieJar()
        self._certificates: ssl.SSLContext | None = None
        self._robots = Robots(agent, self._plain_text) if robots else None

    async def get(
        self,
        url: str,
        parameters: Mapping[str, str] | None = None,
        secret: Mapping[str, str] | None = None,
    ) -> Fetched:
        """Fetches an address.

        Args:
            url: The address.
            parameters: Added to it as a query.
            secret: Added as well, but neither kept nor shown.

        Raises:
            Blocked: It, or what it redirects to, may not be reached.
            TransientToolError: The server is busy or cannot be reached now.
            KgotError: It gives nothing; the message says why.
        """
        url = normal_url(url, parameters)
        self.guard.check(url)
        identity = f"{self._headers['Accept-Language']} {url}"
        if (known := self._cache.get(identity)) is not None and self.may_have(known):
            return known
        hidden = normal_url(url, secret) if secret else ""
        try:
            async with asyncio.timeout(self._limits.seconds):
                fetched, keep = await self._follow(url, hidden)
        except TimeoutError:
            raise TransientToolError(f"{_host(url)} took longer than {self._limits.seconds:g} seconds") from None
        if keep:
            self._cache.put(identity, fetched)
        return fetched

    def may_have(self, known: Fetched) -> bool:
        """Tells whether what is kept on disk may be had here: the run that fetched it may have opened more.

        Raises:
            Blocked: The address that it came from is blocked here.
        """
        self.guard.check(known.final)
        return all(map(self.guard.opens, known.opened))

    async def turn(self, url: str) -> None:
        """Waits until an address may be asked for.

        Raises:
            Blocked: It may not be reached.
            KgotError: Its host wants no program there, or a longer pause than is waited for.
        """
        target = self.guard.check(url)
        if self._robots is not None:
            await self._robots.check(url)
        await self._pace.turn(target.host)

    async def _follow(self, url: str, hidden: str) -> tuple[Fetched, bool]:
        seen = {url}
        current = url
        deadline = asyncio.get_running_loop().time() + self._limits.seconds * 0.9
        transport = self._transport(http2=not hidden)
        async with self._client(transport) as client:
            for _ in range(MOST_REDIRECTS + 1):
                await self.turn(current)
                async with self._answer(client, current, hidden) as answer:
                    where = answer.headers.get("location", "")
                    if answer.status_code not in _REDIRECTS or not where:
                        raise_for(answer, current, self._pace)
                        fetched = await self._read(answer, url, current, deadline)
                        fetched = replace(fetched, opened=tuple(sorted(transport.opened)))
                        return fetched, "no-store" not in answer.headers.get("cache-control", "").lower()
                current = normal_url(joined(current, where) or where)
                if hidden:
                    raise KgotError(f"{_host(url)} answers with a redirect; is its address right?")
                if current in seen:
                    raise KgotError(f"{url} redirects in a circle, back to {current}")
                seen.add(current)
        raise KgotError(f"{url} redirects more than {MOST_REDIRECTS} times")

    @contextlib.asynccontextmanager
    async def _answer(self, client: httpx.AsyncClient, url: str, hidden: str) -> AsyncIterator[httpx.Response]:
        # httpx logs each address; what is hidden goes beside it, and not over HTTP/2, whose library logs it, too.
        try:
            beside = {"target": httpx.URL(hidden).raw_path} if hidden else {}
            async with client.stream("GET", url, extensions=beside) as answer:
                yield answer
        except (httpcore.TimeoutException, httpx.TimeoutException):
            raise TransientToolError(f"{_host(url)} does not answer") from None
        except (httpcore.ConnectError, httpx.ConnectError) as error:
            if "certificate" in str(error).lower():
                raise KgotError(f"the certificate of {_host(url)} is not valid, so it is not trusted") from None
            raise TransientToolError(f"{_host(url)} cannot be reached") from None
        except (httpcore.NetworkError, httpcore.ProtocolError, httpx.TransportError):
            raise TransientToolError(f"{_host(url)} broke the connection off") from None
        except (httpcore.UnsupportedProtocol, httpx.InvalidURL):
            raise KgotError(f"{url} is no address") from None

    async def _read(self, answer: httpx.Response, url: str, final: str, deadline: float) -> Fetched:
        kind, _, rest = answer.headers.get("content-type", "").partition(";")
        kind = kind.strip().lower() if _KIND.fullmatch(kind.strip()) else ""
        charset = re.search(r"charset\s*=\s*[\"']?([\w.:-]+)", rest, re.IGNORECASE)
        unpacker = Unpacker(answer.headers.get("content-encoding", ""), self._limits.size)
        pieces: list[bytes] = []
        late = False
        async for piece in answer.aiter_raw():
            pieces.extend(unpacker.take(piece))
            late = asyncio.get_running_loop().time() > deadline
            if unpacker.cut or late:
                break
        note = ""
        if unpacker.cut or late:
            cause = "it never ends or is very slow" if late else f"it is larger than {self._limits.size >> 20} MiB"
            if kind and not _TEXTUAL.match(kind):
                raise KgotError(f"{final} was not read: {cause}", hint="tools.web.megabytes and seconds allow more")
            note = f"only the beginning of the page was read: {cause}"
        name = _filename(answer.headers.get("content-disposition", ""))
        at = now().isoformat(timespec="seconds")
        return Fetched(url, final, kind, charset[1] if charset else "", b"".join(pieces), at, note, name)

    def _transport(self, http2: bool) -> GuardedTransport:
        if self._certificates is None:
            # The environment may name further certificates (SSL_CERT_FILE), but no proxy.
            self._certificates = httpx.create_ssl_context(trust_env=True)
        return GuardedTransport(self.guard, self._certificates, http2)

    def _client(self, transport: GuardedTransport) -> httpx.AsyncClient:
        return httpx.AsyncClient(
            transport=transport,
            headers=self._headers,
            cookies=self._cookies,
            timeout=httpx.Timeout(self._limits.seconds),
            trust_env=False,
        )

    async def _plain_text(self, url: str) -> str:
        """Fetches a file that everybody has to be able to read, without asking whether it may be."""
        once = Fetcher(self.guard, self._cache, self._pace, replace(self._limits, size=1 << 19), self.agent)
        return (await once.get(url)).body.decode("utf-8", "replace")


def _host(url: str) -> str:
    return urlsplit(url).hostname or url[:80]


def _filename(disposition: str) -> str:
    found = re.search(r"filename\*\s*=\s*[\w-]*'[\w-]*'([^;]+)", disposition) or re.search(
        r"filename\s*=\s*\"?([^\";]+)", disposition
    )
    return unquote(found[1]).strip().replace("\\", "/").rpartition("/")[2] if found else ""
