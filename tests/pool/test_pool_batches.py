"""Batches that lease the slots of a pool: one task a slot at a time, clean, and nothing lost when a server breaks."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from typing import Any


def server(slot: dict[str, Any]) -> int:
    return int(slot["server"].removeprefix("process "))


def opened(folder: Path) -> list[Any]:
    """Gives what the store of a run held each time it was opened."""
    rows = [json.loads(line) for line in (folder / "events.jsonl").read_text().splitlines()]
    return [row["snapshot"] for row in rows if row["kind"] == "graph_opened"]


def test_more_tasks_than_slots_wait_and_each_finds_its_slot_empty(pooling: Any) -> None:
    told = pooling.start(2)
    assert [(slot["state"], slot["holder"]) for slot in told["slots"]] == [("ready", None)] * 2
    done = pooling.batch(6, "--pool", "default")
    assert done.exit_code == 0, done.stderr
    assert {row["status"] for row in pooling.results().values()} == {"answered"}
    assert set(pooling.notes("slot")) == {"slot-1", "slot-2"}
    assert set(pooling.notes("at_once")) == {1} and len(pooling.notes("at_once")) == 6
    for name in pooling.results():
        assert opened(Path("out", name)) == [{"version": 1, "nodes": [], "edges": []}]
    password = next(Path("state").rglob("password")).read_text()
    for path in (*Path("out").rglob("*"), *Path("state").rglob("*.log")):
        assert path.is_dir() or password not in path.read_text(), path
    assert all(slot["holder"] is None for slot in pooling.status()["slots"])


def test_a_task_whose_server_is_killed_goes_on_in_another_slot_and_the_slot_is_replaced(pooling: Any) -> None:
    first, second = pooling.start(2)["slots"]
    # Whichever slot the run has, its server goes while the run needs it.
    Path("before_decide.py").write_text(
        f"import os\nfor one in {(server(first), server(second))}:\n    os.kill(one, 9)"
    )
    done = pooling.batch(1, "--pool", "default")
    assert done.exit_code == 0, done.stderr
    assert pooling.results()["t0"]["status"] == "answered", pooling.results()
    told = pooling.status()["slots"]
    assert {slot["servers_so_far"] for slot in told} <= {1, 2} and 2 in {slot["servers_so_far"] for slot in told}
    rows = [json.loads(line) for line in Path("out/t0/events.jsonl").read_text().splitlines()]
    assert [row["kind"] for row in rows if row["kind"] in ("run_resumed", "run_finished")][-2:] == [
        "run_resumed",
        "run_finished",
    ]


def test_a_server_that_hangs_is_replaced(pooling: Any) -> None:
    (slot,) = pooling.start(1)["slots"]
    os.kill(server(slot), signal.SIGSTOP)
    done = pooling.batch(1, "--pool", "default", "--set", "pool.patience=60")
    assert done.exit_code == 0, done.stderr
    assert pooling.results()["t0"]["status"] == "answered"
    (now,) = pooling.status()["slots"]
    assert now["servers_so_far"] == 2 and now["address"] != slot["address"]


def test_a_pool_that_is_not_there_and_one_of_another_backend_are_refused_before_anything_starts(pooling: Any) -> None:
    done = pooling.batch(1, "--pool", "nowhere")
    assert done.exit_code == 2 and "there is no pool in " in done.stderr and "kgot pool start" in done.stderr
    pooling.start(1)
    done = pooling.batch(1, "--pool", "default", backend="networkx")
    assert done.exit_code == 2 and "is one of tiny, not of networkx" in done.stderr
    done = pooling.batch(1, "--pool", "default", "--keep-graph")
    assert done.exit_code == 2 and "empty for each run" in done.stderr
    assert not Path("out").exists()


def test_two_batches_share_a_pool(pooling: Any) -> None:
    pooling.start(1)
    with pooling.paused_batch() as other:
        with Path("go").open("w"):
            assert pooling.status()["slots"][0]["holder"].startswith(f"process {other.pid} ")
        # It may have ended by now or not: the slot is never that of both.
        done = pooling.batch(2, "--pool", "default")
        assert done.exit_code == 0, done.stderr
        assert other.wait(60) == 0
    assert pooling.notes("slot") == ["slot-1"] * 3 and set(pooling.notes("at_once")) == {1}
