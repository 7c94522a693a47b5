"""What a batch has used and what came out of it, summed over its tasks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from kgot_core.batch.folder import BatchTask
from kgot_core.contracts.task import Usage


def usage_of(rows: Iterable[Mapping[str, Any]]) -> Usage:
    """Sums what tasks have used.

    Args:
        rows: Their lines of results.
    """
    return sum((Usage(**row["usage"]) for row in rows), Usage())


def totals(
    tasks: Sequence[BatchTask], rows: Mapping[str, Mapping[str, Any]], sessions: Iterable[Mapping[str, Any]]
) -> dict[str, Any]:
    """Gives the totals of a batch.

    Args:
        tasks: Its tasks.
        rows: The lines of results by task.
        sessions: Its sittings, with their seconds.

    Returns:
        ``tasks``; ``statuses``: how many ended in which way; ``usage``; ``cost`` in dollars, ``None`` where a price is
        unknown; ``seconds``: wall time of all sittings; ``task_seconds``: of all tasks together.
    """
    usage = usage_of(rows.values())
    return {
        "tasks": len(tasks),
        "statuses": dict(sorted(Counter(str(row["status"]) for row in rows.values()).items())),
        "usage": asdict(usage),
        "cost": None if usage.unpriced else round(usage.cost, 6),
        "seconds": round(sum(float(sitting.get("seconds", 0.0)) for sitting in sessions), 3),
        "task_seconds": round(sum(float(row["seconds"]) for row in rows.values()), 3),
    }
