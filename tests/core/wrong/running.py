"""Schedulers, sinks and sandboxes with one fault each, and the test of their suite that is meant for it."""

from __future__ import annotations

import runpy
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from kgot_core.contracts.sandbox import CodeResult, Sandbox, SandboxSession
from kgot_core.contracts.scheduler import Scheduler, TaskRecord
from kgot_core.contracts.task import Answer
from kgot_core.sandboxes.providers import MONTY, MontySettings
from kgot_core.sinks.memory import MemorySink
from kgot_core.testing.sandbox_suite import SandboxSuite
from kgot_core.testing.scheduler_suite import SchedulerSuite
from kgot_core.testing.sink_suite import SinkSuite

# Schedulers


class InTurn(Scheduler):
    def run(self, batch):
        for task in batch.tasks:
            if batch.stop():
                return
            yield TaskRecord(task.id, batch.work(task), 0.0)


class RunsTheFirstTwice(InTurn):
    meant = "test_every_task_runs_exactly_once[1] test_every_task_runs_exactly_once[3]"

    def run(self, batch):
        if len(batch.tasks) == 7:
            batch.work(batch.tasks[0])
        yield from super().run(batch)


class StopsAtFailures(InTurn):
    meant = "test_failed_task_is_a_record_too"

    def run(self, batch):
        for record in super().run(batch):
            yield record
            if record.answer.status == "failed":
                return


class NeedsTasks(InTurn):
    meant = "test_no_tasks_no_records"

    def run(self, batch):
        if not batch.tasks:
            yield TaskRecord("", Answer("", "failed"), 0.0)
        yield from super().run(batch)


class NeverStopped(InTurn):
    meant = "test_no_task_starts_after_stop"

    def run(self, batch):
        yield from super().run(replace(batch, stop=lambda: False))


class AllAtOnce(InTurn):
    meant = "test_no_more_tasks_at_once_than_jobs"

    def run(self, batch):
        if batch.jobs != 2:
            yield from super().run(batch)
            return
        with ThreadPoolExecutor(max(len(batch.tasks), 1)) as threads:
            for task, answer in zip(batch.tasks, threads.map(batch.work, batch.tasks), strict=True):
                yield TaskRecord(task.id, answer, 0.0)


class GivesAList(InTurn):
    meant = "test_records_come_on_the_calling_thread"

    def run(self, batch):
        return list(super().run(batch))


# Sinks


class KnowsFewKinds(MemorySink):
    meant = "test_takes_every_event[with folder] test_takes_every_event[in memory]"

    def emit(self, record):
        if record["kind"] == "model_called":
            raise KeyError("model_called")


class ChangesRecords(MemorySink):
    meant = "test_takes_every_event[with folder] test_takes_every_event[in memory]"

    def emit(self, record):
        record.pop("at")


class RefusesNewKinds(MemorySink):
    meant = "test_takes_events_that_it_does_not_know"

    def emit(self, record):
        if ":" in record["kind"]:
            raise ValueError(record["kind"])


class ClosesOnce(MemorySink):
    meant = "test_close_twice"

    def close(self):
        del self.records


# Sandboxes


@dataclass
class Reporting:
    """A session of a good sandbox whose results are told otherwise."""

    session: SandboxSession
    told: Callable[[CodeResult], CodeResult]

    def run(self, job):
        return self.told(self.session.run(job))

    def __getattr__(self, name):
        return getattr(self.session, name)


class Counting(Sandbox):
    name, python, about = "counting", "subset", MONTY.open(MontySettings()).about

    def open(self, prelude, limits):
        return Reporting(MONTY.open(MontySettings()).open(prelude, limits), self.told)


class CountsLinesFromZero(Counting):
    meant = "test_error_tells_kind_text_and_line_but_no_path"

    def told(self, result):
        return replace(result, line=max(result.line - 1, 0))


class TakesExitForAnError(Counting):
    meant = "test_exit_is_not_the_host_s"

    def told(self, result):
        return replace(result, exit_code=min(result.exit_code, 1))


_suites = runpy.run_path(str(Path(__file__).with_name("suites.py")))
FAULTS = _suites["of_classes"](
    globals(),
    {
        "scheduler": (SchedulerSuite, InTurn),
        "open_sink": (SinkSuite, MemorySink),
        "sandbox": (SandboxSuite, Counting),
    },
)
