"""What may be reached: only http and https, only public hosts, and what the user opened or blocked."""

from __future__ import annotations

import asyncio
import re
import socket
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias
from urllib.parse import SplitResult, unquote, urlsplit

from kgot_core.errors import KgotError, TransientToolError
from kgot_tools_web.net.addresses import Address, is_public, literal

Resolver: TypeAlias = Callable[[str, int], Awaitable[Sequence[Address]]]
Opening: TypeAlias = tuple[str, int, str]
"""A host, its port and the private address behind it, which the user had to open."""

PORTS = {"http": 80, "https": 443}
_HOST = re.compile(r"[A-Za-z0-9_]([A-Za-z0-9_-]*[A-Za-z0-9_])?(\.[A-Za-z0-9_]([A-Za-z0-9_-]*[A-Za-z0-9_])?)*\.?")
_LOCAL_NAMES = ("localhost", ".localhost", ".local", ".internal", ".intranet", ".lan", ".home.arpa")


class Blocked(KgotError):
    """An address may not be reached."""


@dataclass(frozen=True)
class Target:
    """A host and port that a request goes to."""

    scheme: str
    host: str
    port: int


async def resolve(host: str, port: int) -> Sequence[Address]:
    """Asks the system's resolver for the addresses of a name.

    Raises:
        TransientToolError: The resolver fails.
        KgotError: There is no such name.
    """
    try:
        found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except socket.gaierror as error:
        if error.errno == socket.EAI_AGAIN:
            raise TransientToolError(f"the address of {host} cannot be looked up now") from None
        raise KgotError(f"there is no host {host}", hint="is its name right? search_web finds addresses") from None
    except UnicodeError:
        raise KgotError(f"{host!r} is no host's name") from None
    return [address for *_, sockaddr in found if (address := literal(str(sockaddr[0]))) is not None]


class Guard:
    """Decides what is reached.

    Args:
        allow: Hosts and addresses that may be private, each with or without a port.
        block: Hosts that are never reached, with all below them.
        resolver: Looks names up.
    """

    def __init__(self, allow: Sequence[str] = (), block: Sequence[str] = (), resolver: Resolver = resolve) -> None:
        self._allow = frozenset(filter(None, map(_entry, allow)))
        self._block = tuple(filter(None, (_entry(host).removeprefix("*.").removeprefix(".") for host in block)))
        self._resolve = resolver

    def check(self, url: str) -> Target:
        """Checks an address before anything is looked up.

        Raises:
            Blocked: It may not be reached.
            KgotError: It is no address.
        """
        parts = _parts(url)
        if parts.scheme not in PORTS:
            raise Blocked(f"{_short(url)}: only http and https addresses are reached, not {parts.scheme or 'this'}")
        try:
            host, port = parts.hostname or "", parts.port or PORTS[parts.scheme]
        except ValueError:
            raise KgotError(f"{_short(url)} is no address: its port is no number") from None
        host = plain_host(host)
        self.check_host(host, port)
        # Archives and translators give another site's page below their own address.
        rest = unquote(f"{parts.path}?{parts.query}").lower()
        for blocked in self._block:
            if re.search(rf"(^|[/.=@]){re.escape(blocked)}($|[/:?&#.])", rest):
                raise _blocked(blocked)
        return Target(parts.scheme, host, port)

    def check_host(self, host: str, port: int) -> None:
        """Checks a host by its name alone.

        Raises:
            Blocked: It may not be reached.
        """
        if any(host == blocked or host.endswith(f".{blocked}") for blocked in self._block):
            raise _blocked(host)
        if self._is_allowed(host, port):
            return
        address = literal(host)
        if address is not None and not is_public(address):
            raise _private(host)
        if address is None and (host == "localhost" or host.endswith(_LOCAL_NAMES)):
            raise _private(host)

    async def addresses(self, host: str, port: int) -> Sequence[Address]:
        """Looks a host up, and gives the addresses that may be connected to: these, and no others looked up later.

        Raises:
            Blocked: It is private, or one of its addresses is.
        """
        host = plain_host(host)
        self.check_host(host, port)
        address = literal(host)
        found = [address] if address is not None else list(await self._resolve(host, port))
        if not found:
            raise KgotError(f"{host} has no address")
        # A name with a private address beside a public one is a trick or a mistake: neither is followed.
        if not self._is_allowed(host, port) and not all(
            is_public(one) or self._is_allowed(str(one), port) for one in found
        ):
            raise _private(host)
        return found

    def opens(self, opening: Opening) -> bool:
        """Tells whether the user has opened a private address, by itself or by the name that leads to it."""
        host, port, address = opening
        return self._is_allowed(host, port) or self._is_allowed(address, port)

    def _is_allowed(self, host: str, port: int) -> bool:
        return host in self._allow or f"{host}:{port}" in self._allow or f"[{host}]:{port}" in self._allow


def openings(host: str, port: int, addresses: Sequence[Address]) -> set[Opening]:
    """Gives what of a host's addresses is private."""
    return {(plain_host(host), port, str(one)) for one in addresses if not is_public(one)}


def plain_host(host: str) -> str:
    """Gives a host's name in the form in which names are compared.

    Raises:
        KgotError: It is no name of a host.
    """
    name = host.strip().lower().rstrip(".")
    address = literal(name)
    if address is not None:
        mapped = getattr(address, "ipv4_mapped", None)
        return str(mapped or address)
    try:
        name = name if name.isascii() else name.encode("idna").decode("ascii")
    except UnicodeError:
        name = ""
    if not name or len(name) > 253 or not _HOST.fullmatch(name):
        raise KgotError(
            f"{host[:80]!r} is no host's name", hint="give a whole address, such as https://example.org/page"
        )
    return name


def _entry(text: str) -> str:
    """Reads an entry of a list of hosts; an address with scheme and path is its host."""
    text = text.strip().lower()
    if "://" in text:
        text = urlsplit(text).netloc.rpartition("@")[2]
    return text.partition("/")[0].rstrip(".")


def _parts(url: str) -> SplitResult:
    try:
        return urlsplit(url.strip())
    except ValueError:
        raise KgotError(f"{_short(url)} is no address") from None


def _blocked(host: str) -> Blocked:
    return Blocked(f"{host} is blocked here (tools.web.block_hosts)")


def _private(host: str) -> Blocked:
    return Blocked(
        f"{host} is a blocked address: it is private or belongs to this machine or network",
        hint="tools.web.allow_hosts opens it",
    )


def _short(url: str) -> str:
    text = " ".join(url.split())
    return text if len(text) <= 120 else f"{text[:117]}..."
