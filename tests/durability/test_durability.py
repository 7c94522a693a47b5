"""Runs that are killed at any moment end, once resumed, as if nothing had happened, and nothing is paid twice."""

from __future__ import annotations

import json
import os
import random
import re
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from kgot_core.run.record.folder import read_records
from kgot_core.run.record.recorded import standing

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))
import t3  # noqa: E402

pytestmark = pytest.mark.skipif(os.name == "nt", reason="this machine does not know SIGKILL")
ARGUMENTS = ["--quiet", "--model", "import:t3:model", "--backend", "networkx", "--set", "sandbox=monty"]
KILLED = -9
MOMENTS = 100
PARTS = 12
WHENS = ("before", "within", "after")


def command(folder: Path, arguments: list[str], **variables: str) -> subprocess.Popen[str]:
    """Starts a process in a folder, with the tests' model."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("KGOT_", "OPENAI_"))}
    env = {**kept, "KGOT_CONFIG_DIR": str(folder / "config"), "PYTHONPATH": os.pathsep.join([str(HERE), *sys.path])}
    return subprocess.Popen(
        [sys.executable, *arguments],
        cwd=folder,
        env={**env, "PAID": str(folder / "paid"), **variables},
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def kgot(folder: Path, *arguments: str, **variables: str) -> tuple[int, str]:
    """Runs a command to its end."""
    process = command(folder, ["-m", "kgot_core", *arguments], **variables)
    out, err = process.communicate(timeout=120)
    return process.returncode, out + err


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
    left_out = ("run", "seq", "at", "started", "seconds", "answer", "plan")
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


@pytest.fixture(scope="module")
def one(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a whole run."""
    folder = tmp_path_factory.mktemp("one")
    assert kgot(folder, "run", t3.QUESTION, *ARGUMENTS)[0] == 0
    [run] = (folder / "runs").iterdir()
    requests = t3.paid(folder / "paid")
    assert len(requests) == len(set(requests)) == 15
    return run


@pytest.mark.parametrize(("share", "when"), [(0.4, "within"), (0.9, "before")])
def test_killed_at_some_writes_of_the_journal(share: float, when: str, one: Path, tmp_path: Path) -> None:
    killed_at(round(share * len(list(read_records(one)))), when, one, tmp_path)


@pytest.mark.durability
@pytest.mark.parametrize("part", range(PARTS))
def test_killed_at_every_write_of_the_journal(part: int, one: Path, tmp_path: Path) -> None:
    for write in range(1 + part, len(list(read_records(one))) + 1, PARTS):
        for when in WHENS:
            (tmp_path / f"{write}-{when}").mkdir()
            killed_at(write, when, one, tmp_path / f"{write}-{when}")


def killed_at(write: int, when: str, one: Path, folder: Path) -> None:
    """Kills a run at a write of its journal and goes on with it."""
    code, said = kgot(folder, "run", t3.QUESTION, *ARGUMENTS, KILL=f"{write}:{when}")
    assert code == KILLED, said
    [run] = (folder / "runs").iterdir()
    records = list(read_records(run))
    assert len(records) == (write if when == "after" else write - 1)
    killed = t3.paid(folder / "paid")
    code, said = kgot(folder, "resume", "last", "--quiet", PAID=str(folder / "again"))
    if not records:
        # Nothing had been accepted, so nothing had been asked.
        assert code == 2 and "has no beginning" in said and not killed
        return
    assert code == 0, said
    assert ended(run) == ended(one)
    assert course(run) == course(one)
    check_paid(folder, {run.name: records}, killed)


@pytest.fixture(scope="module")
def ten(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, float]:
    """The folder of ten whole runs, and how long they took."""
    folder = tmp_path_factory.mktemp("ten")
    process = command(folder, [str(HERE / "ten.py"), "runs"], DELAY="0.01")
    assert process.stdout is not None and process.stdout.readline() == "open\n"
    began = time.monotonic()
    _, err = process.communicate(timeout=300)
    assert process.returncode == 0, err
    return folder / "runs", time.monotonic() - began


@pytest.mark.durability
@pytest.mark.parametrize("moment", range(MOMENTS))
def test_ten_side_by_side_killed_at_a_random_moment(moment: int, ten: tuple[Path, float], tmp_path: Path) -> None:
    whole, seconds = ten
    process = command(tmp_path, [str(HERE / "ten.py"), "runs"], DELAY="0.01")
    assert process.stdout is not None and process.stdout.readline() == "open\n"
    killer = threading.Timer(random.Random(moment).uniform(0, seconds), process.kill)
    killer.start()
    process.communicate(timeout=300)
    killer.cancel()
    killed = t3.paid(tmp_path / "paid")
    runs = sorted((tmp_path / "runs").iterdir()) if (tmp_path / "runs").exists() else []
    before = {run.name: list(read_records(run)) if (run / "events.jsonl").exists() else [] for run in runs}
    process = command(tmp_path, [str(HERE / "ten.py"), "runs"], PAID=str(tmp_path / "again"))
    _, err = process.communicate(timeout=300)
    assert process.returncode == 0, err
    for run in sorted(whole.iterdir()):
        assert ended(tmp_path / "runs" / run.name) == ended(run)
    check_paid(tmp_path, before, killed)
