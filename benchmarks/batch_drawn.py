"""Draws batches of tasks that wait as real ones do: a few are much longer than the rest, and estimates are rough."""

from __future__ import annotations

import heapq
import random
from collections.abc import Iterable

TASKS, RANKS = (30, 100, 165), (2, 4, 8)
SIGMA, OFF = 0.8, 0.3


def drawn(tasks: int, ranks: int, seed: int, seconds: float) -> dict[str, list[float]]:
    """Draws durations and estimates, scaled so that the best order takes so many seconds."""
    rng = random.Random(seed)
    durations = [rng.lognormvariate(0, SIGMA) for _ in range(tasks)]
    guessed = [each * rng.lognormvariate(0, OFF) for each in durations]
    scale = seconds / in_order(sorted(durations, reverse=True), ranks)
    return {"durations": [each * scale for each in durations], "estimates": [each * scale for each in guessed]}


def in_order(durations: Iterable[float], ranks: int) -> float:
    """Gives the makespan where each rank that is free takes the next task."""
    free = [0.0] * ranks
    for seconds in durations:
        heapq.heapreplace(free, free[0] + seconds)
    return max(free)
