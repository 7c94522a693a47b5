"""Holds what a thread opens for a run, so that it is given back even where the run ends before it is open."""

from __future__ import annotations

import contextlib
import threading
from typing import Generic, Protocol, TypeVar


class Closable(Protocol):
    """A graph backend, or a session of a sandbox."""

    def cancel(self) -> None:
        """Makes running calls end; called from another thread."""

    def close(self) -> None:
        """Gives everything back."""


C = TypeVar("C", bound=Closable)


class Held(Generic[C]):
    """One thing that is opened and given back on threads; they may do so in any order.

    Args:
        owned: It is ours to close.
    """

    def __init__(self, owned: bool = True) -> None:
        self.thing: C | None = None
        self._owned = owned
        self._given_back = False
        self._lock = threading.Lock()

    def keep(self, thing: C) -> C:
        """Takes in what has just been opened.

        Raises:
            RuntimeError: The run has ended meanwhile; it was closed at once.
        """
        with self._lock:
            late = self._given_back
            if not late:
                self.thing = thing
        if late:
            if self._owned:
                thing.close()
            raise RuntimeError("the run ended while this was being opened")
        return thing

    def cancel(self) -> None:
        """Ends what runs in it, as far as that is in its power."""
        thing = self.thing
        if thing is not None:
            # A plugin's fault while it is stopped must not keep the rest from being stopped.
            with contextlib.suppress(BaseException):
                thing.cancel()

    def close(self) -> None:
        """Gives it back. Idempotent.

        Raises:
            Exception: What the thing raises when it is closed.
        """
        with self._lock:
            self._given_back = True
            thing, self.thing = self.thing, None
        if thing is not None and self._owned:
            thing.close()
