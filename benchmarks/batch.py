"""Measures how long a batch takes over ranks, beside other ways to schedule the same tasks.

The tasks wait, as real ones do. Their durations are drawn from a heavy-tailed distribution (lognormal, sigma 0.8) and
scaled so that the best order would take a few seconds; estimates are off by a lognormal factor of sigma 0.3. Seeds are
0, 1, 2, and so on. All figures are medians over the seeds, in seconds:

- ``makespan``: from the first rank's start to the last rank's end, measured over real ranks;
- ``oracle_makespan``: longest first by the true durations, worked out without any overhead;
- ``static_makespan``: dealt evenly and left so, worked out;
- ``pool_executor_makespan``: ``mpi4py.futures.MPIPoolExecutor``, unordered, with as many workers and one rank more that
  hands out, measured;
- ``bound``: what no schedule can beat, max(total / ranks, longest);
- ``speedup``: over one rank, which takes the total; ``efficiency``: that by the ranks;
- ``idle_to_next``: from the end of a task to the start of the next one where that was stolen, ``idle_to_own_next``
  where not; ``last_to_exit``: from the end of the last task to the exit of the last rank;
- ``processor_load``: processor seconds of all ranks by the seconds of all ranks.

``--simulate`` plays the same batches in simulated time, without anything that takes time, and larger ones.
"""

from __future__ import annotations

import argparse
import contextlib
import heapq
import json
import random
import subprocess
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from kgot_mpi.deal import Deal, longest_first
from kgot_mpi.launch import launcher_environment, launcher_options
from kgot_mpi.library import launcher_flavour, launcher_path, problem
from kgot_mpi.settings import MpiSettings
from kgot_mpi.simulation import Simulation
from kgot_mpi.stealing import Stealing

RANKS_FILE = Path(__file__).with_name("batch_ranks.py")
TASKS, RANKS = (30, 100, 165), (2, 4, 8)
SIGMA, OFF = 0.8, 0.3
MINUTES = 20
SHORT_TASKS = 1_000


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


def on_ranks(what: str, ranks: int, batches: Sequence[Mapping[str, Any]]) -> Any:
    """Runs batches over real ranks and gives what the first one printed."""
    settings = MpiSettings(ranks=ranks)
    if found := problem(settings):
        sys.exit(f"{found.message}: {found.hint}")
    launcher = str(launcher_path(settings))
    runner = ["-m", "mpi4py.futures"] if what == "pool" else []
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "batches.json")
        file.write_text(json.dumps(batches))
        command = [launcher, *launcher_options(settings, launcher_flavour(launcher))]
        command += [sys.executable, *runner, str(RANKS_FILE), what, str(file)]
        environment = launcher_environment()
        done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, timeout=60 * MINUTES)
    if done.returncode:
        sys.exit(f"the ranks ended with {done.returncode}: {' '.join(command)}")
    return json.loads(done.stdout.splitlines()[-1])


def compare(tasks: int, ranks: int, seeds: int, seconds: float) -> dict[str, Any]:
    """Measures one size."""
    batches = [drawn(tasks, ranks, seed, seconds) for seed in range(seeds)]
    ours = on_ranks("kgot", ranks, batches)
    pool = on_ranks("pool", ranks + 1, batches)
    rows = []
    for batch, measured, pooled in zip(batches, ours["batches"], pool, strict=True):
        durations = batch["durations"]
        oracle = in_order(sorted(durations, reverse=True), ranks)
        rows.append(
            measured
            | {
                "oracle_makespan": oracle,
                "to_oracle": measured["makespan"] / oracle,
                "static_makespan": max(sum(durations[rank::ranks]) for rank in range(ranks)),
                "pool_executor_makespan": pooled,
                "to_pool_executor": measured["makespan"] / pooled,
                "bound": max(sum(durations) / ranks, max(durations)),
                "speedup": sum(durations) / measured["makespan"],
                "efficiency": sum(durations) / measured["makespan"] / ranks,
                "processor_load": measured["processor_seconds"] / measured["makespan"] / ranks,
            }
        )
    medians = {key: middle(row[key] for row in rows) for key in rows[0]}
    worst = max(row["last_to_exit"] for row in rows)
    return {"tasks": tasks, "ranks": ranks, "seeds": seeds, **medians, "last_to_exit_worst": worst} | {
        "transport": ours["transport"]
    }


def middle(values: Iterable[float | None]) -> float | None:
    """Gives the median of the values that are there."""
    there = [value for value in values if value is not None]
    return median(there) if there else None


def short_tasks() -> dict[str, Any]:
    """Measures the scheduler's own work with tasks that do nothing."""
    empty = {"durations": [0.0] * SHORT_TASKS, "estimates": [1.0] * SHORT_TASKS}
    few, many = (on_ranks("kgot", 4, [empty] * times) for times in (1, 10))
    work = [batch["processor_seconds"] for batch in many["batches"]]
    return {
        "tasks": SHORT_TASKS,
        "processor_ms_a_task": 1000 * median(work) / SHORT_TASKS,
        "memory_mb_after_one": few["memory_mb"],
        "memory_mb_after_ten": many["memory_mb"],
    }


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


def table(rows: Sequence[Mapping[str, Any]]) -> str:
    """Writes rows as columns."""
    if not rows:
        return ""
    shown = [[_short(row[key]) for key in rows[0]] for row in rows]
    widths = [max(len(name), *(len(line[at]) for line in shown)) for at, name in enumerate(rows[0])]
    lines = [list(rows[0]), *shown]
    return "\n".join("  ".join(text.rjust(width) for text, width in zip(line, widths, strict=True)) for line in lines)


def _short(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="three seeds and shorter tasks: within three minutes")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--simulate", action="store_true", help="play batches in simulated time, also large ones")
    chosen = parser.parse_args()
    result: dict[str, Any] = {}
    if chosen.simulate:
        sizes = [(100, 10_000), (1_000, 20_000)] if chosen.quick else [(100, 100_000), (1_000, 100_000), (1_000, 10**6)]
        result["simulated_orders"] = [_said(simulated_orders(tasks, ranks)) for tasks in TASKS for ranks in RANKS]
        result["simulated"] = [_said(simulate(*size)) for size in sizes]
    else:
        seeds, seconds = (3, 1.5) if chosen.quick else (20, 3.0)
        sizes = [(tasks, ranks) for tasks in TASKS for ranks in RANKS]
        result["batches"] = [_said(compare(*size, seeds, seconds)) for size in sizes]
        result["short_tasks"] = [_said(short_tasks())]
    if chosen.json:
        print(json.dumps(result, indent=2))
        return
    for name, rows in result.items():
        print(f"{name}\n{table(rows)}\n")


def _said(row: dict[str, Any]) -> dict[str, Any]:
    """Shows on the error output how far it is."""
    print(" ".join(f"{key}={_short(value)}" for key, value in list(row.items())[:6]), file=sys.stderr)
    return row


if __name__ == "__main__":
    main()
