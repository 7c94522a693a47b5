"""The scheduler of a batch, by its settings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from kgot_core.batch.plan import BatchPlan
from kgot_core.batch.task_reading import check_tasks
from kgot_core.contracts.scheduler import Scheduler
from kgot_core.providers import SchedulerProvider
from kgot_core.session.checks import opened, ready_settings


def launched(plan: BatchPlan, goes_on: bool, first: Sequence[str], again: Sequence[str]) -> int | None:
    """Lets a scheduler that works in several processes start them.

    Args:
        plan: The batch.
        goes_on: It is there already and was asked to go on.
        first: Command line that begins it, program first.
        again: Command line that goes on with it.

    Returns:
        The exit code; ``None`` where this process is to run the batch itself.

    Raises:
        UsageError: The task file or the folder cannot be used, or the scheduler is not ready.
        PluginError: It is not installed.
    """
    provider = _provider(plan)
    launch = provider.launch
    if launch is None or provider.is_rank():
        return None
    # Before the scheduler itself, which may take long to find out what it lacks.
    check_tasks(plan, goes_on)
    values = ready_settings(plan.settings, provider)
    return opened(provider, lambda: launch(values, first, again))


def open_scheduler(plan: BatchPlan) -> Scheduler:
    """Opens the scheduler of a batch.

    Raises:
        UsageError: It is not ready.
        PluginError: It is not installed.
    """
    provider = _provider(plan)
    values = ready_settings(plan.settings, provider)
    return opened(provider, lambda: provider.open(values))


def _provider(plan: BatchPlan) -> SchedulerProvider:
    return cast(SchedulerProvider, plan.registry.get("scheduler", plan.settings.core.scheduler))
