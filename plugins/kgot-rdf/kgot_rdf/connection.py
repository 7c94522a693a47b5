"""One HTTP connection: a request goes out as one piece, its answer is read by the parser that web servers use.

Python's own client spends several times as long on the heads of a small request and its answer as the server on the
update; it still opens the connection, and TLS around it.
"""

from __future__ import annotations

import http.client
import time
from collections.abc import Mapping
from dataclasses import dataclass, field

import httptools

from kgot_core.errors import QueryError

MOST_BYTES = 64 << 20
PART = 1 << 18
_NEWLINE = "\r\n"


class CutOff(Exception):
    """The connection ended in the middle of an answer."""


class NoAnswer(Exception):
    """What came is no answer of an HTTP server, or nothing did."""


@dataclass
class Answer:
    """An answer, filled by the parser.

    Attributes:
        status: Its status.
        headers: Its headers, names in lower case; the last of a name counts.
        parts: The pieces of its body.
        size: Bytes of the body so far.
        headed: Its head has come.
        complete: Nothing more belongs to it.
    """

    status: int = 0
    headers: dict[str, str] = field(default_factory=dict)
    parts: list[bytes] = field(default_factory=list)
    size: int = 0
    headed: bool = False
    complete: bool = False

    @property
    def body(self) -> bytes:
        """The whole body."""
        return self.parts[0] if len(self.parts) == 1 else b"".join(self.parts)

    def on_header(self, name: bytes, value: bytes) -> None:
        """Takes a header in."""
        self.headers[name.decode("latin-1").lower()] = value.decode("latin-1")

    def on_headers_complete(self) -> None:
        """The head has come."""
        self.headed = True

    def on_body(self, part: bytes) -> None:
        """Takes a piece of the body in."""
        self.parts.append(part)
        self.size += len(part)

    def on_message_complete(self) -> None:
        """Nothing more belongs to it."""
        self.complete = True


class Connection(http.client.HTTPConnection):
    """A connection to one server."""

    def post(self, path: str, content: bytes, headers: Mapping[str, str]) -> None:
        """Sends a request, head and body at once: some servers wait long for a second piece.

        Raises:
            OSError: The connection is broken.
        """
        host = f"[{self.host}]" if ":" in self.host else self.host
        head = [f"POST {path} HTTP/1.1", f"host: {host}:{self.port}", f"content-length: {len(content)}"]
        head += [f"{name}: {value}" for name, value in headers.items()]
        # Neither addresses nor tokens may bring headers of their own.
        if any(letter in line for line in head for letter in _NEWLINE):
            raise NoAnswer("an address or a header holds a line break")
        self.sock.sendall(_NEWLINE.join([*head, "", ""]).encode("latin-1") + content)

    def answer(self, end: float) -> Answer:
        """Reads the answer to its end; the connection is closed where it cannot be used again.

        Raises:
            QueryError: It is too large.
            CutOff: It ends too early.
            NoAnswer: It is none.
            OSError: The connection is broken, or the time is up.
        """
        while True:
            answer, again = self._read(end)
            if answer.status >= 200:
                break
        if not again:
            self.close()
        return answer

    def _read(self, end: float) -> tuple[Answer, bool]:
        answer = Answer()
        parser = httptools.HttpResponseParser(answer)
        while not answer.complete:
            limit(self, end)
            data = self.sock.recv(PART)
            if not data:
                break
            try:
                parser.feed_data(data)
            except httptools.HttpParserError as error:
                raise NoAnswer(str(error)) from None
            answer.status = parser.get_status_code()
            if answer.size > MOST_BYTES:
                raise QueryError("the result is too large; ask for less")
            if time.monotonic() > end:
                raise TimeoutError
        if answer.complete:
            return answer, _stays(answer, parser.get_http_version())
        if not answer.headed:
            raise NoAnswer("the server closed the connection without an answer")
        if "content-length" in answer.headers or "chunked" in answer.headers.get("transfer-encoding", "").lower():
            raise CutOff
        return answer, False  # its end is that of the connection


class TlsConnection(Connection, http.client.HTTPSConnection):
    """The same over TLS."""


def _stays(answer: Answer, version: str) -> bool:
    """Tells whether the connection may be used again; the parser knows it no longer once the answer is complete."""
    said = {word.strip() for word in answer.headers.get("connection", "").lower().split(",")}
    return "close" not in said and (version != "1.0" or "keep-alive" in said)


def limit(connection: http.client.HTTPConnection, end: float) -> None:
    """Lets the next step on the connection take no longer than until a moment of the monotonic clock."""
    if connection.sock is not None:
        connection.sock.settimeout(max(0.01, end - time.monotonic()))
