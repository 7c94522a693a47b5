"""When a connection to a SPARQL server is used again."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Iterator

import pytest

from kgot_rdf.connection import Connection


class Server:
    """Answers each request with the same bytes, closes nothing, and notes on which connection each came."""

    def __init__(self, answer: bytes) -> None:
        self.answer = answer
        self.came: list[int] = []
        self.listening = socket.create_server(("127.0.0.1", 0))
        self.port = self.listening.getsockname()[1]
        self._open: list[socket.socket] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self.listening.accept()
                self._open.append(connection)
                threading.Thread(target=self._serve, args=(connection, len(self._open)), daemon=True).start()

    def _serve(self, connection: socket.socket, number: int) -> None:
        with contextlib.suppress(OSError):
            while data := connection.recv(1 << 16):
                if data.endswith(b"body"):
                    self.came.append(number)
                    connection.sendall(self.answer)

    def close(self) -> None:
        for one in (self.listening, *self._open):
            one.close()


@pytest.fixture
def server(request: pytest.FixtureRequest) -> Iterator[Server]:
    made = Server(request.param)
    yield made
    made.close()


HEAD = b"HTTP/1.1 204 No Content\r\n"


@pytest.mark.parametrize(
    ("server", "used"),
    [
        (HEAD + b"\r\n", [1, 1, 1]),
        (HEAD + b"Connection: keep-alive\r\n\r\n", [1, 1, 1]),
        (HEAD + b"Connection: close\r\n\r\n", [1, 2, 3]),
        (HEAD + b"connection: Keep-Alive, Close\r\n\r\n", [1, 2, 3]),
        (b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok", [1, 2, 3]),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n2\r\nok\r\n0\r\n\r\n", [1, 2, 3]),
        (b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok", [1, 2, 3]),
        (b"HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nok", [1, 1, 1]),
    ],
    indirect=["server"],
)
def test_a_server_that_says_that_it_closes_gets_no_further_request(server: Server, used: list[int]) -> None:
    connection = Connection("127.0.0.1", server.port, timeout=5)
    for _ in used:
        if connection.sock is None:
            connection.connect()
        connection.post("/", b"body", {})
        assert connection.answer(end=time.monotonic() + 5).status in (200, 204)
    connection.close()
    assert server.came == used
