"""What each rank of ``batch.py`` does: the same batches of tasks that wait, by kgot's scheduler or by another one.

Run by mpiexec. Arguments: ``kgot`` or ``pool``, and a JSON file with a list of batches, each with ``durations`` and
``estimates`` in seconds. The first rank prints one JSON line. With ``ray`` it is one process that starts Ray, and the
file has ``places`` and ``batches``.
"""

from __future__ import annotations

import functools
import json
import resource
import sys
import time
from pathlib import Path
from statistics import median
from typing import Any

from kgot_core.contracts.scheduler import Batch, ScheduleNote
from kgot_core.contracts.task import Answer, Task


def wait(seconds: float) -> Answer:
    """A task as most are: it waits."""
    time.sleep(seconds)
    return Answer("", "answered")


def by_kgot(batches: list[dict[str, list[float]]]) -> None:
    """Runs batches one after another over all ranks."""
    from mpi4py.MPI import COMM_WORLD as world

    from kgot_mpi.plugin import kgot_schedulers
    from kgot_mpi.settings import MpiSettings

    (provider,) = kgot_schedulers()
    scheduler = provider.open(MpiSettings())
    measured = []
    for batch in batches:
        durations, estimates = batch["durations"], batch["estimates"]
        tasks = [Task("q", id=str(number)) for number in range(len(durations))]
        notes: list[tuple[float, ScheduleNote]] = []
        scheduler.once(lambda: None)
        began, worked = time.monotonic(), time.process_time()
        for _ in scheduler.run(
            Batch(
                {},
                tasks,
                Path(),
                1,
                functools.partial(_wait_for, durations),
                estimates={task.id: seconds for task, seconds in zip(tasks, estimates, strict=True)},
                note=lambda note, notes=notes: notes.append((time.monotonic(), note)),
            )
        ):
            pass
        mine = {"began": began, "left": time.monotonic(), "work": time.process_time() - worked, **_looked_at(notes)}
        if (ranks := world.gather(mine)) is not None:
            measured.append(_together(ranks))
    memory = world.gather(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
    if memory is not None:
        said = {"transport": scheduler.transport, "batches": measured, "memory_mb": max(memory)}
        sys.stdout.write(json.dumps(said) + "\n")
    scheduler.close()


def _wait_for(durations: list[float], task: Task) -> Answer:
    return wait(durations[int(task.id)])


def _looked_at(notes: list[tuple[float, ScheduleNote]]) -> dict[str, Any]:
    """Finds what came between two tasks of this rank, which runs one at a time."""
    gaps: dict[str, list[float]] = {"own": [], "stolen": []}
    ended, stole, last = None, False, 0.0
    for at, note in notes:
        if note.kind == "ended":
            ended = last = at
        elif note.kind == "stole":
            stole = True
        elif note.kind == "started":
            if ended is not None:
                gaps["stolen" if stole else "own"].append(at - ended)
            stole = False
    return {"gaps": gaps, "last": last}


def _together(ranks: list[dict[str, Any]]) -> dict[str, Any]:
    began, last = min(rank["began"] for rank in ranks), max(rank["last"] for rank in ranks)
    left = max(rank["left"] for rank in ranks)
    stolen = [gap for rank in ranks for gap in rank["gaps"]["stolen"]]
    own = [gap for rank in ranks for gap in rank["gaps"]["own"]]
    return {
        "makespan": left - began,
        "last_to_exit": left - last,
        "idle_to_next": median(stolen) if stolen else None,
        "idle_to_own_next": median(own) if own else None,
        "steals": len(stolen),
        "processor_seconds": sum(rank["work"] for rank in ranks),
    }


def by_pool(batches: list[dict[str, list[float]]]) -> None:
    """Runs the same by mpi4py.futures, unordered; the first rank only hands out."""
    from mpi4py.futures import MPIPoolExecutor

    with MPIPoolExecutor() as pool:
        # The workers are there before the clock runs.
        for _ in pool.map(wait, [0.01] * 32):
            pass
        makespans = []
        for batch in batches:
            began = time.monotonic()
            for _ in pool.map(wait, batch["durations"], unordered=True):
                pass
            makespans.append(time.monotonic() - began)
    sys.stdout.write(json.dumps(makespans) + "\n")


def by_ray(places: int, batches: list[dict[str, list[float]]]) -> None:
    """Runs the same as tasks of Ray, in the order in which they stand."""
    import ray

    from kgot_ray.cluster import connected
    from kgot_ray.settings import RaySettings

    with connected(RaySettings(ranks=places)):
        task = ray.remote(num_cpus=1)(wait)
        # The workers are there before the clock runs.
        ray.get([task.remote(0.3) for _ in range(4 * places)])
        makespans = []
        for batch in batches:
            began = time.monotonic()
            ray.get([task.remote(seconds) for seconds in batch["durations"]])
            makespans.append(time.monotonic() - began)
    sys.stdout.write(json.dumps(makespans) + "\n")


if __name__ == "__main__":
    given = json.loads(Path(sys.argv[2]).read_text())
    match sys.argv[1]:
        case "kgot":
            by_kgot(given)
        case "pool":
            by_pool(given)
        case "ray":
            by_ray(given["places"], given["batches"])
