"""Servers of a pool in containers of Sarus, by a stand-in of its command that runs real containers of its own."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest

IMAGE = "load/library/kgot-sandbox"


@pytest.fixture
def moored(pooling: Any, sarus_settings: Any) -> Any:
    """A pool whose servers run in Sarus."""
    values = {"pool.servers": "sarus", "sandboxes.sarus.path": sarus_settings.path, "backends.tiny.image": IMAGE}
    pooling.base += [part for name, value in values.items() for part in ("--set", f"{name}={value}")]
    return pooling


def processes(folder: Path) -> list[int]:
    """Gives the processes of the pool's servers, in whatever namespace."""
    mark = f"KGOT_POOL_SERVER={json.loads((folder / 'pool.json').read_text())['id']}".encode()
    found = []
    for path in Path("/proc").glob("[0-9]*/environ"):
        try:
            found += [int(path.parent.name)] if mark in path.read_bytes().split(b"\0") else []
        except OSError:
            continue
    return found


def alive(process: int) -> bool:
    """Tells whether a process has not ended; nobody may have noticed yet."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_tasks_are_answered_and_nothing_is_left(moored: Any, sarus_settings: Any) -> None:
    told = moored.start(2)
    assert told["servers"] == "sarus" and len({slot["address"] for slot in told["slots"]}) == 2
    assert "each tiny in a container of Sarus" in moored.pool("status").stdout
    folder = Path(told["folder"])
    password = (folder / "password").read_text()
    running = processes(folder)
    assert len(running) >= 2
    for process in running:
        assert password.encode() not in Path(f"/proc/{process}/cmdline").read_bytes()
    done = moored.batch(4, "--pool", "default", jobs=2)
    assert done.exit_code == 0, done.stderr
    assert {row["status"] for row in moored.results().values()} == {"answered"}
    assert set(moored.notes("at_once")) == {1}
    calls = [json.loads(line) for line in (Path(sarus_settings.path).parent / "calls.jsonl").read_text().splitlines()]
    assert not any(password in argument for call in calls for argument in call["arguments"])
    assert moored.pool("stop").exit_code == 0
    assert not any(alive(process) for process in running)
    assert {path.name for path in folder.iterdir()} == {"logs"}
    assert "tiny server starts" in (folder / "logs/slot-1.log").read_text()


def test_a_broken_one_is_replaced_and_what_a_killed_keeper_leaves_is_swept(moored: Any) -> None:
    told = moored.start(1)
    folder = Path(told["folder"])
    before = processes(folder)
    for process in before:
        os.kill(process, signal.SIGKILL)
    done = moored.batch(1, "--pool", "default", "--set", "pool.patience=60")
    assert done.exit_code == 0, done.stderr
    assert moored.results()["t0"]["status"] == "answered"
    (slot,) = moored.status()["slots"]
    assert slot["servers_so_far"] == 2
    after = processes(folder)
    os.kill(json.loads((folder / "keeper.json").read_text())["process"], signal.SIGKILL)
    done = moored.pool("stop")
    assert done.exit_code == 0 and "swept a dead pool" in done.stderr
    assert after and not any(alive(process) for process in after)


def test_what_is_missing_is_named(moored: Any) -> None:
    start = ("start", "--slots", "1", "--backend", "tiny", "--set")
    done = moored.pool(*start, "backends.tiny.image=no-such-image")
    assert done.exit_code == 1 and "Image no-such-image:latest is not available" in done.stderr, done.stderr
    done = moored.pool(*start, "sandboxes.sarus.path=no-such-sarus")
    assert done.exit_code == 1 and "sarus is not installed (no program 'no-such-sarus')" in done.stderr, done.stderr
    assert moored.status() == {}
