"""Ranks that are killed during a batch."""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from typing import Any

import pytest


def started(library: Any, job: Any, ranks: int = 4) -> dict[int, Any]:
    """Waits until each rank runs a task; gives its call by rank."""
    return {call.said["rank"]: call for call in (library.desk.next() for _ in range(ranks))}


def kill(*calls: Any) -> None:
    for call in calls:
        # MPI may have ended this rank already, since it lost the one before.
        with suppress(ProcessLookupError):
            os.kill(call.said["pid"], signal.SIGKILL)


def done(job: Any) -> set[str]:
    return {file.stem for file in job.folder.glob("*.done")}


@pytest.mark.parametrize("lost", [[0], [2], [0, 1, 3], [1, 2, 3]])
def test_others_take_over_what_lost_ranks_began(mpi, lost):
    library = mpi("openmpi-survives")
    job = library.start(24)
    first = started(library, job)
    for call in first.values():
        call.answer()
    second = started(library, job)
    kill(*(second[rank] for rank in lost))
    for rank in set(second) - set(lost):
        second[rank].answer()
    library.desk.answer_all()
    job.succeeds()
    left = sorted(set(range(4)) - set(lost))
    assert sorted(job.ranks()) == left and job.ranks()[left[0]]["last"] == left[0]
    assert done(job) == {f"t{number}" for number in range(24)}
    # Those that are left have a record of each task but those that they did not have to ask for again.
    asked = library.desk.tasks
    unfinished = {second[rank].said["task"] for rank in lost}
    assert {task for task in asked if asked.count(task) > 1} == unfinished
    assert len(job.records()) == len(set(job.records()))
    assert unfinished <= {note["task"] for note in job.notes("took_over")}
    assert {note["peer"] for note in job.notes("lost")} <= set(lost) != set()


@pytest.mark.parametrize("name", ["openmpi", "mpich"])
@pytest.mark.parametrize("lost", [[0], [1, 2, 3], [0, 1, 2, 3]])
def test_the_batch_is_started_anew_where_mpi_ends_with_a_rank(mpi, name, lost):
    library = mpi(name)
    job = library.start(12, restarts=1)
    first = started(library, job)
    for call in first.values():
        call.answer()
    second = started(library, job)
    kill(*(second[rank] for rank in lost))
    library.desk.answer_all()
    code, errors = job.end()
    assert code == 0, errors
    assert "a rank was lost" in errors and "restart 1 of 1" in errors
    assert sorted(job.records()) == sorted(f"t{number}" for number in range(12))
    # No finished task asked again; what was broken off did.
    asked = library.desk.tasks
    assert {task for task in asked if asked.count(task) > 1} == {call.said["task"] for call in second.values()}


@pytest.mark.parametrize("name", ["openmpi", "mpich"])
def test_without_restarts_the_way_to_go_on_is_told(mpi, name):
    library = mpi(name)
    job = library.start(8)
    kill(started(library, job)[1])
    code, errors = job.end()
    assert code == 1 and "a rank was lost" in errors and "kgot resume" in errors


@pytest.mark.parametrize("name", ["openmpi", "openmpi-survives", "mpich"])
def test_a_signal_to_the_launcher_reaches_the_ranks(mpi, name):
    library = mpi(name)
    job = library.start(8, signals=True)
    calls = started(library, job)
    job.process.send_signal(signal.SIGTERM)
    told = [library.desk.next() for _ in range(4)]
    assert sorted(call.said["signalled"] for call in told) == [0, 1, 2, 3]
    for call in (*told, *calls.values()):
        call.answer()
    code, errors = job.end()
    assert code == 0, errors
    assert len(library.desk.tasks) == 4
