"""The scheduler ``local``: the conformance suite, any batch at all, and what it does when a batch stands still."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgot_core.builtin import kgot_schedulers
from kgot_core.contracts.scheduler import Batch, ScheduleNote
from kgot_core.contracts.task import Answer, Task
from kgot_core.errors import KgotError
from kgot_core.schedulers.local import LocalScheduler
from kgot_core.testing.scheduler_suite import SchedulerSuite

DONE = Answer("", "answered")


class TestLocal(SchedulerSuite):
    """The built-in scheduler passes the suite of all schedulers."""

    provider = next(iter(kgot_schedulers()))


@given(
    estimates=st.dictionaries(st.text(min_size=1, max_size=5), st.none() | st.floats(0, 1000), max_size=30),
    jobs=st.integers(1, 6),
    stop_after=st.none() | st.integers(0, 30),
)
def test_any_batch_runs_each_task_once_and_the_longest_first(
    estimates: dict[str, float | None], jobs: int, stop_after: int | None
) -> None:
    started: list[str] = []
    notes: list[ScheduleNote] = []

    def work(task: Task) -> Answer:
        started.append(task.id)
        return Answer(task.id, "answered")

    def stop() -> bool:
        return stop_after is not None and len(started) >= stop_after

    known = {name: seconds for name, seconds in estimates.items() if seconds is not None}
    tasks = [Task("?", id=name) for name in estimates]
    batch = Batch({}, tasks, Path(), jobs, work, stop, known, notes.append)
    records = list(LocalScheduler().run(batch))
    assert sorted(record.task for record in records) == sorted(started)
    assert len(set(started)) == len(started)
    assert all(record.answer.text == record.task for record in records)
    begun = [note.task for note in notes if note.kind == "started"]
    assert sorted(begun) == sorted(note.task for note in notes if note.kind == "ended") == sorted(started)
    longest = [known.get(name, 0.0) for name in begun]
    assert longest == sorted(longest, reverse=True)
    if stop_after is None:
        assert set(begun) == set(estimates)
    else:
        assert len(begun) <= stop_after + jobs - (stop_after == 0) * jobs


def test_a_batch_that_stands_still_ends_with_a_diagnosis() -> None:
    never, ran = threading.Event(), threading.Event()

    def work(task: Task) -> Answer:
        if task.id == "stuck":
            ran.set()
            never.wait()
        return DONE

    batch = Batch({}, [Task("?", id="stuck"), Task("?", id="quick")], Path(), 2, work, patience=0.05)
    found: list[str] = []
    with pytest.raises(KgotError, match=r"no task has begun or ended for 0\.05 s; running are stuck"):
        found.extend(record.task for record in LocalScheduler().run(batch))
    assert found == ["quick"] and ran.is_set()
    never.set()


def test_a_caller_that_leaves_lets_no_further_task_begin() -> None:
    started: list[str] = []
    gate = threading.Semaphore(1)

    def work(task: Task) -> Answer:
        gate.acquire()
        started.append(task.id)
        return DONE

    records = LocalScheduler().run(Batch({}, [Task("?", id=str(number)) for number in range(9)], Path(), 1, work))
    next(records)
    records.close()  # type: ignore[attr-defined]
    gate.release(9)
    assert len(started) <= 2


def test_a_fault_of_the_work_reaches_the_caller() -> None:
    def work(task: Task) -> Answer:
        raise ValueError("a fault")

    with pytest.raises(ValueError, match="a fault"):
        list(LocalScheduler().run(Batch({}, [Task("?", id="a")], Path(), 1, work)))
