"""Runs that are killed at any moment end, once resumed, as if nothing had happened, and nothing is paid twice."""

from __future__ import annotations

import json
import os
import random
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from kgot_core.run.record.folder import read_records

sys.path.insert(0, str(Path(__file__).parent))
import t3
from killing import ARGUMENTS, BATCH, KILLED, Command, check_paid, course, ended, kgot, write_tasks
from warm import Forked, Warm

pytestmark = pytest.mark.skipif(os.name == "nt", reason="this machine does not know SIGKILL")
MOMENTS = 100
PARTS = 12
WHENS = ("before", "within", "after")


@pytest.fixture(scope="module")
def killed() -> Iterator[Warm]:
    """A warm process for what is killed."""
    with Warm() as warm:
        yield warm


@pytest.fixture(scope="module")
def resumed() -> Iterator[Warm]:
    """Another one for what goes on with it: sets have another order there, as in any other process."""
    with Warm() as warm:
        yield warm


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
    killed_at(round(share * len(list(read_records(one)))), when, one, tmp_path, kgot, kgot)


@pytest.mark.durability
@pytest.mark.parametrize("part", range(PARTS))
def test_killed_at_every_write_of_the_journal(
    part: int, one: Path, killed: Warm, resumed: Warm, tmp_path: Path
) -> None:
    for write in range(1 + part, len(list(read_records(one))) + 1, PARTS):
        for when in WHENS:
            (tmp_path / f"{write}-{when}").mkdir()
            killed_at(write, when, one, tmp_path / f"{write}-{when}", killed.run, resumed.run)


def killed_at(write: int, when: str, one: Path, folder: Path, begin: Command, go_on: Command) -> None:
    """Kills a run at a write of its journal and goes on with it."""
    code, said = begin(folder, "run", t3.QUESTION, *ARGUMENTS, KILL=f"{write}:{when}")
    assert code == KILLED, said
    [run] = (folder / "runs").iterdir()
    records = list(read_records(run))
    assert len(records) == (write if when == "after" else write - 1)
    paid = t3.paid(folder / "paid")
    code, said = go_on(folder, "resume", "last", "--quiet", PAID=str(folder / "again"))
    if not records:
        # Nothing had been accepted, so nothing had been asked.
        assert code == 2 and "has no beginning" in said and not paid
        return
    assert code == 0, said
    assert ended(run) == ended(one)
    assert course(run) == course(one)
    check_paid(folder, {run.name: records}, paid)


@pytest.fixture(scope="module")
def ten(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a whole batch of ten tasks."""
    folder = tmp_path_factory.mktemp("ten")
    write_tasks(folder)
    code, said = kgot(folder, *BATCH)
    assert code == 0, said
    return folder / "runs"


@pytest.fixture(scope="module")
def seconds(killed: Warm, tmp_path_factory: pytest.TempPathFactory) -> float:
    """How long such a batch takes once its tasks are read."""
    folder = tmp_path_factory.mktemp("seconds")
    batch = start_batch(folder, killed)
    began = time.monotonic()
    code, said = batch.wait()
    assert code == 0, said
    return time.monotonic() - began


def start_batch(folder: Path, warm: Warm) -> Forked:
    """Starts a batch of ten tasks; gives it when its tasks are read."""
    write_tasks(folder)
    batch = warm.start(folder, *BATCH, DELAY="0.01")
    assert batch.said.readline().startswith("10 tasks")
    return batch


@pytest.mark.durability
@pytest.mark.parametrize("moment", range(MOMENTS))
def test_ten_side_by_side_killed_at_a_random_moment(
    moment: int, ten: Path, seconds: float, killed: Warm, resumed: Warm, tmp_path: Path
) -> None:
    batch = start_batch(tmp_path, killed)
    killer = threading.Timer(random.Random(moment).uniform(0, seconds), batch.kill)
    killer.start()
    batch.wait()
    killer.cancel()
    goes_on_as_the_whole_one(tmp_path, ten, resumed.run)


def test_a_batch_killed_in_the_middle_goes_on_with_what_is_left(ten: Path, tmp_path: Path) -> None:
    write_tasks(tmp_path)
    writes = sum(len(list(read_records(path.parent))) for path in ten.glob("*/events.jsonl"))
    code, said = kgot(tmp_path, *BATCH, "--jobs", "3", KILL=f"{writes // 2}:within")
    assert code == KILLED, said
    finished = {path.parent: path.stat().st_mtime_ns for path in (tmp_path / "runs").glob("*/answer.json")}
    assert finished, "some tasks had ended by then"
    goes_on_as_the_whole_one(tmp_path, ten, kgot)
    for run, changed in finished.items():
        assert (run / "answer.json").stat().st_mtime_ns == changed, "a finished task is not touched"


def goes_on_as_the_whole_one(folder: Path, whole: Path, go_on: Command) -> None:
    """Goes on with a batch that was killed; it ends like the one that was not, and nothing is asked twice."""
    paid = t3.paid(folder / "paid")
    runs = [path for path in (folder / "runs").iterdir() if path.is_dir()]
    before = {run.name: list(read_records(run)) if (run / "events.jsonl").exists() else [] for run in runs}
    code, said = go_on(folder, "resume", "runs", PAID=str(folder / "again"))
    assert code == 0, said
    for run in sorted(path for path in whole.iterdir() if path.is_dir()):
        assert ended(folder / "runs" / run.name) == ended(run)
    results = [json.loads(line) for line in (folder / "runs" / "results.jsonl").read_text().splitlines()]
    assert [row["task"] for row in results] == [f"run-{number}" for number in range(10)]
    assert {row["status"] for row in results} == {"answered"}
    check_paid(folder, before, paid)
