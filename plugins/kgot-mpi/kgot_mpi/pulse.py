"""Whether a batch still goes on. Pure: time is given."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

SHOWN = 5


@dataclass(frozen=True)
class Report:
    """What a rank says of itself.

    Attributes:
        rank: The rank.
        changes: How many tasks it has started and ended so far, added up.
        running: Ids of the tasks that it runs.
    """

    rank: int
    changes: int
    running: tuple[str, ...]


class Pulse:
    """Watches the reports of all ranks, on one of them.

    Args:
        ranks: The ranks that report.
        patience: Seconds without any change after which the batch is stuck.
        now: The time, in seconds.
    """

    def __init__(self, ranks: Iterable[int], patience: float, now: float) -> None:
        self._patience = patience
        self._heard = dict.fromkeys(ranks, now)
        self._reports: dict[int, Report] = {}
        self._changed = now

    def report(self, report: Report, now: float) -> None:
        """Takes a report."""
        before = self._reports.get(report.rank)
        if report.changes != (before.changes if before else 0):
            self._changed = now
        self._reports[report.rank] = report
        self._heard[report.rank] = now

    def diagnosis(self, now: float) -> str:
        """Says who does what where the batch is stuck; empty where it goes on."""
        if now - self._changed < self._patience:
            return ""
        silent = {rank: now - heard for rank, heard in self._heard.items() if now - heard > self._patience / 2}
        lines = [f"rank {rank} was not heard of for {seconds:.0f} s" for rank, seconds in sorted(silent.items())]
        lines += [_doing(report) for rank, report in sorted(self._reports.items()) if report.running]
        return f"no task has started or ended for {now - self._changed:.0f} s: {_some(lines, 'ranks')}"


def _doing(report: Report) -> str:
    return f"rank {report.rank} runs {_some(report.running, 'tasks')}"


def _some(names: Iterable[str], what: str) -> str:
    listed = list(names)
    more = f" and {len(listed) - SHOWN} more {what}" if len(listed) > SHOWN else ""
    return (", ".join(listed[:SHOWN]) or "no rank runs any") + more
