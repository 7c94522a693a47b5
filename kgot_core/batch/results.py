"""What became of the tasks: a line for each in the file of the rank that ran it, and all of them in one at the end."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from kgot_core.batch.folder import RESULTS, BatchTask
from kgot_core.batch.lines import read_lines, to_lines, write_whole
from kgot_core.contracts.scheduler import TaskRecord
from kgot_core.contracts.task import Usage
from kgot_core.run.broken_off import OPEN
from kgot_core.run.ending import answer_to_json

_RANK_FILE = re.compile(r"results\.\d+\.jsonl")


def rank_file(folder: Path, what: str, rank: int, ending: str = "jsonl") -> Path:
    """Gives a file of one rank: ``results.0.jsonl``, ``schedule.0.jsonl``, ``rank.0.json``."""
    return folder / f"{what}.{rank}.{ending}"


def result_row(record: TaskRecord, task: BatchTask, ended: float) -> dict[str, Any]:
    """Gives a task's record as its line says it.

    Args:
        record: The scheduler's record.
        task: The task.
        ended: When it ended, in seconds since the epoch.
    """
    # What the answer rests on stands in the task's own folder.
    answer = {name: value for name, value in answer_to_json(record.answer).items() if name != "evidence"}
    return {
        "task": record.task,
        **answer,
        "folder": task.folder,
        "rank": record.rank,
        "ended": round(ended, 3),
        "seconds": round(record.seconds, 3),
        "estimate": task.estimate,
        "digest": task.digest,
    }


def is_final(row: Mapping[str, Any]) -> bool:
    """Tells whether a task need not be run again: it was neither cancelled nor failed."""
    return row.get("status") not in OPEN


class Results:
    """The last word on each task, folded from lines in any order of files.

    A task may have several lines: it was interrupted and went on later. Its seconds are those of all of them.
    """

    def __init__(self) -> None:
        self.rows: dict[str, dict[str, Any]] = {}

    def take(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Takes lines in."""
        for row in rows:
            if not isinstance(row.get("task"), str) or not isinstance(row.get("seconds"), int | float):
                continue
            before = self.rows.get(row["task"])
            if before is None:
                self.rows[row["task"]] = dict(row)
            else:
                # A final one stands, else the later one does.
                last = max(before, row, key=lambda found: (is_final(found), found.get("ended", 0.0)))
                self.rows[row["task"]] = {**last, "seconds": round(before["seconds"] + row["seconds"], 3)}


def rank_files(folder: Path) -> Iterator[Path]:
    """Gives the ranks' files of results."""
    return (path for path in sorted(folder.glob("results.*.jsonl")) if _RANK_FILE.fullmatch(path.name))


def read_results(folder: Path) -> dict[str, dict[str, Any]]:
    """Gives the last word on each task that has one, from the ranks' files."""
    results = Results()
    for path in rank_files(folder):
        results.take(read_lines(path))
    return results.rows


def usage_by_folder(folder: Path, rank: int) -> dict[Hashable, Usage]:
    """Gives what the tasks had used of which a rank's file has a line, by their folders."""
    rows = read_lines(rank_file(folder, "results", rank))
    return {folder / row["folder"]: Usage(**row["usage"]) for row in rows if "usage" in row}


def write_results(folder: Path, tasks: Iterable[BatchTask]) -> dict[str, dict[str, Any]]:
    """Merges the ranks' files: one line a task that has ended, in the tasks' order.

    Returns:
        The lines by task.
    """
    rows = read_results(folder)
    ended = {task.id: rows[task.id] for task in tasks if task.id in rows and rows[task.id]["status"] != "cancelled"}
    write_whole(folder / RESULTS, to_lines(ended.values()))
    return ended
