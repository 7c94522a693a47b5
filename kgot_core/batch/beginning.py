"""The beginning of a batch: its folder taken, its tasks read, its plan written. One process does it for all."""

from __future__ import annotations

import contextlib
import datetime
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from kgot_core.batch.folder import (
    FORMAT,
    BatchTask,
    is_batch,
    read_batch,
    read_tasks,
    refuse_other_folder,
    write_batch,
)
from kgot_core.batch.plan import BatchPlan
from kgot_core.batch.results import is_final, read_results
from kgot_core.batch.task_reading import check_tasks, take_tasks
from kgot_core.errors import UsageError
from kgot_core.run.record import lease
from kgot_core.session.new_run import new_id, refuse_run_folder
from kgot_core.session.packages import versions
from kgot_core.settings.seal import seal
from kgot_core.settings.start import config_folder

_RANK_LEASE = re.compile(r"running\.\d+\.json")


class Beginning:
    """Takes a batch's folder, and prepares it.

    Args:
        plan: What it is begun with.
        goes_on: The batch is there already and was asked to go on; otherwise its settings must be those of the plan.
        wait: Waits some seconds.
    """

    def __init__(self, plan: BatchPlan, *, goes_on: bool, wait: Callable[[float], object] = time.sleep) -> None:
        self._plan = plan
        self._goes_on = goes_on
        self._wait = wait
        self._lease: lease.Lease | None = None

    def check(self) -> None:
        """Makes sure that the folder and the task file can be used; writes nothing.

        Raises:
            UsageError: One of them cannot.
        """
        check_tasks(self._plan, self._goes_on)

    def prepare(self) -> dict[str, Any]:
        """Prepares the batch.

        Returns:
            ``session``: a name for this sitting; ``pending``: ids of the tasks to run; ``usage``: what tasks have used
            so far, by the names of their folders.

        Raises:
            UsageError: The folder or the task file cannot be used, or the batch is running.
        """
        folder = self._plan.folder
        with self._folder_taken(folder):
            new = not is_batch(folder)
            if not new and not self._goes_on:
                self._plan.refuse_changed(read_batch(folder)["plan"])
            take_tasks(self._plan, self._goes_on)
            batch = self._written(new)
        rows = read_results(folder)
        tasks = read_tasks(folder)
        return {
            "session": batch["sessions"][-1]["session"],
            "pending": [task.id for task in tasks if task.id not in rows or not is_final(rows[task.id])],
            "usage": {row["folder"]: row["usage"] for row in rows.values()},
        }

    def release(self) -> None:
        """Gives the folder back. Idempotent."""
        if self._lease is not None:
            self._lease.release()
            self._lease = None

    @contextlib.contextmanager
    def _folder_taken(self, folder: Path) -> Iterator[None]:
        new = not folder.exists()
        refuse_run_folder(folder)
        refuse_other_folder(folder)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._lease = lease.take(folder, self._wait, what="batch")
        except OSError as error:
            raise UsageError(f"cannot write the batch to {folder}: {error.strerror}") from None
        try:
            self._refuse_living_ranks(folder)
            yield
        except BaseException:
            self.release()
            if new:
                with contextlib.suppress(OSError):
                    folder.rmdir()
            raise

    def _refuse_living_ranks(self, folder: Path) -> None:
        """Makes sure that no process of an earlier sitting still works here."""
        for _ in range(int(lease.WATCH_SECONDS)):
            names = [path.name for path in folder.glob("running.*.json") if _RANK_LEASE.fullmatch(path.name)]
            living = [name for name in names if lease.is_running(folder, name)]
            if not living:
                for name in names:
                    (folder / name).unlink(missing_ok=True)
                return
            self._wait(1.0)
        raise UsageError(f"the batch in {folder} is still running", hint="wait for it, or end it first")

    def _written(self, new: bool) -> dict[str, Any]:
        """Writes down how the batch begins, or that it goes on."""
        plan = self._plan
        described = plan.to_json()
        batch: dict[str, Any] = {} if new else read_batch(plan.folder)
        if new:
            batch = {"format": FORMAT, "batch": new_id(), "tasks_file": str(plan.tasks_file), "sessions": []}
        batch |= {
            "plan": described,
            "seal": seal(config_folder(plan.settings.env), described),
            "versions": dict(versions(plan.registry)),
            "scheduler": plan.settings.core.scheduler,
            "jobs": plan.settings.core.batch.jobs,
        }
        now = datetime.datetime.now(datetime.UTC).isoformat(timespec="milliseconds")
        batch["sessions"].append({"session": new_id(), "began": now})
        write_batch(plan.folder, batch)
        return batch


def pending_tasks(folder: Path, ids: list[str]) -> list[BatchTask]:
    """Gives the tasks that are to be run, by what one process found."""
    wanted = set(ids)
    return [task for task in read_tasks(folder) if task.id in wanted]
