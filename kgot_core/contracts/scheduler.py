"""Who runs many tasks: one process, several, or the ranks of a cluster (paper, sections 3.4 and B.5)."""

from __future__ import annotations

import pickle
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeAlias

from kgot_core.contracts.task import Answer, Task
from kgot_core.errors import KgotError, UsageError
from kgot_core.graph.values import JsonValue

NoteKind: TypeAlias = Literal["dealt", "started", "ended", "stole", "waits", "lost", "took_over"]


@dataclass(frozen=True)
class TaskRecord:
    """The final record of one task of a batch.

    Attributes:
        task: Id of the task.
        answer: How it ended; every failure is an answer with its status too.
        seconds: Wall time.
        rank: Which worker ran it.
    """

    task: str
    answer: Answer
    seconds: float
    rank: int = 0


@dataclass(frozen=True)
class ScheduleNote:
    """Something that a scheduler did; the notes of a batch are its schedule.

    Attributes:
        kind: ``dealt`` (a rank was given its first tasks), ``started`` and ``ended`` (a task), ``stole`` (a task was
            taken from a peer), ``waits`` (a rank has nothing to do), ``lost`` (a rank is gone), ``took_over`` (a task
            of a lost rank).
        rank: Who noted it.
        task: Id of the task; empty where it is about none.
        peer: The other rank; -1 where there is none.
        count: How many tasks it is about.
    """

    kind: NoteKind
    rank: int = 0
    task: str = ""
    peer: int = -1
    count: int = 1


def _unnoted(note: ScheduleNote) -> None:
    """Drops a note."""


def _not_interrupted() -> None:
    """Lets the tasks that run come to their own end."""


@dataclass(frozen=True)
class Batch:
    """Tasks to run, and how.

    Attributes:
        plan: The plain-JSON plan of every run.
        tasks: Tasks with distinct ids.
        folder: Folder of the batch; each task has one of its own below it.
        jobs: Tasks at once on one worker.
        work: Runs one task to its end and never raises; called on any thread. A task that was started before goes on
            from its journal, and one that has ended gives the answer that it has.
        stop: Tells whether no further task may start.
        estimates: Expected seconds by task id, where something is known.
        note: Takes what the scheduler does, as it does it; called on any thread, cheap, never raises.
        patience: Seconds without any task started or ended anywhere after which the batch ends with a diagnosis; 0 for
            no such limit.
        interrupt: Brings the tasks that run in this process to an end, so that they can go on later, as a signal to
            this process would; called where another process of the batch was told to stop. Any thread, any number of
            times, never raises.
    """

    plan: Mapping[str, Any]
    tasks: Sequence[Task]
    folder: Path
    jobs: int
    work: Callable[[Task], Answer]
    stop: Callable[[], bool] = lambda: False
    estimates: Mapping[str, float] = field(default_factory=dict)
    note: Callable[[ScheduleNote], None] = _unnoted
    patience: float = 0.0
    interrupt: Callable[[], None] = _not_interrupted


def portable(error: Exception) -> KgotError:
    """Gives an error as all processes of a batch raise it: the same one where it can be sent to another process."""
    if not isinstance(error, KgotError):
        return KgotError(f"{type(error).__name__}: {error}")
    try:
        copy: object = pickle.loads(pickle.dumps(error))  # noqa: S301  # what was made here a moment ago
    except Exception:  # a third party's class may raise anything
        copy = None
    if isinstance(copy, KgotError):
        return error
    return (UsageError if isinstance(error, UsageError) else KgotError)(error.message, hint=error.hint)


class Scheduler(ABC):
    """Runs every task of a batch exactly once.

    Where it works in several processes, each of them opens one and makes the same calls in the same order.

    Attributes:
        rank: Which of the processes this is, from 0.
        ranks: How many processes there are.
    """

    rank: int = 0
    ranks: int = 1

    def once(self, function: Callable[[], JsonValue]) -> JsonValue:
        """Calls a function in one process and gives all of them its result; an error is raised in all of them.

        Raises:
            KgotError: What the function raised.
        """
        return function()

    @abstractmethod
    def run(self, batch: Batch) -> Iterator[TaskRecord]:
        """Yields a record for each task that this process ran, as they end; ends when all tasks of all ranks have one.

        Raises:
            KgotError: The batch cannot go on; what has ended is kept.
        """

    def close(self) -> None:  # noqa: B027  # not every scheduler has something to close
        """Gives back what it holds. Idempotent."""
