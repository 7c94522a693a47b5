"""What all ranks of a batch share: the queue, what is done once for all, and what ranks say."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from kgot_ray.tasks import TaskQueue

POLL = 1.0
"""Seconds for which a question waits for its answer before it is asked again."""
SILENCE = 30.0
"""Seconds after which a rank that holds tasks and says nothing is lost; one that lives asks every second."""
State: TypeAlias = Literal["go", "task", "over", "stop", "still", "gone", "do", "done"]


@dataclass(frozen=True)
class Caller:
    """Who asks: a rank, and how many processes of that rank there were before. A lost process may still be alive."""

    rank: int
    attempt: int


@dataclass(frozen=True)
class Reply:
    """What the desk says.

    Attributes:
        state: ``go`` (ask again), ``task`` (do this one), ``over`` (all tasks have ended), ``stop`` (the batch is
            interrupted), ``still`` (nothing has moved for too long), ``gone`` (another process has this rank's place);
            ``do`` and ``done`` for what is done once.
        task: Id of the task.
        lost_by: The lost rank that had it; -1 where there was none.
        running: Ids of the tasks that run.
        outcome: What came of what is done once.
    """

    state: State
    task: str = ""
    lost_by: int = -1
    running: tuple[str, ...] = ()
    outcome: Any = None


class _Sitting:
    """One call of ``run`` on all ranks."""

    def __init__(self, order: Sequence[str], now: float) -> None:
        self.queue = TaskQueue(order)
        self.moved = now
        self.stopped = False


class Desk:
    """One for all ranks of a batch: an actor of Ray, or on an event loop of the only rank's process.

    Args:
        clock: Gives seconds that never go back.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._heard: dict[int, float] = {}
        self._opened = clock()
        self._changed = asyncio.Condition()
        self._attempts: dict[int, int] = {}
        self._sittings: dict[int, _Sitting] = {}
        self._doing: dict[int, int] = {}
        self._done: dict[int, Any] = {}
        self._stopped = False
        self._said: list[tuple[int, str, str]] = []

    async def join(self, rank: int) -> Caller:
        """Gives a process its place; one that had it before is lost."""
        await self.lost(rank)
        self._heard[rank] = self._clock()
        return Caller(rank, self._attempts[rank])

    async def lost(self, rank: int) -> None:
        """Notes that a rank's process is gone: its tasks are for others, and for its next process."""
        async with self._changed:
            self._lose(rank)

    async def leave(self, caller: Caller) -> None:
        """Lets the caller go; what it holds is for others."""
        if not self._is_gone(caller):
            await self.lost(caller.rank)

    async def begin(self, caller: Caller, number: int, order: Sequence[str]) -> None:
        """Begins a call of ``run``, the first rank for all."""
        self._sittings.setdefault(number, _Sitting(order, self._clock()))

    async def take(self, caller: Caller, number: int, patience: float) -> Reply:
        """Gives the next task; waits a while where there is none that waits."""
        async with self._changed:
            reply = self._taken(caller, number, patience)
            if reply.state == "go":
                await self._wait()
                reply = self._taken(caller, number, patience)
        return reply

    async def look(self, caller: Caller, number: int, patience: float) -> Reply:
        """Tells how the batch is, at once."""
        sitting = self._sittings[number]
        if self._is_gone(caller):
            return Reply("gone")
        self._heard[caller.rank] = self._clock()
        if self._stopped or sitting.stopped:
            return Reply("stop")
        if sitting.queue.over:
            return Reply("over")
        if patience and self._clock() - sitting.moved >= patience:
            return Reply("still", running=tuple(sitting.queue.held))
        return Reply("go")

    async def end(self, caller: Caller, number: int, task: str) -> None:
        """Notes that a task's record is written."""
        async with self._changed:
            if not self._is_gone(caller):
                self._heard[caller.rank] = self._sittings[number].moved = self._clock()
                self._sittings[number].queue.end(caller.rank, task)
                self._changed.notify_all()

    async def stop(self, number: int | None = None) -> None:
        """Lets no further task begin: of one call of ``run``, or of all."""
        async with self._changed:
            if number is None:
                self._stopped = True
            else:
                self._sittings[number].stopped = True
            self._changed.notify_all()

    async def once(self, caller: Caller, number: int) -> Reply:
        """Tells whether the caller is to do what is done once, or what came of it."""
        async with self._changed:
            if number not in self._done and number in self._doing:
                await self._wait()
            if self._is_gone(caller):
                return Reply("gone")
            self._heard[caller.rank] = self._clock()
            if number in self._done:
                return Reply("done", outcome=self._done[number])
            if number in self._doing:
                return Reply("go")
            self._doing[number] = caller.rank
            return Reply("do")

    async def once_done(self, caller: Caller, number: int, outcome: Any) -> None:
        """Takes what came of what is done once."""
        async with self._changed:
            if not self._is_gone(caller):
                self._done.setdefault(number, outcome)
                self._changed.notify_all()

    async def quiet(self) -> float:
        """Gives the seconds in which no rank was heard of."""
        return self._clock() - max(self._heard.values(), default=self._opened)

    async def say(self, rank: int, stream: str, text: str) -> None:
        """Takes what a rank writes to ``stdout`` or ``stderr``."""
        async with self._changed:
            self._said.append((rank, stream, text))
            self._changed.notify_all()

    async def said(self, wait: bool) -> list[tuple[int, str, str]]:
        """Gives what ranks wrote since the last time; may wait a while for some."""
        async with self._changed:
            if wait and not self._said:
                await self._wait()
            said, self._said = self._said, []
            return said

    def _taken(self, caller: Caller, number: int, patience: float) -> Reply:
        sitting = self._sittings[number]
        if self._is_gone(caller):
            return Reply("gone")
        if self._stopped or sitting.stopped:
            return Reply("stop")
        self._heard[caller.rank] = self._clock()
        self._lose_silent(sitting)
        if (given := sitting.queue.take(caller.rank)) is not None:
            sitting.moved = self._clock()
            return Reply("task", given.task, given.lost_by)
        return Reply("over" if sitting.queue.over else "go")

    def _lose(self, rank: int) -> None:
        self._attempts[rank] = self._attempts.get(rank, -1) + 1
        for sitting in self._sittings.values():
            sitting.queue.give_back(rank)
        self._doing = {number: who for number, who in self._doing.items() if who != rank}
        self._changed.notify_all()

    def _lose_silent(self, sitting: _Sitting) -> None:
        """Gives up ranks that are not heard of: Ray may have no room to start them anew while the others wait."""
        for rank in sitting.queue.holders:
            if self._clock() - self._heard[rank] >= SILENCE:
                self._lose(rank)

    def _is_gone(self, caller: Caller) -> bool:
        return self._attempts.get(caller.rank) != caller.attempt

    async def _wait(self) -> None:
        try:
            async with asyncio.timeout(POLL):
                await self._changed.wait()
        except TimeoutError:
            pass
