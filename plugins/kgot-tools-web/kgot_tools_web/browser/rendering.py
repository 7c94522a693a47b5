"""Pages rendered by a real browser: its scripts run, and it reaches nothing that the guard does not let it reach."""

from __future__ import annotations

import asyncio
import contextlib
import importlib.util
import json
import os
import shutil
import signal
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from kgot_core.errors import KgotError, TransientToolError
from kgot_tools_web.browser.proxy import GuardedProxy
from kgot_tools_web.net.cache import Fetched, PageCache, now
from kgot_tools_web.net.fetching import Fetcher
from kgot_tools_web.net.urls import normal_url
from kgot_tools_web.reading.pages import LONGEST_HTML
from kgot_tools_web.settings import WebSettings

PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "microsoft-edge")
_STARTING = 20.0
_PIECE = 1 << 16
_LONGEST_REPLY = 12 * LONGEST_HTML + _PIECE
"""Bytes: JSON may write a character in twelve."""
_PASSED = ("LANG", "LC_ALL", "PATH", "SYSTEMROOT", "PLAYWRIGHT_BROWSERS_PATH", "FONTCONFIG_PATH", "SSL_CERT_FILE")
_ERRORS = {
    "ERR_TUNNEL_CONNECTION_FAILED": "cannot be reached, or may not be",
    "ERR_NAME_NOT_RESOLVED": "is no host that there is",
    "ERR_CERT": "has a certificate that is not valid",
    "Timeout": "took too long in the browser",
    "Download is starting": "is a file, not a page; visit it without browser",
}


class Browser:
    """A system's Chromium, through Playwright, a process for each page.

    Args:
        fetcher: Whose guard, name and pace hold for the browser too.
        cache: Where rendered pages are kept.
        settings: The settings.
    """

    def __init__(self, fetcher: Fetcher, cache: PageCache, settings: WebSettings) -> None:
        self._fetcher = fetcher
        self._cache = cache
        self._settings = settings

    def problem(self) -> str:
        """Tells why there is no browser, with the way out; empty where there is one."""
        if importlib.util.find_spec("playwright") is None:
            return "pip install 'kgot-tools-web[browser]'"
        if not self._settings.browser_path and not _program() and not _own_of_playwright():
            return "apt install chromium, or playwright install chromium, or set tools.web.browser_path"
        return ""

    async def render(self, url: str) -> Fetched:
        """Gives a page's HTML after its scripts have run.

        Raises:
            Blocked: It, or what it leads to, may not be reached.
            TransientToolError: It took too long.
            KgotError: The browser gives nothing.
        """
        url = normal_url(url)
        self._fetcher.guard.check(url)
        identity = f"browser {url}"
        if (known := self._cache.get(identity)) is not None and self._fetcher.may_have(known):
            return known
        await self._fetcher.turn(url)
        async with GuardedProxy(self._fetcher.guard, self._settings.megabytes << 22) as proxy:
            told = await self._child(url, proxy.address)
            if (error := told.get("error")) is not None or told["status"] >= 400:
                raise _failure(url, str(error or ""), told.get("status", 0), proxy)
        self._fetcher.guard.check(str(told["url"]))
        at = now().isoformat(timespec="seconds")
        body = str(told["html"]).encode("utf-8", "replace")
        fetched = Fetched(url, str(told["url"]), "text/html", "utf-8", body, at, "as a browser shows it")
        fetched = replace(fetched, opened=tuple(sorted(proxy.opened)))
        self._cache.put(identity, fetched)
        return fetched

    async def _child(self, url: str, proxy: str) -> dict[str, Any]:
        settings = self._settings
        with tempfile.TemporaryDirectory(prefix="kgot-browser-", ignore_cleanup_errors=True) as home:
            # Neither the browser nor what drives it gets the keys of this process.
            environment = {name: os.environ[name] for name in _PASSED if name in os.environ}
            environment |= {"HOME": home, "TMPDIR": home, "XDG_CONFIG_HOME": home, "XDG_CACHE_HOME": home}
            if "PLAYWRIGHT_BROWSERS_PATH" not in environment and (own := _own_of_playwright()):
                environment["PLAYWRIGHT_BROWSERS_PATH"] = str(own)
            job = {
                "url": url,
                "program": settings.browser_path or _program(),
                "sandbox": _sandboxed(settings.browser_sandbox),
                "proxy": proxy,
                "seconds": settings.browser_seconds,
                "most": LONGEST_HTML + 1,
                "agent": self._fetcher.agent,
                "language": settings.language,
                "environment": environment,
            }
            process = await asyncio.create_subprocess_exec(
                sys.executable,
                str(Path(__file__).with_name("child.py")),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.DEVNULL,
                # It finds the same packages as this process, wherever those come from.
                env={**environment, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
                start_new_session=True,
            )
            try:
                async with asyncio.timeout(settings.browser_seconds + _STARTING):
                    out = await _exchanged(process, json.dumps(job).encode())
            except TimeoutError:
                raise TransientToolError(f"{url} took too long in the browser") from None
            finally:
                await _end(process)
        try:
            return dict(json.loads(out))
        except ValueError:
            raise KgotError("the browser broke down", hint="leave browser out to read the page without") from None


async def _exchanged(process: asyncio.subprocess.Process, job: bytes) -> bytes:
    """Gives a process its job, and takes what it writes; of a page that is told without end only so much."""
    assert process.stdin is not None and process.stdout is not None
    process.stdin.write(job)
    process.stdin.close()
    out = bytearray()
    while (piece := await process.stdout.read(_PIECE)) and len(out) <= _LONGEST_REPLY:
        out += piece
    return bytes(out)


async def _end(process: asyncio.subprocess.Process) -> None:
    """Ends the process with everything that it started, whatever state it is in."""
    if hasattr(os, "killpg"):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    if process.returncode is None:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()


def _failure(url: str, error: str, status: int, proxy: GuardedProxy) -> KgotError:
    host = urlsplit(url).hostname or ""
    refused = next((why for target, why in proxy.refused.items() if host in target), "")
    if refused:
        return KgotError(refused)
    if status:
        return KgotError(f"{host} answers {status} in the browser too", hint="use another source")
    for mark, words in _ERRORS.items():
        if mark in error:
            return KgotError(f"{url} {words}")
    if "sandbox" in error.lower() or "Target" in error:
        way_out = "tools.web.browser_sandbox=off runs it without its own sandbox"
        return KgotError(f"the browser does not start: {error[:200]}", hint=way_out)
    return KgotError(f"the browser gives no page: {error[:200]}")


def _sandboxed(wish: str) -> bool:
    """Tells whether the browser keeps its own sandbox, which it cannot have as root."""
    root = getattr(os, "geteuid", lambda: 1)() == 0
    return wish == "on" or (wish == "auto" and not root)


def _program() -> str:
    return next((found for name in PROGRAMS if (found := shutil.which(name))), "")


def _own_of_playwright() -> Path | None:
    """Gives the folder of the browsers that ``playwright install`` brought, where there are any."""
    given = os.environ.get("PLAYWRIGHT_BROWSERS_PATH")
    home = Path.home()
    folders = [Path(given)] if given else [home / ".cache/ms-playwright", home / "Library/Caches/ms-playwright"]
    return next((folder for folder in folders if any(folder.glob("chromium*-*"))), None)
