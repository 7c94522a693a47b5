"""The scheduler of a batch, by its settings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from kgot_core.batch.plan import BatchPlan
from kgot_core.contracts.scheduler import Scheduler
from kgot_core.providers import SchedulerProvider
from kgot_core.session.checks import opened, ready_settings


def launched(plan: BatchPlan, first: Sequence[str], again: Sequence[str]) -> int | None:
    """Lets a scheduler that works in several processes start them.

    Args:
        plan: The batch.
        first: Command line that begins it, program first.
        again: Command line that goes on with it.

    Returns:
        The exit code; ``None`` where this process is to run the batch itself.

    Raises:
        UsageError: The scheduler is not ready.
        PluginError: It is not installed.
    """
    provider, values = _found(plan)
    launch = provider.launch
    return None if launch is None else opened(provider, lambda: launch(values, first, again))


def open_scheduler(plan: BatchPlan) -> Scheduler:
    """Opens the scheduler of a batch.

    Raises:
        UsageError: It is not ready.
        PluginError: It is not installed.
    """
    provider, values = _found(plan)
    return opened(provider, lambda: provider.open(values))


def _found(plan: BatchPlan) -> tuple[SchedulerProvider, Any]:
    provider = cast(SchedulerProvider, plan.registry.get("scheduler", plan.settings.core.scheduler))
    return provider, ready_settings(plan.settings, provider)
