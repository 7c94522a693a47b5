"""A batch as lines for a person: live while it runs, and for ``kgot status``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kgot_core.batch.status import BatchState, RunningTask
    from kgot_core.contracts.task import Usage

MOST_SHOWN = 12
WIDTH = 40


def state_lines(state: BatchState) -> Iterator[str]:
    """Gives the state of a batch as lines."""
    yield head_line(state)
    yield usage_line(state)
    for task in state.tasks_running[:MOST_SHOWN]:
        yield f"  {task_line(task, len(state.ranks) > 1)}"
    if len(state.tasks_running) > MOST_SHOWN:
        yield f"  and {len(state.tasks_running) - MOST_SHOWN} more"
    if len(state.ranks) > 1:
        yield from rank_lines(state)


def head_line(state: BatchState) -> str:
    """Gives the numbers of tasks."""
    parts = [f"{state.done} of {state.tasks} done"]
    parts += [f"{len(state.tasks_running)} running"] if state.running else []
    parts += [f"{state.waiting} waiting"] if state.waiting else []
    parts += [f"{state.failed} failed"] if state.failed else []
    others = {name: number for name, number in state.statuses.items() if name not in ("answered", "failed")}
    parts += [f"{number} {name.replace('_', ' ')}" for name, number in others.items()]
    return " · ".join(parts)


def usage_line(state: BatchState) -> str:
    """Gives cost, tokens, time, rate and time left."""
    parts = [money(state.usage), f"{state.usage.input_tokens + state.usage.output_tokens:,} tokens"]
    parts.append(
        f"{duration(state.seconds)} so far" if state.running else f"the last sitting took {duration(state.seconds)}"
    )
    parts += [f"{state.per_minute:.1f} tasks a minute"] if state.per_minute else []
    parts += [f"about {duration(state.seconds_left)} left"] if state.seconds_left is not None else []
    return " · ".join(parts)


def task_line(task: RunningTask, with_rank: bool) -> str:
    """Gives a running task."""
    rank = f"rank {task.rank}: " if with_rank else ""
    cost = "" if not task.cost else f" · ${task.cost:.4f}"
    return f"{rank}{cut(task.task)} · {duration(task.seconds)} · {task.stage}{cost}"


def rank_lines(state: BatchState) -> Iterator[str]:
    """Gives each process."""
    for rank in state.ranks:
        how = f"{rank.running} running" if rank.alive else "ended" if not state.running else "gone"
        yield f"  rank {rank.rank} on {rank.host}: {how}, {rank.ended} ended"


def record_line(row: Mapping[str, Any], done: int, of: int, with_rank: bool) -> str:
    """Gives a task that has just ended."""
    cost = "cost unknown" if row["cost"] is None else f"${row['cost']:.4f}"
    place = f"rank {row['rank']}: {done}" if with_rank else f"{done} of {of}"
    why = f": {row['reason']}" if row["status"] == "failed" else ""
    return (
        f"{place} · {cut(row['task'])} {row['status'].replace('_', ' ')} after {duration(row['seconds'])} · {cost}{why}"
    )


def money(usage: Usage) -> str:
    """Gives what was spent."""
    return "cost unknown" if usage.unpriced else f"${usage.cost:.4f}"


def duration(seconds: float) -> str:
    """Gives seconds as a person says them."""
    if seconds < 60:
        return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes}:{rest:02d} min" if minutes < 60 else f"{minutes // 60}:{minutes % 60:02d} h"


def cut(task: str) -> str:
    """Gives a task's id, shortened."""
    flat = " ".join(task.split())
    return flat if len(flat) <= WIDTH else flat[: WIDTH - 3] + "..."
