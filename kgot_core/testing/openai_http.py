"""The HTTP side of the scripted OpenAI-compatible server: threads, records, faults on the wire."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Protocol

from kgot_core.testing.openai_wire import Broken, Dropped, Fault, Hang, HttpError, ScriptResult


@dataclass
class Seen:
    """One request that the server got.

    Attributes:
        payload: The request's body.
        authorization: The ``Authorization`` header.
        started: When it came, in seconds since the server started.
        ended: When its answer was ready to be sent; 0 before.
    """

    payload: Mapping[str, Any]
    authorization: str
    started: float
    ended: float = 0.0


@dataclass
class State:
    """What the threads of a server share; ``born`` is the zero of its times, ``embedded`` holds what was to embed."""

    born: float
    lock: threading.Lock = field(default_factory=threading.Lock)
    stop: threading.Event = field(default_factory=threading.Event)
    seen: list[Seen] = field(default_factory=list)
    embedded: list[Mapping[str, Any]] = field(default_factory=list)
    in_flight: int = 0
    most_in_flight: int = 0


class Backend(Protocol):
    """What decides the answers."""

    state: State
    models: tuple[str, ...]
    key: str
    delay: float

    def answer(self, payload: Mapping[str, Any], index: int) -> Fault | dict[str, Any]:
        """Gives what a request is answered with."""

    def body(self, payload: Mapping[str, Any], result: ScriptResult) -> dict[str, Any]:
        """Gives the body of a good answer."""

    def vectors(self, payload: Mapping[str, Any]) -> HttpError | dict[str, Any]:
        """Gives what a request for embeddings is answered with."""


def listen(backend: Backend) -> ThreadingHTTPServer:
    """Binds a server to a free port of 127.0.0.1."""
    return _Server(("127.0.0.1", 0), _handler(backend))


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 128

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is no error of ours."""


def _handler(backend: Backend) -> type[BaseHTTPRequestHandler]:
    state = backend.state

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1  # head and body in one segment: small separate ones wait for each other's acknowledgement
        disable_nagle_algorithm = True

        def log_message(self, *arguments: Any) -> None:
            """Prints nothing."""

        def do_GET(self) -> None:
            if self._wrong_key():
                return
            if self.path.rstrip("/") == "/v1/models":
                self._send(
                    200, {"object": "list", "data": [{"id": name, "object": "model"} for name in backend.models]}
                )
            else:
                self._send(404, {"error": {"message": f"no such path: {self.path}"}})

        def do_POST(self) -> None:
            raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            if self._wrong_key():
                return
            path = self.path.rstrip("/")
            if path not in ("/v1/chat/completions", "/v1/embeddings"):
                self._send(404, {"error": {"message": f"no such path: {self.path}"}})
                return
            payload = json.loads(raw)
            if path == "/v1/embeddings":
                self._embed(payload)
                return
            seen = Seen(payload, self.headers.get("Authorization") or "", time.monotonic() - state.born)
            with state.lock:
                index = len(state.seen)
                state.seen.append(seen)
                state.in_flight += 1
                state.most_in_flight = max(state.most_in_flight, state.in_flight)
            try:
                if backend.delay:
                    state.stop.wait(backend.delay)
                result = backend.answer(payload, index)
            finally:
                # Before the answer leaves: the client may send its next request as soon as it has it.
                with state.lock:
                    state.in_flight -= 1
                    seen.ended = time.monotonic() - state.born
            self._play(payload, result)

        def _embed(self, payload: Mapping[str, Any]) -> None:
            with state.lock:
                state.embedded.append(payload)
            result = backend.vectors(payload)
            if isinstance(result, HttpError):
                self._send(result.status, result.body(), result.headers)
            else:
                self._send(200, result)

        def _wrong_key(self) -> bool:
            if not backend.key or self.headers.get("Authorization") == f"Bearer {backend.key}":
                return False
            given = (self.headers.get("Authorization") or "").removeprefix("Bearer ")
            error = {"message": f"Incorrect API key provided: {given}.", "code": "invalid_api_key"}
            self._send(401, {"error": error})
            return True

        def _play(self, payload: Mapping[str, Any], result: Fault | dict[str, Any]) -> None:
            match result:
                case HttpError():
                    self._send(result.status, result.body(), result.headers)
                case Dropped():
                    self.close_connection = True
                case Hang():
                    self._head(200, 1_000)
                    self.wfile.flush()
                    state.stop.wait(result.seconds)
                    self.close_connection = True
                case Broken():
                    whole = json.dumps(backend.body(payload, "this answer is cut off")).encode()
                    self._head(200, len(whole) if result.connection else len(whole) // 2)
                    self.wfile.write(whole[: len(whole) // 2])
                    self.close_connection = result.connection
                case _:
                    self._send(200, result)

        def _send(self, status: int, body: Mapping[str, Any], headers: Mapping[str, str] | None = None) -> None:
            data = json.dumps(body).encode()
            self._head(status, len(data), headers)
            self.wfile.write(data)
            self.wfile.flush()

        def _head(self, status: int, length: int, headers: Mapping[str, str] | None = None) -> None:
            self.send_response(status)
            for name, value in {"Content-Type": "application/json", **(headers or {})}.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(length))
            self.end_headers()

    return Handler
