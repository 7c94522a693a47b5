"""One rank of a real batch, started by the MPI's launcher; each of its tasks asks the desk of the test and waits.

Its argument is JSON: ``folder``, ``door`` of the desk, ``tasks``, ``jobs``, ``settings`` of the scheduler and more.
A task that ended before, in this process or an earlier one, does not ask again: its file says that it is done.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
from dataclasses import asdict
from pathlib import Path

from kgot_core.contracts.scheduler import Batch, ScheduleNote, Scheduler
from kgot_core.contracts.task import Answer, Task
from kgot_core.errors import KgotError
from kgot_mpi.plugin import kgot_schedulers
from kgot_mpi.settings import MpiSettings

SPEC = json.loads(sys.argv[1])
FOLDER = Path(SPEC["folder"])
FAILED = 1


def ask(**said: object) -> str:
    """Tells the desk something and waits for its answer; the desk may hang up instead."""
    with socket.socket(socket.AF_UNIX) as line:
        line.connect(SPEC["door"])
        line.sendall(json.dumps(said).encode() + b"\n")
        return line.makefile().readline().strip()


def main() -> int:
    """Runs the batch as this rank."""
    (provider,) = kgot_schedulers()
    scheduler: Scheduler = provider.open(MpiSettings(**SPEC["settings"]))
    notes: list[ScheduleNote] = []
    stopped: list[bool] = []

    if SPEC.get("signals"):
        signal.signal(signal.SIGUSR1, lambda *_: (stopped.append(True), ask(signalled=scheduler.rank)))

    def work(task: Task) -> Answer:
        done = FOLDER / f"{task.id}.done"
        if not done.exists():
            reply = ask(task=task.id, rank=scheduler.rank, pid=os.getpid(), host=socket.gethostname())
            if reply == "raise":
                raise ValueError(f"{task.id} cannot be done")
            if reply == "stop":
                stopped.append(True)
            if reply != "go":
                return Answer("", "cancelled")
            done.write_text(str(scheduler.rank))
        return Answer(f"answer to {task.id}", "answered")

    def interrupt() -> None:
        if not SPEC.get("signals"):
            ask(interrupted=scheduler.rank)

    try:
        told = scheduler.once(lambda: {"rank": scheduler.rank, "pid": os.getpid()})
        if SPEC.get("alone") == scheduler.rank:
            raise RuntimeError("this rank fails outside of any task")
        tasks = [Task("q", id=name) for name in SPEC["tasks"]]
        batch = Batch({}, tasks, FOLDER, SPEC["jobs"], work, lambda: bool(stopped), SPEC.get("estimates", {}))
        batch = Batch(**{**vars(batch), "note": notes.append, "patience": SPEC["patience"], "interrupt": interrupt})
        records = [(record.task, record.answer.status, record.answer.reason) for record in scheduler.run(batch)]
        last = scheduler.once(lambda: scheduler.rank)
    except KgotError as error:
        (FOLDER / f"rank-{scheduler.rank}.json").write_text(json.dumps({"error": str(error)}))
        scheduler.close()
        return FAILED
    except RuntimeError:
        scheduler.close()
        raise
    scheduler.close()
    said = {
        "once": told,
        "last": last,
        "host": socket.gethostname(),
        "ranks": scheduler.ranks,
        "transport": getattr(scheduler, "transport", ""),
        "records": records,
        "notes": [asdict(note) for note in notes],
    }
    (FOLDER / f"rank-{scheduler.rank}.json").write_text(json.dumps(said))
    return 0


if __name__ == "__main__":
    sys.exit(main())
