"""The entry point: the scheduler ``ray``."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from kgot_core.hookspecs import hookimpl
from kgot_core.providers import Problem, SchedulerProvider
from kgot_ray.settings import RaySettings

if TYPE_CHECKING:
    from kgot_core.contracts.scheduler import Scheduler


def check(settings: RaySettings) -> Problem | None:
    """Tells what is missing, without importing Ray."""
    for key in ("ranks", "restarts", "cpus", "room_seconds"):
        if getattr(settings, key) < 0:
            return Problem(f"schedulers.ray.{key} must not be below 0, but is {getattr(settings, key)}")
    if importlib.util.find_spec("ray") is None:
        return Problem("ray is not installed", "pip install 'ray>=2.50,<3'")
    return None


def open_scheduler(settings: RaySettings) -> Scheduler:
    """Opens the scheduler of this process."""
    from kgot_ray.place import open_rank

    return open_rank()


def launch(settings: RaySettings, first: Sequence[str], again: Sequence[str]) -> int | None:
    """Starts the ranks where ``ranks`` is set."""
    if not settings.ranks:
        return None
    from kgot_ray.launch import launch_ranks

    return launch_ranks(settings, first)


def is_rank() -> bool:
    """Tells whether this process was started as a rank."""
    from kgot_ray.place import is_rank

    return is_rank()


@hookimpl
def kgot_schedulers() -> Iterable[SchedulerProvider]:
    """The scheduler ``ray``."""
    return [
        SchedulerProvider(
            name="ray",
            summary="Tasks of a Ray cluster, which take the questions from one queue.",
            settings=RaySettings,
            check=check,
            open=open_scheduler,
            launch=launch,
            is_rank=is_rank,
        )
    ]
