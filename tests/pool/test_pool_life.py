"""A pool from its start to its end, also where its keeper is killed: nothing is left, and nothing else is touched."""

from __future__ import annotations

import json
import os
import select
import signal
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

LINUX = pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="this machine does not show environments")


def server(slot: dict[str, Any]) -> int:
    return int(slot["server"].removeprefix("process "))


def alive(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def keeper(folder: str) -> int:
    return int(json.loads((Path(folder) / "keeper.json").read_text())["process"])


def kill(process: int) -> None:
    """Kills a process that is a child of this one or of another, and waits until it has ended."""
    handle = os.pidfd_open(process)
    os.kill(process, signal.SIGKILL)
    select.select([handle], [], [], 10)
    os.close(handle)


@LINUX
def test_a_pool_is_private_and_leaves_only_its_logs(pooling: Any) -> None:
    told = pooling.start(2)
    folder = Path(told["folder"])
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    for name in ("password", "pool.json", "slot-1.json", "slot-2.json"):
        assert stat.S_IMODE((folder / name).stat().st_mode) == 0o600
    password = (folder / "password").read_text()
    assert password not in pooling.pool("status", "--json").stdout + pooling.pool("status").stdout
    processes = [server(slot) for slot in told["slots"]]
    for process in (*processes, keeper(told["folder"])):
        assert password.encode() not in Path(f"/proc/{process}/cmdline").read_bytes()
        assert password.encode() not in Path(f"/proc/{process}/environ").read_bytes()
    assert len({slot["address"] for slot in told["slots"]}) == 2
    again = pooling.pool("start", "--backend", "tiny")
    assert again.exit_code == 2 and "runs already" in again.stderr
    assert pooling.pool("stop").exit_code == 0
    assert not any(alive(process) for process in processes)
    left = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    assert left == {"logs/keeper.log", "logs/slot-1.log", "logs/slot-2.log"}
    assert "tiny server starts" in (folder / "logs/slot-1.log").read_text()
    assert pooling.pool("status").exit_code == 1
    assert pooling.pool("stop").exit_code == 2


@LINUX
def test_what_a_killed_keeper_leaves_serves_on_is_swept_at_the_next_start_and_nothing_else(pooling: Any) -> None:
    other = pooling.start(1, "--pool", "other")
    told = pooling.start(2)
    kill(keeper(told["folder"]))
    processes = [server(slot) for slot in told["slots"]]
    assert all(alive(process) for process in processes)
    assert not pooling.status()["kept"] and "NOBODY LOOKS AFTER IT" in pooling.pool("status").stdout
    done = pooling.batch(2, "--pool", "default")
    assert done.exit_code == 0, done.stderr
    assert {row["status"] for row in pooling.results().values()} == {"answered"}
    # A process of another kgot, with a mark of another pool, is nobody's to sweep.
    env = {**os.environ, "KGOT_POOL_SERVER": "ffffffffffff"}
    stranger = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE, env=env)
    try:
        done = pooling.pool("start", "--slots", "1", "--backend", "tiny")
        assert done.exit_code == 0, done.stderr
        swept = next(line for line in done.stderr.splitlines() if line.startswith("swept"))
        assert all(f"process {process}" in swept for process in processes) and swept.count("process ") == 2
        assert not any(alive(process) for process in processes)
        assert stranger.poll() is None
        assert [server(slot) for slot in pooling.status("--pool", "other")["slots"]] == [server(other["slots"][0])]
        assert alive(server(other["slots"][0]))
    finally:
        stranger.communicate()
        pooling.pool("stop", "--pool", "other")


@LINUX
def test_a_dead_pool_is_swept_by_stop_too(pooling: Any) -> None:
    told = pooling.start(1)
    kill(keeper(told["folder"]))
    done = pooling.pool("stop")
    assert done.exit_code == 0 and "swept a dead pool" in done.stderr
    assert not alive(server(told["slots"][0])) and pooling.status() == {}


def test_a_server_that_does_not_start_ends_the_start_with_its_last_words(pooling: Any) -> None:
    Path("broken.py").write_text("raise SystemExit('the disk is on fire')")
    done = pooling.pool(
        "start", "--slots", "2", "--backend", "tiny", "--set", f"backends.tiny.program={Path('broken.py').absolute()}"
    )
    assert done.exit_code == 1
    assert "the server does not start: it ended with exit code 1: the disk is on fire" in done.stderr
    assert pooling.status() == {}
    done = pooling.pool("start", "--slots", "1", "--backend", "tiny", "--set", "backends.tiny.program=/no/where")
    assert done.exit_code == 1 and "there is no /no/where" in done.stderr


def test_a_pool_in_use_is_stopped_by_force_only(pooling: Any) -> None:
    pooling.start(1)
    with pooling.paused_batch() as batch:
        with Path("go").open("w"):  # opens once the run is at its place
            (slot,) = pooling.status()["slots"]
            assert slot["holder"].startswith(f"process {batch.pid} on ") and slot["held_since"] > slot["since"]
            assert f"held by process {batch.pid}" in pooling.pool("status").stdout
            done = pooling.pool("stop")
            assert done.exit_code == 2 and "slot-1 is in use" in done.stderr
        assert batch.wait(60) == 0
    assert pooling.status()["slots"][0]["holder"] is None


@LINUX
def test_the_slot_of_a_process_that_was_killed_is_clean_for_the_next(pooling: Any) -> None:
    told = pooling.start(1)
    with pooling.paused_batch() as batch, Path("go").open("w"):
        batch.kill()
        batch.wait()
    assert (Path(told["folder"]) / "slot-1.lease.json").exists()
    done = pooling.batch(1, "--pool", "default")
    assert done.exit_code == 0, done.stderr
    rows = [json.loads(line) for line in Path("out/t0/events.jsonl").read_text().splitlines()]
    (found,) = [row["snapshot"] for row in rows if row["kind"] == "graph_opened"]
    assert found == {"version": 1, "nodes": [], "edges": []}
