"""Signals that end a run: the first one cleanly, so that it can go on later, the second at once.

Only the command line listens to signals; the library never does.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
from collections.abc import Callable, Iterator
from typing import Any

from kgot_core.cli.output import echo
from kgot_core.contracts.signals import heard_signals
from kgot_core.errors import INTERRUPTED

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

    def heard(came: int) -> None:
        if came == 1:
            first()
            return
        if sys.stderr is not None and sys.stderr.isatty():
            os.write(sys.stderr.fileno(), SHOW_CURSOR + b"\n")
        # Nothing may hold it up. The run's record is on the disk.
        os._exit(INTERRUPTED)

    with heard_signals(heard):
        yield
