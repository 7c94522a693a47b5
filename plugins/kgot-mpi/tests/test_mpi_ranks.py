"""Real batches over four ranks."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

LATE = str(Path(__file__).with_name("late.py"))
ALL = pytest.mark.parametrize("name", ["openmpi", "openmpi-survives", "mpich"])


@pytest.mark.parametrize("name", ["openmpi", "mpich"])
@pytest.mark.parametrize("transport", ["one-sided", "messages"])
def test_every_task_runs_once_and_idle_ranks_steal(mpi, name, transport):
    library = mpi(name, transport=transport)
    job = library.start(16)
    # The first task holds its rank, so the others have to take the rest of its queue.
    held = library.desk.next()
    library.desk.answer_all()
    library.desk.wait_for(16)
    held.answer()
    code, errors = job.end()
    assert (code, sorted(library.desk.tasks)) == (0, sorted(f"t{number}" for number in range(16))), errors
    assert sorted(job.records()) == sorted(library.desk.tasks)
    said = job.ranks()
    assert {each["transport"] for each in said.values()} == {transport}
    assert sorted(said) == [0, 1, 2, 3] and {each["ranks"] for each in said.values()} == {4}
    # All got what one process said.
    assert len({str(each["once"]) for each in said.values()}) == 1
    stolen = [note for note in job.notes("stole") if note["peer"] == held.said["rank"]]
    assert len(stolen) == 3
    assert [note["count"] for note in job.notes("dealt")] == [4, 4, 4, 4]


@ALL
def test_more_ranks_than_tasks(mpi, name):
    library = mpi(name)
    library.desk.answer_all()
    job = library.start(2)
    job.succeeds()
    assert sorted(job.records()) == ["t0", "t1"] and len(job.ranks()) == 4


@ALL
def test_no_tasks(mpi, name):
    job = mpi(name).start(0)
    job.succeeds()
    assert job.records() == [] and len(job.ranks()) == 4


@ALL
def test_a_rank_runs_several_tasks_at_once(mpi, name):
    library = mpi(name)
    job = library.start(8, ranks=2, jobs=4)
    calls = [library.desk.next() for _ in range(8)]
    assert sorted(call.said["rank"] for call in calls) == [0] * 4 + [1] * 4
    for call in calls:
        call.answer()
    job.succeeds()


@ALL
def test_a_task_that_raises_is_a_record(mpi, name):
    library = mpi(name)
    job = library.start(9, ranks=3)
    for _ in range(9):
        call = library.desk.next()
        call.answer("raise" if call.said["task"] == "t5" else "go")
    job.succeeds()
    records = [record for said in job.ranks().values() for record in said["records"]]
    assert sorted(record[0] for record in records) == sorted(f"t{number}" for number in range(9))
    assert [record for record in records if record[1] != "answered"] == [["t5", "failed", "t5 cannot be done"]]


@ALL
def test_a_stop_on_one_rank_ends_all(mpi, name):
    library = mpi(name)
    job = library.start(20)
    calls = [library.desk.next() for _ in range(4)]
    calls[0].answer("stop")
    told = [library.desk.next() for _ in range(3)]
    others = {call.said["rank"] for call in calls[1:]}
    assert {call.said["interrupted"] for call in told} == others
    for call in (*told, *calls[1:]):
        call.answer("cancelled")
    job.succeeds()
    assert len(library.desk.tasks) == 4
    assert sorted(job.records()) == sorted(library.desk.tasks)


@ALL
def test_a_batch_without_progress_ends_with_a_diagnosis(mpi, name):
    library = mpi(name)
    job = library.start(6, ranks=2, patience=1.0)
    held = {library.desk.next().said["rank"]: None for _ in range(2)}
    assert sorted(held) == [0, 1]
    code, _ = job.end()
    assert code == 1
    (text,) = {said["error"] for said in job.ranks().values()}
    assert "no task has started or ended for" in text and "rank 0 runs t" in text and "rank 1 runs t" in text


@pytest.mark.parametrize("name", ["openmpi", "mpich"])
def test_a_rank_that_fails_outside_of_its_tasks_ends_the_job(mpi, name):
    library = mpi(name)
    code, errors = library.start(4, alone=2).end()
    assert code != 0 and "this rank fails outside of any task" in errors


def test_others_go_on_without_a_rank_that_fails_outside_of_its_tasks(mpi):
    library = mpi("openmpi-survives")
    library.desk.answer_all()
    job = library.start(8, alone=2)
    _, errors = job.end()
    assert "this rank fails outside of any task" in errors
    assert sorted(job.ranks()) == [0, 1, 3], errors
    assert sorted(job.records()) == [f"t{number}" for number in range(8)]


@pytest.mark.parametrize("name", ["openmpi", "mpich"])
def test_a_claim_that_comes_as_the_counters_are_given_back_is_void(mpi, name):
    environment = os.environ | {"OMPI_MCA_osc": "^ucx"} | mpi(name).environment
    done = subprocess.run([sys.executable, LATE], env=environment, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout) == (0, "in time (0,), gone"), done.stderr
