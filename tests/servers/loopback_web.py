"""A web on loopback, made from stored pages: their HTML, a MediaWiki-like API and a SearXNG-like search."""

from __future__ import annotations

import contextlib
import gzip
import html
import json
import re
import ssl
import threading
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, quote, unquote, urlsplit

ROOT = Path(__file__).parents[2]
DATA = ROOT / "plugins" / "kgot-tools-web" / "tests" / "data"
SHARED = ROOT.parent / "shared" / "data" / "multihop"
MOST_LINKS = 30


@dataclass(frozen=True)
class Stored:
    """A stored page."""

    title: str
    text: str


@dataclass(frozen=True)
class Answer:
    """What the server gives for a path: a body with its headers; an endless one drips on and on."""

    body: bytes = b""
    kind: str = "text/html; charset=utf-8"
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    endless: bool = False


def stored_pages(whole: bool = False) -> list[Stored]:
    """Gives the sample of this repository, or all pages where they lie beside it."""
    if whole and (SHARED / "pages.jsonl.gz").is_file():
        text = gzip.decompress((SHARED / "pages.jsonl.gz").read_bytes()).decode("utf-8")
    else:
        text = (DATA / "pages.jsonl").read_text("utf-8")
    return [Stored(item["title"], item["text"]) for item in map(json.loads, text.splitlines())]


class Loopback:
    """The server. Further paths are set in ``paths``, each an :class:`Answer` or a function of the query.

    Args:
        pages: The stored pages.
        tls: Where given, it speaks https with it.
        wiki: Answers ``/w/api.php``: a function of the server and the query.
    """

    def __init__(
        self, pages: list[Stored], wiki: Callable[[Loopback, Mapping[str, str]], Any], tls: ssl.SSLContext | None = None
    ) -> None:
        self._wiki = wiki
        self.pages = {page.title: page for page in pages}
        self.paths: dict[str, Answer | Callable[[Mapping[str, str]], Answer]] = {}
        self.stopping = threading.Event()
        self.seen: Counter[str] = Counter()
        self.headers: dict[str, Mapping[str, str]] = {}
        self._titles = re.compile("|".join(sorted(map(re.escape, self.pages), key=len, reverse=True)) or "$^")
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        self._scheme = "https" if tls else "http"
        if tls:
            self._server.socket = tls.wrap_socket(self._server.socket, server_side=True, do_handshake_on_connect=False)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)

    def __enter__(self) -> Loopback:
        self._thread.start()
        return self

    def __exit__(self, *error: Any) -> None:
        self.stopping.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    @property
    def place(self) -> str:
        """Host and port."""
        return f"127.0.0.1:{self._server.server_port}"

    @property
    def url(self) -> str:
        """Where it begins."""
        return f"{self._scheme}://{self.place}"

    def page_url(self, title: str) -> str:
        """Gives a page's address."""
        return f"{self.url}/wiki/{quote(title.replace(' ', '_'))}"

    def html_of(self, page: Stored) -> str:
        """Writes a page as HTML, with links to the pages that it names."""
        count = 0

        def link(found: re.Match[str]) -> str:
            nonlocal count
            count += 1
            title = found[0]
            if title == page.title or count > MOST_LINKS:
                return html.escape(title)
            return f'<a href="/wiki/{quote(title.replace(" ", "_"))}">{html.escape(title)}</a>'

        parts, last = [], 0
        for found in self._titles.finditer(page.text):
            parts += [html.escape(page.text[last : found.start()]), link(found)]
            last = found.end()
        return f"<p>{''.join([*parts, html.escape(page.text[last:])])}</p>"

    def answer(self, target: str, headers: Mapping[str, str]) -> Answer:
        """Answers a request."""
        parts = urlsplit(target)
        path = unquote(parts.path)
        self.seen[path] += 1
        self.headers[path] = headers
        query = {name: values[0] for name, values in parse_qs(parts.query).items()}
        if path in self.paths:
            given = self.paths[path]
            return given(query) if callable(given) else given
        if path == "/w/api.php":
            return _json(self._wiki(self, query))
        if path == "/search":
            return _json({"results": [self._found(page) for page in self.search(query.get("q", ""))]})
        title = path.removeprefix("/wiki/").replace("_", " ")
        if path.startswith("/wiki/") and title in self.pages:
            body = f"<h1>{html.escape(title)}</h1>{self.html_of(self.pages[title])}"
            frame = f"<nav><a href='/'>Home</a></nav><main>{body}</main><footer>Imprint</footer>"
            text = f"<!doctype html><title>{html.escape(title)}</title><body>{frame}</body>"
            return Answer(text.encode())
        return Answer(b"<h1>Nothing here</h1>", status=404)

    def search(self, query: str) -> list[Stored]:
        """Finds pages by the words that they share with a query."""
        words = set(re.findall(r"\w+", query.lower()))
        counts = [
            (len(words & set(re.findall(r"\w+", f"{page.title} {page.text}".lower()))), page)
            for page in self.pages.values()
        ]
        ranked = sorted((item for item in counts if item[0]), key=lambda item: (-item[0], item[1].title))
        return [page for _, page in ranked[:10]]

    def _found(self, page: Stored) -> Mapping[str, str]:
        return {"title": page.title, "url": self.page_url(page.title), "content": page.text[:200]}


def _json(data: Any) -> Answer:
    return Answer(json.dumps(data).encode(), "application/json")


def _handler(web: Loopback) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            answer = web.answer(self.path, {name.lower(): value for name, value in self.headers.items()})
            self.send_response(answer.status)
            for name, value in {"Content-Type": answer.kind, **answer.headers}.items():
                if value:
                    self.send_header(name, value)
            if not answer.endless:
                self.send_header("Content-Length", str(len(answer.body)))
            with contextlib.suppress(OSError):  # whoever asked may have gone
                self.end_headers()
                self.wfile.write(answer.body)
                while answer.endless and not web.stopping.wait(0.02):
                    self.wfile.write(answer.body)
            self.close_connection = answer.endless

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length") or 0))
            self.do_GET()

        def log_message(self, *arguments: Any) -> None:
            pass

    return Handler
