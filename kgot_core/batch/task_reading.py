"""Lets a short process read the task file, so that the process that solves never holds answers and levels."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import kgot_core
from kgot_core.batch.folder import is_batch, read_tasks, refuse_other_folder
from kgot_core.batch.plan import BatchPlan
from kgot_core.errors import KgotError, UsageError
from kgot_core.session.new_run import refuse_run_folder

# What Python needs to start; no key is among them.
_KEPT = ("PATH", "LD_LIBRARY_PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "SYSTEMROOT", "VIRTUAL_ENV")


class BadTasks(UsageError):
    """Rows of a task file are no tasks.

    Attributes:
        problems: What is wrong with each, after its place.
        short: The same without them.
    """

    def __init__(self, path: Path, problems: list[str]) -> None:
        self.path = path
        self.problems = problems
        self.short = (
            f"{len(problems)} problems in the task file {path}" if len(problems) > 1 else f"a problem in {path}"
        )
        super().__init__(f"{self.short}: {'; '.join(problems)}", hint="nothing has been started")

    def __reduce__(self) -> tuple[type[BadTasks], tuple[Path, list[str]]]:
        # A scheduler of several processes sends it to all of them.
        return BadTasks, (self.path, self.problems)


def check_tasks(plan: BatchPlan, goes_on: bool) -> None:
    """Makes sure that a batch's folder and task file can be used, before anything is opened, started or written.

    Args:
        plan: What the batch is begun with.
        goes_on: It is there already and was asked to go on.

    Raises:
        BadTasks: Rows of the file are no tasks.
        UsageError: The file or the folder cannot be used.
    """
    refuse_run_folder(plan.folder)
    refuse_other_folder(plan.folder)
    if not _all_there(plan, goes_on):
        _ask("check", plan)


def take_tasks(plan: BatchPlan, goes_on: bool) -> None:
    """Writes the tasks of the file into the batch's folder, and their truth aside.

    Args:
        plan: What the batch is begun with.
        goes_on: It is there already and was asked to go on.

    Raises:
        BadTasks: Rows of the file are no tasks.
        UsageError: The file or the folder cannot be used.
    """
    if not _all_there(plan, goes_on):
        beside = [path for path in plan.folder.parent.iterdir() if path != plan.folder and is_batch(path)]
        _ask("take", plan, beside)


def _all_there(plan: BatchPlan, goes_on: bool) -> bool:
    """Tells whether the task file is gone but its tasks are known: only new ones could not be added."""
    return goes_on and not plan.tasks_file.is_file() and bool(read_tasks(plan.folder))


def _ask(what: str, plan: BatchPlan, earlier: Iterable[Path] = ()) -> None:
    said = _ask_child([what, *(str(path) for path in (plan.tasks_file, plan.folder, *earlier))])
    if problems := said.get("problems"):
        raise BadTasks(plan.tasks_file, list(problems))
    if "error" in said:
        raise UsageError(str(said["error"]), hint=str(said["hint"]))


def _ask_child(arguments: list[str]) -> dict[str, Any]:
    """Gives what the process says."""
    package = str(Path(kgot_core.__file__).parents[1])
    path = os.pathsep.join([package, *filter(None, [os.environ.get("PYTHONPATH")])])
    env = {name: os.environ[name] for name in _KEPT if name in os.environ} | {"PYTHONPATH": path}
    command = [sys.executable, "-P", "-m", "kgot_core.batch.preparing", *arguments]
    # Ctrl-C is for the batch, which says that it was interrupted.
    done = subprocess.run(
        command, env=env, capture_output=True, text=True, encoding="utf-8", check=False, start_new_session=True
    )
    try:
        return dict(json.loads(done.stdout))
    except ValueError:
        last = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
        raise KgotError(f"the task file could not be read: {last}") from None
