"""How long a task will take, in seconds: as long as it took before, else as its level and attachments say."""

from __future__ import annotations

import re
import statistics
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from kgot_core.batch.checking import GivenTask
from kgot_core.batch.lines import read_lines

BASE = 60.0
PER_LEVEL = 60.0
PER_FILE = 30.0
LONGEST_QUESTION = 2_000
"""Only the order matters, so these are rough: a task of level 2 takes about twice as long as one of level 1."""


def estimate(task: GivenTask, earlier: Mapping[str, float]) -> float:
    """Estimates a task's duration in seconds.

    Args:
        task: The task.
        earlier: Seconds by a task's digest, from :func:`earlier_seconds`.
    """
    known = earlier.get(task.digest)
    if known is not None:
        return round(known, 1)
    level = level_number(task.truth.get("level"))
    words = min(len(task.question), LONGEST_QUESTION) / LONGEST_QUESTION
    return round(BASE + PER_LEVEL * (level - 1) + PER_FILE * len(task.files) + BASE / 2 * words, 1)


def level_number(level: Any) -> float:
    """Reads a level, ``2`` or ``Level 2``; 1 where there is no number in it."""
    found = re.search(r"\d+(\.\d+)?", str(level if level is not None else ""))
    return min(10.0, float(found.group())) if found else 1.0


def earlier_seconds(batches: Iterable[Path]) -> dict[str, float]:
    """Gives the seconds that tasks took in earlier batches, by digest; the median where there are several.

    Args:
        batches: Folders of batches; others among them are passed over.
    """
    found: dict[str, list[float]] = {}
    for folder in batches:
        for row in read_lines(folder / "results.jsonl"):
            seconds, digest = row.get("seconds"), row.get("digest")
            ended = row.get("status") not in ("failed", "cancelled")
            if ended and isinstance(digest, str) and isinstance(seconds, int | float) and seconds > 0:
                found.setdefault(digest, []).append(float(seconds))
    return {digest: statistics.median(seconds) for digest, seconds in found.items()}
