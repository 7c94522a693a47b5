"""Things that are made once under a key, whoever of several threads asks first."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar, cast

Thing = TypeVar("Thing")


class Common:
    """What the tools of one run, or of all runs of a session, have in common."""

    def __init__(self) -> None:
        self._things: dict[str, object] = {}
        # A thing may ask for another one while it is made.
        self._making = threading.RLock()

    def get(self, key: str, make: Callable[[], Thing]) -> Thing:
        """Gives the thing of a key; the first that asks has it made. What fails to be made is tried again."""
        with self._making:
            if key not in self._things:
                self._things[key] = make()
            return cast(Thing, self._things[key])
