"""How the host and the worker talk: JSON texts, each behind its length in four bytes."""

from __future__ import annotations

import json
from typing import IO, Any

_MOST = 1 << 30


def send(stream: IO[bytes], message: Any) -> None:
    """Writes one message."""
    data = json.dumps(message, separators=(",", ":"), ensure_ascii=False).encode("utf-8", "surrogatepass")
    stream.write(len(data).to_bytes(4, "big") + data)
    stream.flush()


def receive(stream: IO[bytes]) -> Any:
    """Reads one message.

    Raises:
        EOFError: The other side has gone.
    """
    head = _exactly(stream, 4)
    size = int.from_bytes(head, "big")
    if size > _MOST:
        raise EOFError("a message is too long")
    return json.loads(_exactly(stream, size).decode("utf-8", "surrogatepass"))


def _exactly(stream: IO[bytes], size: int) -> bytes:
    data = stream.read(size)
    if len(data) < size:
        raise EOFError("the stream has ended")
    return data
