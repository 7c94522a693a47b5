"""Runs blocking code on daemon threads: a call that never returns must not keep the program alive."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import ParamSpec, TypeVar

T = TypeVar("T")
P = ParamSpec("P")


async def in_thread(function: Callable[[], T], seconds: float | None = None) -> T:
    """Runs a function on a daemon thread of its own and gives its result.

    What means something to an event loop, and would end or confuse it, arrives as a RuntimeError: an exit, an
    interrupt, a cancellation, the end of an iteration.

    Args:
        function: The blocking call; it sees the caller's context variables.
        seconds: How long to wait; ``None`` for ever.

    Raises:
        TimeoutError: The function did not end in time; its thread is left behind.
    """
    loop = asyncio.get_running_loop()
    future: asyncio.Future[T] = loop.create_future()
    context = contextvars.copy_context()

    def settle(act: Callable[[], None]) -> None:
        # The loop may be closed, also between these lines, and the waiter gone by the time a slow call ends.
        try:
            loop.call_soon_threadsafe(lambda: None if future.done() else act())
        except RuntimeError:
            if not loop.is_closed():
                raise

    def work() -> None:
        try:
            result = context.run(function)
        except BaseException as error:  # handed to the waiter
            failure = _harmless(error)
            settle(lambda: future.set_exception(failure))
        else:
            settle(lambda: future.set_result(result))

    threading.Thread(target=work, daemon=True, name="kgot-call").start()
    async with asyncio.timeout(seconds):
        return await future


def _harmless(error: BaseException) -> BaseException:
    if isinstance(error, Exception) and not isinstance(error, StopIteration | StopAsyncIteration):
        return error
    harmless = RuntimeError(f"{type(error).__name__}: {error}" if str(error) else type(error).__name__)
    harmless.__cause__ = error
    return harmless


class DaemonExecutor(ThreadPoolExecutor):
    """Runs each call on a daemon thread of its own, for a loop of ours.

    LangChain runs models that only have a blocking call on the loop's executor. The usual one keeps the program alive
    until the call returns, also where its run was cancelled.
    """

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Starts a call."""
        future: Future[T] = Future()

        def work() -> None:
            if not future.set_running_or_notify_cancel():
                return
            try:
                result = fn(*args, **kwargs)
            except BaseException as error:  # handed to the waiter
                future.set_exception(_harmless(error))
            else:
                future.set_result(result)

        threading.Thread(target=work, daemon=True, name="kgot-executor").start()
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Leaves calls that still run to themselves."""
