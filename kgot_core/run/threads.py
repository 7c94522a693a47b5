"""Runs blocking code on daemon threads: a call that never returns must not keep the program alive."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


async def in_thread(function: Callable[[], T], seconds: float | None = None) -> T:
    """Runs a function on a daemon thread of its own and gives its result.

    Args:
        function: The blocking call.
        seconds: How long to wait; ``None`` for ever.

    Raises:
        TimeoutError: The function did not end in time; its thread is left behind.
    """
    loop = asyncio.get_running_loop()
    future: asyncio.Future[T] = loop.create_future()

    def settle(act: Callable[[], None]) -> None:
        # The loop may be closed and the waiter gone by the time a slow call ends.
        if not loop.is_closed():
            loop.call_soon_threadsafe(lambda: None if future.done() else act())

    def work() -> None:
        try:
            result = function()
        except BaseException as error:  # handed to the waiter as it is
            failure = error
            settle(lambda: future.set_exception(failure))
        else:
            settle(lambda: future.set_result(result))

    threading.Thread(target=work, daemon=True, name="kgot-call").start()
    async with asyncio.timeout(seconds):
        return await future
