"""Runs and batches that are killed, and what is looked at afterwards."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

import t3

from kgot_core.run.record.folder import read_records
from kgot_core.run.record.recorded import standing

HERE = Path(__file__).parent
ARGUMENTS = ["--quiet", "--model", "import:t3:model", "--backend", "networkx", "--set", "sandbox=monty"]
KILLED = -9
Command: TypeAlias = Callable[..., tuple[int, str]]
TASKS = 10
BATCH = ["batch", "tasks.jsonl", "--out", "runs", "--jobs", str(TASKS), *ARGUMENTS[1:]]


def write_tasks(folder: Path) -> None:
    """Writes a task file with ten tasks."""
    tasks = [{"id": f"run-{number}", "question": f"{t3.QUESTION} (run {number})"} for number in range(TASKS)]
    (folder / "tasks.jsonl").write_text("".join(json.dumps(task) + "\n" for task in tasks))


def environment(folder: Path, **variables: str) -> dict[str, str]:
    """Gives an environment with the tests' model, in which requests are noted in the file ``paid`` of a folder."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("KGOT_", "OPENAI_"))}
    own = {
        "KGOT_CONFIG_DIR": str(folder / "config"),
        "PYTHONPATH": os.pathsep.join([str(HERE), *sys.path]),
        "PAID": str(folder / "paid"),
    }
    return {**kept, **own, **variables}


def kgot(folder: Path, *arguments: str, **variables: str) -> tuple[int, str]:
    """Runs a command to its end, as a program; gives its exit code and what it said."""
    done = subprocess.run(
        [sys.executable, "-m", "kgot_core", *arguments],
        cwd=folder,
        env=environment(folder, **variables),
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=300,
    )
    return done.returncode, done.stdout


def ended(run: Path) -> bytes:
    """Gives a run's answer without its id, after a look at its record."""
    records = list(read_records(run))
    finished = [record["answer"] for record in records if record["kind"] == "run_finished"]
    answer = (run / "answer.json").read_bytes()
    assert finished == [json.loads(answer)]
    assert sorted(path.name for path in run.iterdir()) == ["answer.json", "blobs.txt", "events.jsonl"]
    return answer.replace(records[0]["run"].encode(), b"RUN")


def course(run: Path) -> Counter[str]:
    """Gives the events that count, without times, places, and what the model numbers by itself."""
    left_out = ("run", "seq", "at", "started", "seconds", "answer", "plan", "seal")
    events = standing(read_records(run))
    kept = ({name: value for name, value in event.items() if name not in left_out} for event in events)
    return Counter(re.sub(r"call_\d+_", "", json.dumps(event, sort_keys=True)) for event in kept)


def check_paid(folder: Path, before: Mapping[str, Any], killed: list[str]) -> None:
    """Nothing that was journalled when the process was killed has been paid again."""
    again = t3.paid(folder / "again")
    journalled = set().union(*(t3.answered(records) for records in before.values()))
    assert not journalled & set(again)
    assert len(again) == len(set(again)) and len(killed) == len(set(killed))
    assert set(again) & set(killed) == set(killed) - journalled, "what was in flight at the kill, and nothing else"
