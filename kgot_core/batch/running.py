"""One process of a batch: it takes part in the preparation, runs its share of the tasks, and in the merging."""

from __future__ import annotations

import contextlib
import datetime
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, cast

from kgot_core.batch.beginning import Beginning, pending_tasks
from kgot_core.batch.folder import BatchTask, read_batch, read_tasks, write_batch
from kgot_core.batch.lines import Appender
from kgot_core.batch.plan import BatchPlan
from kgot_core.batch.results import rank_file, result_row, usage_by_folder, write_results
from kgot_core.batch.schedulers import open_scheduler
from kgot_core.batch.totals import totals
from kgot_core.batch.watching import RankWatch, added_by_others
from kgot_core.batch.worker import Worker
from kgot_core.contracts.options import Caps
from kgot_core.contracts.scheduler import Batch, Scheduler
from kgot_core.contracts.task import Answer, Task, Usage
from kgot_core.errors import KgotError
from kgot_core.graph.values import JsonValue
from kgot_core.run.purse import Purse
from kgot_core.run.record import lease
from kgot_core.session.session import Session


@dataclass
class Outcome:
    """How a sitting of a batch ended.

    Attributes:
        rank: Which process this was.
        tasks: How many tasks the batch has.
        totals: What was used and what came out, see :func:`kgot_core.batch.totals.totals`.
        left: How many tasks have no final record.
    """

    rank: int = 0
    tasks: int = 0
    totals: Mapping[str, Any] = field(default_factory=dict)
    left: int = 0


class BatchRun:
    """A sitting of a batch in this process.

    Args:
        plan: What the batch is begun or gone on with.
        goes_on: It is there already and was asked to go on.
        on_begin: Told once which of how many processes this is, how many tasks there are, and how many are to be run.
        on_record: Told of each task that this process ran, as it ends.

    Attributes:
        rank: Which process this is; 0 until that is known.
        said_elsewhere: An error that :meth:`run` raises in all processes alike, where another one has met with it.
    """

    def __init__(
        self,
        plan: BatchPlan,
        *,
        goes_on: bool = False,
        on_begin: Callable[[int, int, int, int], object] = lambda rank, ranks, tasks, pending: None,
        on_record: Callable[[Mapping[str, Any]], object] = lambda row: None,
    ) -> None:
        self._plan = plan
        self._goes_on = goes_on
        self._on_begin = on_begin
        self._on_record = on_record
        self._stop = threading.Event()
        self._worker: Worker | None = None
        self._purse = Purse()
        self.rank = 0
        self.said_elsewhere: KgotError | None = None

    @property
    def stopped(self) -> bool:
        """It was interrupted."""
        return self._stop.is_set()

    def interrupt(self) -> None:
        """Lets the running tasks come to their ends as interrupted, and begins no other. Any thread may call it."""
        self._stop.set()
        if self._worker is not None:
            self._worker.interrupt()

    def run(self) -> Outcome:
        """Runs the batch to its end, or until it is interrupted.

        Raises:
            KgotError: It cannot begin, or the scheduler cannot go on; what has ended is kept.
        """
        plan = self._plan
        own = plan.settings.core.batch
        caps = Caps(own.max_cost, own.max_tokens, reserve=plan.settings.core.caps.reserve)
        self._purse = purse = Purse(caps)
        session = Session(plan.registry, plan.settings, schema=plan.schema, graph=plan.graph, purse=purse)
        self._worker = worker = Worker(session, force=plan.force, purse=purse)
        with contextlib.closing(worker), contextlib.closing(open_scheduler(plan)) as scheduler:
            self.rank = scheduler.rank
            beginning = Beginning(plan, goes_on=self._goes_on)
            with contextlib.closing(_Releasing(beginning)):
                self._once(scheduler, beginning.check)
                # Nothing has been written yet where a model, a store or a sandbox is not ready; one process says so.
                self._once(scheduler, worker.open)
                worker.open()
                begun = cast(dict[str, Any], self._once(scheduler, beginning.prepare))
                return self._run_share(scheduler, worker, begun)

    def _once(self, scheduler: Scheduler, function: Callable[[], JsonValue]) -> JsonValue:
        """Calls a function in one process for all, and notes whether that was this one where it fails."""
        here = False

        def called() -> JsonValue:
            nonlocal here
            here = True
            return function()

        try:
            return scheduler.once(called)
        except KgotError as error:
            self.said_elsewhere = None if here else error
            raise

    def _run_share(self, scheduler: Scheduler, worker: Worker, begun: Mapping[str, Any]) -> Outcome:
        plan, rank = self._plan, scheduler.rank
        tasks = {task.id: task for task in pending_tasks(plan.folder, begun["pending"])}
        everything = len(read_tasks(plan.folder))
        before = {plan.folder / name: Usage(**usage) for name, usage in begun["usage"].items()}
        self._purse.begin(before, scheduler.ranks, usage_by_folder(plan.folder, rank))
        self._on_begin(rank, scheduler.ranks, everything, len(tasks))
        try:
            with self._own_files(scheduler, begun["session"]) as (watch, results):

                def work(task: Task) -> Answer:
                    with watch.running(task.id) as sink:
                        return worker.run(task, plan.folder / tasks[task.id].folder, [sink])

                batch = self._batch(tasks, work, watch)
                for record in scheduler.run(batch):
                    row = result_row(record, tasks[record.task], time.time())
                    results.append(row)
                    self._on_record(row)
        except BaseException:
            # The others may be gone, so that nothing can be done together any more.
            if rank == 0:
                self._merge(begun["session"], "failed")
            raise
        how = "interrupted" if self.stopped else "ended"
        found = cast(dict[str, Any], self._once(scheduler, lambda: self._merge(begun["session"], how)))
        return Outcome(rank, everything, found["totals"], found["left"])

    def _batch(self, tasks: Mapping[str, BatchTask], work: Callable[[Task], Answer], watch: RankWatch) -> Batch:
        plan = self._plan
        return Batch(
            plan.to_json(),
            [task.task for task in tasks.values()],
            plan.folder,
            plan.settings.core.batch.jobs,
            work,
            self._stop.is_set,
            {task.id: task.estimate for task in tasks.values()},
            watch.note,
            plan.settings.core.batch.patience,
            self.interrupt,
        )

    @contextlib.contextmanager
    def _own_files(self, scheduler: Scheduler, session: str) -> Iterator[tuple[RankWatch, Appender]]:
        """Opens this process's files, under a lease of its own: the process that prepared may go before the others."""
        folder, rank = self._plan.folder, scheduler.rank

        def beat() -> Mapping[str, Any]:
            if scheduler.ranks > 1 and self._purse.caps:
                self._purse.hear(added_by_others(folder, session, rank))
            return {"added": asdict(self._purse.added)}

        try:
            hold = lease.take(folder, name=f"running.{rank}.json", what="batch")
            with contextlib.ExitStack() as stack:
                stack.callback(hold.release)
                results = stack.enter_context(contextlib.closing(Appender(rank_file(folder, "results", rank))))
                watch = stack.enter_context(contextlib.closing(RankWatch(folder, session, rank, scheduler.ranks, beat)))
                yield watch, results
        except OSError as error:
            raise KgotError(
                f"cannot write to {folder}: {error.strerror or error}",
                hint="free some space; kgot resume goes on with the batch",
            ) from None

    def _merge(self, session: str, how: str) -> dict[str, Any]:
        """Merges the results and writes the totals down."""
        folder = self._plan.folder
        tasks = read_tasks(folder)
        rows = write_results(folder, tasks)
        batch = read_batch(folder)
        for sitting in batch["sessions"]:
            if sitting["session"] == session:
                now = datetime.datetime.now(datetime.UTC)
                seconds = (now - datetime.datetime.fromisoformat(sitting["began"])).total_seconds()
                sitting |= {"ended": now.isoformat(timespec="milliseconds"), "how": how, "seconds": round(seconds, 3)}
        batch["totals"] = totals(tasks, rows, batch["sessions"])
        write_batch(folder, batch)
        return {"totals": batch["totals"], "left": len(tasks) - len(rows)}


class _Releasing:
    def __init__(self, beginning: Beginning) -> None:
        self.close = beginning.release
