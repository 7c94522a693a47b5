"""Who runs many tasks: one process, several, or the ranks of a cluster (paper, sections 3.4 and B.5)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kgot_core.contracts.task import Answer, Task


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
class Batch:
    """Tasks to run, and how.

    Attributes:
        plan: The plain-JSON plan of every run.
        tasks: Tasks with distinct ids.
        folder: Folder of the batch; each task has one of its own below it.
        jobs: Tasks at once on one worker.
        work: Runs one task to its end and never raises; called on any thread.
        stop: Tells whether no further task may start.
        estimates: Expected seconds by task id, where something is known.
    """

    plan: Mapping[str, Any]
    tasks: Sequence[Task]
    folder: Path
    jobs: int
    work: Callable[[Task], Answer]
    stop: Callable[[], bool] = lambda: False
    estimates: Mapping[str, float] = field(default_factory=dict)


class Scheduler(ABC):
    """Runs every task of a batch exactly once."""

    @abstractmethod
    def run(self, batch: Batch) -> Iterator[TaskRecord]:
        """Yields a record a task as they end, on the calling process only."""
