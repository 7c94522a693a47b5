"""Plays batches in simulated time, by the same stealing code that runs over MPI: their order alone, and large ones."""

from __future__ import annotations

import contextlib
import random
import time
import tracemalloc
from statistics import median
from typing import Any

from batch_drawn import OFF, SIGMA, drawn

from kgot_mpi.deal import Deal, longest_first
from kgot_mpi.simulation import Simulation
from kgot_mpi.stealing import Stealing


def simulated_orders(tasks: int, ranks: int, seeds: int = 20) -> dict[str, Any]:
    """Plays the batches that are measured without anything that takes time: how good their order is."""
    ratios = []
    for seed in range(seeds):
        batch = drawn(tasks, ranks, seed, 1.0)
        guessed = {str(number): seconds for number, seconds in enumerate(batch["estimates"])}
        order = longest_first(list(guessed), guessed)
        ratios.append(Simulation(order, batch["durations"], ranks).play().makespan)
    return {"tasks": tasks, "ranks": ranks, "seeds": seeds, "to_oracle": median(ratios), "to_oracle_worst": max(ratios)}


def simulate(ranks: int, tasks: int) -> dict[str, Any]:
    """Plays a large batch of tasks of about a minute, with messages of up to 5 ms each way."""
    rng = random.Random(0)
    durations = [60 * rng.lognormvariate(0, SIGMA) for _ in range(tasks)]
    guessed = {str(number): seconds * rng.lognormvariate(0, OFF) for number, seconds in enumerate(durations)}
    ids = list(guessed)
    tracemalloc.start()
    order = longest_first(ids, guessed)
    deal = Deal(order, ranks)
    thief = Stealing(deal, ranks - 1)
    # Its own queue is empty, so it looks at all others: the most that it ever knows.
    steps = thief.claim()
    for place in range(deal.size(ranks - 1)):
        next(steps)
        with contextlib.suppress(StopIteration):
            steps.send((place,))
        steps = thief.claim()
    next(steps)
    memory = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    began = time.monotonic()
    played = Simulation(order, durations, ranks, latency=0.005).play()
    assert played.over and len(played.ended) == tasks and all(len(by) == 1 for by in played.started.values())
    return {
        "ranks": ranks,
        "tasks": tasks,
        "makespan": played.makespan,
        "to_bound": played.makespan / max(sum(durations) / ranks, max(durations)),
        "efficiency": sum(durations) / ranks / played.makespan,
        "messages": played.messages,
        "messages_a_task": played.messages / tasks,
        "steals": played.steals,
        "seconds_a_steal": played.idle / max(1, played.steals),
        "memory_mb_a_rank": memory / 2**20,
        "seconds_to_simulate": time.monotonic() - began,
    }
