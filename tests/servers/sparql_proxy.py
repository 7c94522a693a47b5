"""A small proxy in front of a SPARQL server, for tests of what happens on the way."""

from __future__ import annotations

import contextlib
import http.client
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit


class Proxy(ThreadingHTTPServer):
    """Passes requests on to a server, those with the right token only where it has one; notes each.

    Attributes:
        seen: Path and status of each request.
        token: The token that it asks for; none where empty.
        before_answer: Called before an answer is sent; the answer is lost where it gives true.
    """

    daemon_threads = True

    def __init__(self, server: Any, token: str = "") -> None:
        super().__init__(("127.0.0.1", 0), _Passing)
        self.behind, self.token = server, token
        self.seen: list[tuple[str, int]] = []
        self.before_answer: Callable[[], bool] = lambda: False
        root = f"http://127.0.0.1:{self.server_port}"
        self.query_url, self.update_url = f"{root}/query", f"{root}/update"


class _Passing(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Proxy

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        path, _, query = self.path.partition("?")
        given = self.headers.get("authorization", "")
        if b"repeat" in body:
            status, kind, data = 400, "text/plain", f"no good: {given}".encode()
        elif self.server.token and given != f"Bearer {self.server.token}":
            status, kind, data = 401, "text/plain", f"no token like {given}".encode()
        else:
            address = self.server.behind.query_url if path == "/query" else self.server.behind.update_url
            status, kind, data = self._passed_on(f"{address}?{query}", body)
        self.server.seen.append((path, status))
        if self.server.before_answer():
            self.close_connection = True
            return
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _passed_on(self, address: str, body: bytes) -> tuple[int, str, bytes]:
        parts = urlsplit(address)
        connection = http.client.HTTPConnection(parts.netloc, timeout=30)
        kept = {
            name: self.headers[name] for name in ("content-type", "accept", "authorization") if name in self.headers
        }
        try:
            connection.request("POST", f"{parts.path}?{parts.query}", body, kept)
            answer = connection.getresponse()
            return answer.status, answer.headers.get("content-type", ""), answer.read()
        except OSError:
            return 502, "text/plain", b"nobody there"
        finally:
            connection.close()

    def log_message(self, *_: Any) -> None:
        """Keeps silent."""


@contextlib.contextmanager
def in_front_of(server: Any, token: str = "") -> Iterator[Proxy]:
    """Puts a proxy in front of a server for the time of the block."""
    with Proxy(server, token) as proxy:
        threading.Thread(target=proxy.serve_forever, args=(0.01,), daemon=True).start()
        yield proxy
        proxy.shutdown()
