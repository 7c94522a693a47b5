"""Runs coroutines side by side and gives their results in order; the first failure ends the others, a cap does not."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterable
from typing import Any, TypeVar

from kgot_core.errors import CapReached

T = TypeVar("T")


async def side_by_side(coroutines: Iterable[Coroutine[Any, Any, T]]) -> tuple[T, ...]:
    """Runs all coroutines at once.

    Raises:
        CapReached: A cap was reached in one. The others come to their own end first: what is paid for is recorded, and
            a repeated run meets the cap at the same places.
        Exception: The first failure, as it is; a task group would wrap it.
    """
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(_held(coroutine)) for coroutine in coroutines]
    except BaseExceptionGroup as failures:
        first = failures.exceptions[0]
        while isinstance(first, BaseExceptionGroup):
            first = first.exceptions[0]
        raise first from None
    results = [task.result() for task in tasks]
    for result in results:
        if isinstance(result, CapReached):
            raise result
    return tuple(results)  # type: ignore[arg-type]


async def _held(coroutine: Coroutine[Any, Any, T]) -> T | CapReached:
    try:
        return await coroutine
    except CapReached as reached:
        return reached
