"""Measures how long a batch takes over ranks, beside other ways to schedule the same tasks.

The tasks wait, as real ones do. Their durations are drawn from a heavy-tailed distribution (lognormal, sigma 0.8) and
scaled so that the best order would take 1.5 seconds; estimates are off by a lognormal factor of sigma 0.3. Seeds are
0, 1, 2, and so on. All figures are medians over the seeds, in seconds:

- ``makespan``: from the first rank's start to the last rank's end, measured over real ranks;
- ``oracle_makespan``: longest first by the true durations, worked out without any overhead;
- ``static_makespan``: dealt evenly and left so, worked out;
- ``pool_executor_makespan``: ``mpi4py.futures.MPIPoolExecutor``, unordered, with as many workers and one rank more that
  hands out, measured;
- ``ray_makespan``: the same tasks submitted to Ray, on a Ray of this machine with as many places, measured;
- ``bound``: what no schedule can beat, max(total / ranks, longest);
- ``one_rank_to_total``: what one rank of our own takes for the first seed, by the sum of the durations, measured;
- ``speedup``, ``pool_executor_speedup``, ``ray_speedup``, ``static_speedup``: over that one rank; ``efficiency``: ours
  by the ranks;
- ``idle_to_next``: from the end of a task to the start of the next one where that was stolen, ``idle_to_own_next``
  where not; ``last_to_exit``: from the end of the last task to the exit of the last rank;
- ``processor_load``: processor seconds of all ranks by the seconds of all ranks.

``--draw FILE`` draws the speed-ups beside the paper's figure 10. ``--simulate`` plays the same batches in simulated
time, without anything that takes time, and larger ones.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from batch_drawn import RANKS, TASKS, drawn, in_order
from batch_figure import draw
from batch_simulated import simulate, simulated_orders

from kgot_mpi.launch import launcher_environment, launcher_options
from kgot_mpi.library import launcher_flavour, launcher_path, problem
from kgot_mpi.settings import MpiSettings

RANKS_FILE = Path(__file__).with_name("batch_ranks.py")
MINUTES = 20
SECONDS = 1.5
"""What the best order of a batch would take."""
SHORT_TASKS = 1_000


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
        return printed(command, environment)


def on_ray(places: int, batches: Sequence[Mapping[str, Any]]) -> list[float]:
    """Runs batches on a Ray of this machine and gives their makespans."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "batches.json")
        file.write_text(json.dumps({"places": places, "batches": batches}))
        makespans: list[float] = printed([sys.executable, str(RANKS_FILE), "ray", str(file)])
    return makespans


def printed(command: Sequence[str], environment: Mapping[str, str] | None = None) -> Any:
    """Runs a program and gives the JSON of the last line that it printed."""
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, timeout=60 * MINUTES)
    if done.returncode:
        sys.exit(f"the ranks ended with {done.returncode}: {' '.join(command)}")
    return json.loads(done.stdout.splitlines()[-1])


def compare(tasks: int, ranks: int, seeds: int, seconds: float) -> dict[str, Any]:
    """Measures one size."""
    batches = [drawn(tasks, ranks, seed, seconds) for seed in range(seeds)]
    ours = on_ranks("kgot", ranks, batches)
    pool = on_ranks("pool", ranks + 1, batches)
    ray = on_ray(ranks, batches)
    one_rank = on_ranks("kgot", 1, batches[:1])["batches"][0]["makespan"] / sum(batches[0]["durations"])
    rows = []
    for batch, measured, pooled, rayed in zip(batches, ours["batches"], pool, ray, strict=True):
        durations = batch["durations"]
        alone = one_rank * sum(durations)
        oracle = in_order(sorted(durations, reverse=True), ranks)
        static = max(sum(durations[rank::ranks]) for rank in range(ranks))
        rows.append(
            measured
            | {
                "oracle_makespan": oracle,
                "to_oracle": measured["makespan"] / oracle,
                "static_makespan": static,
                "pool_executor_makespan": pooled,
                "to_pool_executor": measured["makespan"] / pooled,
                "ray_makespan": rayed,
                "to_ray": measured["makespan"] / rayed,
                "bound": max(sum(durations) / ranks, max(durations)),
                "one_rank_to_total": one_rank,
                "speedup": alone / measured["makespan"],
                "pool_executor_speedup": alone / pooled,
                "ray_speedup": alone / rayed,
                "static_speedup": alone / static,
                "efficiency": alone / measured["makespan"] / ranks,
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
    parser.add_argument("--quick", action="store_true", help="three seeds and three sizes: within three minutes")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--simulate", action="store_true", help="play batches in simulated time, also large ones")
    parser.add_argument("--draw", type=Path, metavar="FILE", help="draw the speed-ups into an SVG or PNG file")
    chosen = parser.parse_args()
    result: dict[str, Any] = {}
    if chosen.simulate:
        sizes = [(100, 10_000), (1_000, 20_000)] if chosen.quick else [(100, 100_000), (1_000, 100_000), (1_000, 10**6)]
        result["simulated_orders"] = [_said(simulated_orders(tasks, ranks)) for tasks in TASKS for ranks in RANKS]
        result["simulated"] = [_said(simulate(*size)) for size in sizes]
    else:
        seeds = 3 if chosen.quick else 20
        sizes = (
            [(30, 8), (100, 8), (165, 4)] if chosen.quick else [(tasks, ranks) for tasks in TASKS for ranks in RANKS]
        )
        result["batches"] = [_said(compare(*size, seeds, SECONDS)) for size in sizes]
        result["short_tasks"] = [_said(short_tasks())]
        if chosen.draw:
            draw(result["batches"], chosen.draw)
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
