"""The conformance suite of schedulers. A third party subclasses :class:`SchedulerSuite` and names its provider.

Example:
    class TestMyScheduler(SchedulerSuite):
        provider = MY_PROVIDER
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import pytest

from kgot_core.contracts.scheduler import Batch, Scheduler, TaskRecord
from kgot_core.contracts.task import Answer, Task
from kgot_core.providers import SchedulerProvider
from kgot_core.testing.suite import Suite, check_provider, ready

_WAIT = 0.02


class SchedulerSuite(Suite):
    """What every scheduler does.

    Attributes:
        provider: The provider under test; or give the fixture ``scheduler``.
        settings: Its settings; the defaults where ``None``.
    """

    open_to: ClassVar[frozenset[str]] = frozenset({"provider", "settings", "scheduler"})
    provider: ClassVar[SchedulerProvider | None] = None
    settings: ClassVar[Any] = None

    @pytest.fixture
    def scheduler(self) -> Scheduler:
        """Gives the scheduler under test."""
        if self.provider is None:
            raise NotImplementedError("set provider, or give a fixture 'scheduler' that returns the one under test")
        return self.provider.open(ready(self.provider, self.settings))

    def test_is_a_scheduler(self, scheduler: Scheduler) -> None:
        assert isinstance(scheduler, Scheduler), "open gives a kgot_core.contracts.scheduler.Scheduler"
        if self.provider is not None:
            check_provider(self.provider)

    @pytest.mark.parametrize("jobs", [1, 3])
    def test_every_task_runs_exactly_once(self, scheduler: Scheduler, tmp_path: Path, jobs: int) -> None:
        ran: list[str] = []
        records = list(scheduler.run(_batch(tmp_path, 7, lambda task: _done(ran, task), jobs=jobs)))
        wanted = [f"task-{number}" for number in range(7)]
        assert sorted(ran) == wanted, f"every task is given to work exactly once, but work got {sorted(ran)}"
        assert all(isinstance(record, TaskRecord) for record in records), "run yields TaskRecord"
        assert sorted(record.task for record in records) == wanted, "run yields exactly one record for each task"
        for record in records:
            assert record.answer.text == f"answer to {record.task}", (
                "a record holds the answer that work gave for its task"
            )
            assert record.seconds >= 0 and record.rank >= 0, "seconds and rank are never negative"

    def test_failed_task_is_a_record_too(self, scheduler: Scheduler, tmp_path: Path) -> None:
        answer = Answer("The run failed", "failed", reason="the model is away")
        records = list(scheduler.run(_batch(tmp_path, 3, lambda task: answer)))
        assert [record.answer.status for record in records] == ["failed"] * 3, "a failed task does not end a batch"

    def test_no_tasks_no_records(self, scheduler: Scheduler, tmp_path: Path) -> None:
        assert list(scheduler.run(_batch(tmp_path, 0, lambda task: _done([], task)))) == [], (
            "an empty batch has no record"
        )

    def test_no_task_starts_after_stop(self, scheduler: Scheduler, tmp_path: Path) -> None:
        ran: list[str] = []
        records = list(scheduler.run(_batch(tmp_path, 20, lambda task: _done(ran, task), stop=lambda: bool(ran))))
        assert len(ran) < 20, "where Batch.stop says so, no further task may start"
        assert sorted(record.task for record in records) == sorted(ran), "a task that was started has its record"
        stopped: list[str] = []
        list(scheduler.run(_batch(tmp_path, 3, lambda task: _done(stopped, task), stop=lambda: True)))
        assert not stopped, "Batch.stop is asked before the first task too"

    def test_no_more_tasks_at_once_than_jobs(self, scheduler: Scheduler, tmp_path: Path) -> None:
        lock, busy, most = threading.Lock(), [0], [0]

        def work(task: Task) -> Answer:
            with lock:
                busy[0] += 1
                most[0] = max(most[0], busy[0])
            threading.Event().wait(_WAIT)
            with lock:
                busy[0] -= 1
            return Answer("", "answered")

        list(scheduler.run(_batch(tmp_path, 6, work, jobs=2)))
        assert most[0] <= 2, f"Batch.jobs is 2, but {most[0]} tasks ran at once"

    def test_records_come_on_the_calling_thread(self, scheduler: Scheduler, tmp_path: Path) -> None:
        records = scheduler.run(_batch(tmp_path, 2, lambda task: _done([], task)))
        assert iter(records) is records, "run is a generator: the caller pulls the records, it is not called back"
        assert len(list(records)) == 2


def _batch(
    folder: Path, count: int, work: Callable[[Task], Answer], *, jobs: int = 1, stop: Callable[[], bool] = lambda: False
) -> Batch:
    tasks = [Task(f"question {number}", id=f"task-{number}") for number in range(count)]
    estimates = {task.id: 10.0 * number for number, task in enumerate(tasks)}
    return Batch({}, tasks, folder, jobs, work, stop, estimates)


def _done(ran: list[str], task: Task) -> Answer:
    ran.append(task.id)
    return Answer(f"answer to {task.id}", "answered")
