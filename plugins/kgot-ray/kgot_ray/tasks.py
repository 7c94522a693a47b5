"""The queue of a batch: who holds which task. Pure, so that it can be tried in any order of events."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Given:
    """A task that was given out.

    Attributes:
        task: Id of the task.
        lost_by: The rank that had it before and was lost; -1 where none had.
    """

    task: str
    lost_by: int = -1


class TaskQueue:
    """Tasks that wait, and those that a rank holds.

    Args:
        order: Ids of the tasks, the first to begin first.
    """

    def __init__(self, order: Sequence[str]) -> None:
        self._waiting = deque(Given(task) for task in order)
        self._held: dict[str, int] = {}

    @property
    def over(self) -> bool:
        """Every task has ended."""
        return not self._waiting and not self._held

    @property
    def held(self) -> list[str]:
        """The tasks that run, those that were given out first at the front."""
        return list(self._held)

    @property
    def holders(self) -> set[int]:
        """The ranks that hold tasks."""
        return set(self._held.values())

    def take(self, rank: int) -> Given | None:
        """Gives a rank the next task; ``None`` where none waits."""
        if not self._waiting:
            return None
        given = self._waiting.popleft()
        self._held[given.task] = rank
        return given

    def end(self, rank: int, task: str) -> None:
        """Notes that a task has its record; nothing where the rank does not hold it any more."""
        if self._held.get(task) == rank:
            del self._held[task]

    def give_back(self, rank: int) -> None:
        """Puts what a rank holds back to the front: these tasks were begun first, and go on from their journals."""
        lost = [task for task, holder in self._held.items() if holder == rank]
        for task in reversed(lost):
            del self._held[task]
            self._waiting.appendleft(Given(task, rank))
