"""The entry point: the scheduler ``mpi``."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from kgot_core.hookspecs import hookimpl
from kgot_core.providers import Problem, SchedulerProvider
from kgot_mpi.settings import MpiSettings

if TYPE_CHECKING:
    from kgot_core.contracts.scheduler import Scheduler


def check(settings: MpiSettings) -> Problem | None:
    """Tells what is missing, without starting MPI."""
    for key in ("ranks", "restarts"):
        if getattr(settings, key) < 0:
            return Problem(f"schedulers.mpi.{key} must not be below 0, but is {getattr(settings, key)}")
    if importlib.util.find_spec("mpi4py") is None:
        return Problem("mpi4py is not installed", "pip install 'mpi4py>=4.1,<5'")
    from kgot_mpi.library import problem

    return problem(settings)


def open_scheduler(settings: MpiSettings) -> Scheduler:
    """Starts MPI in this process."""
    from kgot_mpi.scheduler import MpiScheduler

    return MpiScheduler(settings)


def launch(settings: MpiSettings, first: Sequence[str], again: Sequence[str]) -> int | None:
    """Starts the ranks where ``ranks`` is set."""
    from kgot_mpi.launch import launch_ranks

    return launch_ranks(settings, first, again)


def is_rank() -> bool:
    """Tells whether a launcher started this process."""
    from kgot_mpi.library import is_rank

    return is_rank(os.environ)


@hookimpl
def kgot_schedulers() -> Iterable[SchedulerProvider]:
    """The scheduler ``mpi``."""
    return [
        SchedulerProvider(
            name="mpi",
            summary="The ranks of an MPI job, which take tasks from each other when they run dry.",
            settings=MpiSettings,
            check=check,
            open=open_scheduler,
            launch=launch,
            is_rank=is_rank,
        )
    ]
