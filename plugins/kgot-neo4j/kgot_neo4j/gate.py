"""Who may commit at the same time, and which writes must wait for each other."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator


class Gate:
    """Lets writes that only add commit side by side, and one that reads the graph back commit alone."""

    def __init__(self) -> None:
        self._condition = threading.Condition()
        self._inside = 0
        self._alone = False

    @contextlib.contextmanager
    def shared(self) -> Iterator[None]:
        """Commits beside others."""
        with self._condition:
            self._condition.wait_for(lambda: not self._alone)
            self._inside += 1
        try:
            yield
        finally:
            with self._condition:
                self._inside -= 1
                self._condition.notify_all()

    @contextlib.contextmanager
    def alone(self) -> Iterator[None]:
        """Commits while nobody else does."""
        with self._condition:
            self._condition.wait_for(lambda: not self._alone)
            self._alone = True
            self._condition.wait_for(lambda: not self._inside)
        try:
            yield
        finally:
            with self._condition:
                self._alone = False
                self._condition.notify_all()


class Names:
    """Makes writes that mention the same text wait for each other.

    Two transactions that merge one node at the same time would make it twice: a database without constraints, which
    are not ours to add, does not prevent it.
    """

    def __init__(self) -> None:
        self._condition = threading.Condition()
        self._held: set[str] = set()

    @contextlib.contextmanager
    def held(self, texts: frozenset[str]) -> Iterator[None]:
        """Holds all of them at once."""
        with self._condition:
            self._condition.wait_for(lambda: self._held.isdisjoint(texts))
            self._held |= texts
        try:
            yield
        finally:
            with self._condition:
                self._held -= texts
                self._condition.notify_all()
