"""What a batch costs beside its tasks: processor time, memory, files and threads over a thousand short tasks.

``python benchmarks/batch_overhead.py [--quick] [--json]``. Three layers, each with everything of the one before:

* ``scheduler``: the scheduler ``local`` with tasks that do nothing;
* ``records``: the same, with schedule, status and results written;
* ``batch``: whole runs, each with a folder, a journal and one request to a scripted model in this process.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

from kgot_core.batch.folder import BatchTask
from kgot_core.batch.lines import Appender
from kgot_core.batch.plan import BatchPlan
from kgot_core.batch.results import rank_file, result_row
from kgot_core.batch.running import BatchRun
from kgot_core.batch.watching import RankWatch
from kgot_core.contracts.scheduler import Batch
from kgot_core.contracts.task import Answer, Task
from kgot_core.schedulers.local import LocalScheduler
from kgot_core.session.library import load_settings

JOBS = 8
PLUGIN = """
from langchain_core.language_models.fake_chat_models import FakeListChatModel

from kgot_core import hookimpl
from kgot_core.contracts.strategy import Strategy
from kgot_core.contracts.task import Outcome
from kgot_core.providers import StrategyProvider


class AskOnce(Strategy):
    async def run(self, run):
        reply = await run.ask("answer", "direct", run.task.question)
        return Outcome(reply.completions[0].text, "answered", how="asked")


def model():
    return FakeListChatModel(responses=["42"])  # unlike the scripted model it remembers no request


@hookimpl
def kgot_strategies():
    return [StrategyProvider(name="ask_once", summary="Asks once.", open=lambda settings: AskOnce())]
"""


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="300 tasks instead of 1,000")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args()
    count = 300 if options.quick else 1000
    with tempfile.TemporaryDirectory(prefix="kgot-benchmark-") as name:
        folder = Path(name)
        found = {
            "tasks": count,
            "jobs": JOBS,
            "scheduler": _measured(lambda: _schedule(folder, count)),
            "records": _measured(lambda: _record(folder, count)),
            "batch": _batch(folder, count),
        }
    for layer in ("scheduler", "records", "batch"):
        found[layer]["cpu_ms_per_task"] = round(1000 * found[layer].pop("cpu") / count, 3)
    if options.json:
        print(json.dumps(found, indent=2))
        return
    print(f"{count} tasks, {JOBS} at once")
    for layer in ("scheduler", "records", "batch"):
        values = found[layer]
        print(f"  {layer:<10} {values['cpu_ms_per_task']:8.3f} ms of processor time a task, {values['makespan']:.2f} s")
    growth = found["batch"]["growth"]
    print("  from the tenth part of the tasks to their end: " + ", ".join(f"{k} {v:+g}" for k, v in growth.items()))


def _measured(work: Callable[[], object]) -> dict[str, Any]:
    began, cpu = time.monotonic(), time.process_time()
    work()
    return {"cpu": time.process_time() - cpu, "makespan": round(time.monotonic() - began, 3)}


def _schedule(folder: Path, count: int) -> None:
    tasks = [Task("?", id=f"task-{number}") for number in range(count)]
    done = Answer("42", "answered")
    assert sum(1 for _ in LocalScheduler().run(Batch({}, tasks, folder, JOBS, lambda task: done))) == count


def _record(folder: Path, count: int) -> None:
    tasks = {f"t{number}": BatchTask(f"t{number}", "?", (), f"t{number}", 60.0, "0" * 16) for number in range(count)}
    done = Answer("42", "answered")
    watch = RankWatch(folder, "session", 0, 1)
    with closing(watch), closing(Appender(rank_file(folder, "results", 0))) as results:

        def work(task: Task) -> Answer:
            with watch.running(task.id):
                return done

        batch = Batch({}, [task.task for task in tasks.values()], folder, JOBS, work, note=watch.note)
        for record in LocalScheduler().run(batch):
            results.append(result_row(record, tasks[record.task], time.time()))


def _batch(folder: Path, count: int) -> dict[str, Any]:
    (folder / "overhead_parts.py").write_text(PLUGIN)
    sys.path.insert(0, str(folder))
    tasks = folder / "tasks.jsonl"
    rows = ({"id": f"task-{number}", "question": f"What is {number} plus 42?"} for number in range(count))
    tasks.write_text("".join(json.dumps(row) + "\n" for row in rows))
    overrides = ["strategy=ask_once", "models.graph=import:overhead_parts:model", "sandbox=monty", "backend=networkx"]
    registry, settings = load_settings({**os.environ}, folder, [*overrides, f"batch.jobs={JOBS}"], ["overhead_parts"])
    seen: list[dict[str, float]] = []

    def ended(row: Any) -> None:
        assert row["status"] == "answered", row["reason"]
        seen.append({})
        if len(seen) in (count // 10, count):
            seen[-1] = _held()

    run = BatchRun(BatchPlan(folder / "out", tasks, registry, settings), on_record=ended)
    found = _measured(run.run)
    first, last = seen[count // 10 - 1], seen[-1]
    return {**found, "growth": {name: round(last[name] - first[name], 3) for name in last}}


def _held() -> dict[str, float]:
    """Gives what this process holds: memory in MiB, open files, threads."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return {
        "memory_mib": pages * os.sysconf("SC_PAGE_SIZE") / 2**20,
        "open_files": float(len(list(Path("/proc/self/fd").iterdir()))),
        "threads": float(threading.active_count()),
    }


if __name__ == "__main__":
    main()
