"""How long a batch will take still: its estimates, set right by how long the tasks took that have ended."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any


def seconds_left(tasks: Iterable[tuple[float, float]], ended: Iterable[Mapping[str, Any]], slots: int) -> float | None:
    """Estimates the time until the last task ends.

    Args:
        tasks: Of each task that is running or waiting its estimate and for how long it has run, in seconds.
        ended: Lines of results of this sitting.
        slots: How many tasks run at once.

    Returns:
        Seconds; ``None`` where no task has ended yet.
    """
    took, thought = 0.0, 0.0
    for row in ended:
        took += float(row["seconds"])
        thought += float(row["estimate"])
    if thought <= 0:
        return None
    left = [max(0.0, estimate * took / thought - ran) for estimate, ran in tasks]
    return round(max(sum(left) / slots, max(left, default=0.0)), 1)
