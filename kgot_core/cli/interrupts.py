"""Signals that end a run: the first one cleanly, so that it can go on later, the second at once.

Only the command line listens to signals; the library never does.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

from kgot_core.cli.errors import INTERRUPTED
from kgot_core.cli.output import echo

# Ctrl-C, what a service manager sends, and what a cluster's scheduler sends before the time is up.
NAMES = ("SIGINT", "SIGTERM", "SIGUSR1")
SHOW_CURSOR = b"\x1b[?25h"


@contextlib.contextmanager
def ended_by_signals(task: asyncio.Task[Any]) -> Iterator[None]:
    """Cancels a task at the first signal and ends the process at the second, while the context is open.

    Args:
        task: The task, of the running loop.
    """
    loop = asyncio.get_running_loop()

    def first() -> None:
        echo("kgot: interrupted; the run comes to its end (once more: at once)", err=True)
        task.cancel()

    with on_signals(lambda: loop.call_soon_threadsafe(first)):
        yield


@contextlib.contextmanager
def on_signals(first: Callable[[], object]) -> Iterator[None]:
    """Calls a function at the first signal and ends the process at the second, while the context is open.

    Args:
        first: Called in the signal's handler: between any two instructions of the main thread.
    """
    came = 0

    def handle(number: int, frame: FrameType | None) -> None:
        nonlocal came
        came += 1
        if came == 1:
            first()
            return
        if sys.stderr is not None and sys.stderr.isatty():
            os.write(sys.stderr.fileno(), SHOW_CURSOR + b"\n")
        # Nothing may hold it up. The run's record is on the disk.
        os._exit(INTERRUPTED)

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
