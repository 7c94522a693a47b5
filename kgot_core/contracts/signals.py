"""Signals that end a program, for the command line and for schedulers that start processes."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

# Ctrl-C, what a service manager sends, and what a cluster's scheduler sends before the time is up.
NAMES = ("SIGINT", "SIGTERM", "SIGUSR1")


@contextlib.contextmanager
def heard_signals(heard: Callable[[int], object]) -> Iterator[None]:
    """Listens to the signals that end a program while the context is open.

    Args:
        heard: Called with how many have come, the last one included, between any two instructions of the main thread.
    """
    came = 0

    def handle(number: int, frame: FrameType | None) -> None:
        nonlocal came
        came += 1
        heard(came)

    before: dict[int, Any] = {}
    for name in NAMES:
        # Not every platform has each of them, and only the main thread may listen.
        with contextlib.suppress(AttributeError, ValueError):
            number = getattr(signal, name)
            before[number] = signal.signal(number, handle)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
