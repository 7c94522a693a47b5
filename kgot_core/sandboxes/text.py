"""Cutting what scripts print."""

from __future__ import annotations


def cut_output(head: bytes, tail: bytes, printed: int, limit: int) -> str:
    """Gives printed bytes as text of about ``limit`` characters, with a note in the middle where some are left out.

    Args:
        head: The first bytes.
        tail: The last bytes, where ``head`` does not hold all.
        printed: How many bytes were printed.
        limit: Characters to keep.
    """
    missing = printed - len(head) - len(tail)
    first = (head if missing > 0 else head + tail).decode("utf-8", errors="replace")
    last = tail.decode("utf-8", errors="replace") if missing > 0 else first
    if missing <= 0 and len(first) <= limit:
        return first
    begin, end = first[: limit - limit // 3], last[-(limit // 3) :] if limit >= 3 else ""
    left_out = printed - len(begin.encode()) - len(end.encode())
    return f"{begin}\n[… the output was cut here: about {max(left_out, 1)} more characters were left out …]\n{end}"


class Printed:
    """Keeps the beginning and the end of what is printed.

    Args:
        limit: Characters to keep.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._head = bytearray()
        self._tail = bytearray()
        self.count = 0

    def add(self, part: bytes) -> None:
        """Takes in printed bytes."""
        self.count += len(part)
        room = 4 * self._limit - len(self._head)
        self._head += part[:room]
        self._tail += part[room:]
        del self._tail[: -2 * self._limit or None]

    def text(self) -> str:
        """Gives the kept text."""
        return cut_output(bytes(self._head), bytes(self._tail), self.count, self._limit)
