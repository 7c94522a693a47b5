"""What the files of a batch of several processes say: its state, the time left, its schedule."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgot_core.batch.folder import BatchTask, write_batch, write_tasks
from kgot_core.batch.lines import Appender, Tail, read_lines
from kgot_core.batch.remaining import seconds_left
from kgot_core.batch.results import Results, rank_file, write_results
from kgot_core.batch.schedule import read_schedule
from kgot_core.batch.status import BatchReader
from kgot_core.run.record.lease import take

BEGAN = 1_800_000_000.0
USAGE = {"requests": 1, "input_tokens": 10, "output_tokens": 1, "cached_tokens": 0, "cost": 0.5, "unpriced": 0}


def row(task: str, rank: int, ended: float, status: str = "answered", **more: Any) -> dict[str, Any]:
    return {
        "task": task,
        "status": status,
        "rank": rank,
        "ended": BEGAN + ended,
        "seconds": 10.0,
        "estimate": 20.0,
        "usage": USAGE,
        **more,
    }


def append(path: Path, *rows: dict[str, Any]) -> None:
    file = Appender(path)
    for item in rows:
        file.append(item)
    file.close()


@pytest.fixture
def batch(tmp_path: Path) -> Path:
    """A batch of two processes, of which the second is gone; six tasks, of which one failed in an earlier sitting."""
    sittings = [
        {"session": "old", "began": "2027-01-15T07:00:00+00:00"},
        {"session": "s", "began": "2027-01-15T08:00:00+00:00"},
    ]
    write_batch(tmp_path, {"format": 1, "jobs": 2, "sessions": sittings, "plan": {}})
    write_tasks(tmp_path, [BatchTask(name, "?", (), name, 20.0, name) for name in "abcdef"])
    append(rank_file(tmp_path, "results", 0), row("a", 0, 5), row("f", 0, -100, "failed"))
    append(rank_file(tmp_path, "results", 1), row("b", 1, 30), row("c", 1, 31, "failed"))
    for rank, task in enumerate("de"):
        running = [
            {"task": task, "since": BEGAN + 40, "round": "round 2 of 7", "stage": "decide", "tokens": 5, "cost": 0.1}
        ]
        state = {"session": "s", "rank": rank, "ranks": 2, "host": f"node-{rank}", "at": BEGAN + 58, "ended": None}
        rank_file(tmp_path, "rank", rank, "json").write_text(json.dumps({**state, "running": running}))
    return tmp_path


def test_the_state_of_a_batch_with_a_lost_process(batch: Path) -> None:
    hold = take(batch, name="running.0.json")
    try:
        state = BatchReader(batch).read(BEGAN + 60)
    finally:
        hold.release()
    assert (state.running, state.tasks, state.done, state.failed, state.waiting) == (True, 6, 2, 1, 2)
    assert [(task.task, task.rank, task.seconds, task.stage) for task in state.tasks_running] == [
        ("d", 0, 20.0, "round 2 of 7, decide")
    ]
    assert [(rank.host, rank.alive, rank.running, rank.ended) for rank in state.ranks] == [
        ("node-0", True, 1, 1),
        ("node-1", False, 0, 2),
    ]
    assert state.per_minute == 3.0
    assert state.seconds_left == 10.0, "two waiting tasks on two places; tasks take half of what was estimated"
    assert state.usage.cost == 2.0


def test_a_reader_reads_on_and_knows_when_all_have_gone(batch: Path) -> None:
    reader = BatchReader(batch)
    state = reader.read(BEGAN + 60)
    assert (state.running, state.done, state.failed, state.waiting) == (False, 2, 2, 2)
    assert state.seconds == 58.0, "as long as there were signs of life"
    append(rank_file(batch, "results", 0), row("f", 0, 59))
    append(rank_file(batch, "results", 2), row("d", 2, 59, "no_solution"))
    state = reader.read(BEGAN + 60)
    assert (state.done, state.failed, state.statuses["no_solution"]) == (4, 1, 1)


@given(st.permutations([("x", 1, "cancelled"), ("x", 2, "failed"), ("x", 3, "answered"), ("x", 4, "cancelled")]))
def test_a_final_line_stands_in_whatever_order_files_are_read(lines: list[tuple[str, int, str]]) -> None:
    results = Results()
    results.take(row(task, 0, ended, status) for task, ended, status in lines)
    assert results.rows["x"]["status"] == "answered"
    assert results.rows["x"]["seconds"] == 40.0


def test_merged_results_hold_one_line_a_task_in_the_order_of_the_file(batch: Path) -> None:
    append(rank_file(batch, "results", 1), row("d", 1, 40, "cancelled"), row("a", 1, 41))
    tasks = [BatchTask(name, "?", (), name, 20.0, name) for name in "fedcba"]
    write_results(batch, tasks)
    assert [line["task"] for line in read_lines(batch / "results.jsonl")] == ["f", "c", "b", "a"]


@given(torn=st.binary(max_size=80), place=st.integers(0, 80))
def test_a_torn_line_costs_itself_alone(torn: bytes, place: int, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("lines") / "lines.jsonl"
    append(path, {"a": 1})
    with path.open("ab") as file:
        file.write(torn.replace(b"\n", b"")[:place])
    tail = Tail(path)
    assert tail.rows() == [{"a": 1}]
    append(path, {"b": 2})
    rows = tail.rows()
    assert rows[-1] == {"b": 2} and len(rows) <= 2


def test_the_time_left_is_unknown_until_a_task_has_ended() -> None:
    assert seconds_left([(60.0, 0.0)], [], 4) is None
    ended = [{"seconds": 30.0, "estimate": 60.0}]
    assert seconds_left([(60.0, 10.0)] * 4, ended, 4) == 20.0
    assert seconds_left([(60.0, 100.0), (600.0, 0.0)], ended, 4) == 300.0, "the longest task is the least that is left"


def test_the_schedule_of_two_processes_and_two_sittings(tmp_path: Path) -> None:
    def notes(rank: int, *rows: tuple[float, str, dict[str, Any]]) -> None:
        append(rank_file(tmp_path, "schedule", rank), *({"at": at, "rank": rank, "kind": k, **m} for at, k, m in rows))

    notes(0, (100, "opened", {"session": "1"}), (101, "started", {"task": "a"}), (102, "started", {"task": "b"}))
    notes(0, (105, "ended", {"task": "b"}), (105, "started", {"task": "c"}), (109, "ended", {"task": "a"}))
    notes(1, (100, "opened", {"session": "1"}), (103, "waits", {}), (106, "stole", {"task": "d", "peer": 0}))
    notes(1, (106, "started", {"task": "d"}), (108, "ended", {"task": "d"}), (110, "closed", {}))
    notes(0, (500, "opened", {"session": "2"}), (501, "started", {"task": "c"}), (503, "ended", {"task": "c"}))
    found = read_schedule(tmp_path)
    spans = {(span.rank, span.lane, span.task, span.begin, span.end, span.broken) for span in found.spans}
    assert spans == {
        (0, 0, "a", 1, 9, False),
        (0, 1, "b", 2, 5, False),
        (0, 1, "c", 5, 9, True),
        (1, 0, "", 3, 6, False),
        (1, 0, "d", 6, 8, False),
        (0, 0, "c", 12, 14, False),
    }
    assert [(mark.kind, mark.rank, mark.peer, mark.at) for mark in found.marks] == [("stole", 1, 0, 6)]
    assert (found.ranks, found.lanes, found.breaks, found.seconds) == ([0, 1], {0: 2, 1: 1}, [11.0], 14.0)
