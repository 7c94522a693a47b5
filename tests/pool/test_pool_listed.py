"""Servers that were there become slots: nothing is started, and what is foreign there stays."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

SERVER = Path(__file__).parents[1] / "fixtures" / "pool" / "tiny_server.py"


@pytest.fixture
def two(tmp_path: Path) -> Iterator[list[int]]:
    """Two servers of the user's own."""
    (tmp_path / "own").write_text("")
    ports, processes = [], []
    try:
        for _ in range(2):
            with socket.create_server(("127.0.0.1", 0)) as free:
                ports.append(free.getsockname()[1])
            command = [sys.executable, str(SERVER), str(ports[-1]), str(tmp_path / "own")]
            processes.append(subprocess.Popen(command, stdout=subprocess.PIPE, text=True))
            assert processes[-1].stdout.readline() == "tiny server starts\n"
        for port in ports:
            _reached(port)
        yield ports
    finally:
        for process in processes:
            process.kill()
            process.communicate()


def _reached(port: int) -> None:
    for _ in range(1_000):
        try:
            ask(port, "look")
            return
        except OSError:
            continue


def ask(port: int, do: str, text: str = "") -> Any:
    with socket.create_connection(("127.0.0.1", port)) as server:
        server.sendall(json.dumps({"do": do, "text": text, "password": ""}).encode() + b"\n")
        return json.loads(server.makefile().readline())


def listed(*ports: int) -> list[str]:
    return ["--set", f"pool.tiny={','.join(f'127.0.0.1:{port}' for port in ports)}"]


def test_each_task_has_one_of_them_to_itself(pooling: Any, two: list[int]) -> None:
    done = pooling.batch(6, *listed(*two))
    assert done.exit_code == 0, done.stderr
    assert {row["status"] for row in pooling.results().values()} == {"answered"}
    assert set(pooling.notes("at_once")) == {1}
    told = pooling.status("--set", "backend=tiny", *listed(*two))
    assert [slot["address"] for slot in told["slots"]] == [f"127.0.0.1:{port}" for port in two]
    assert all((slot["state"], slot["holder"]) == ("ready", None) for slot in told["slots"])


def test_one_with_foreign_content_is_never_used(pooling: Any, two: list[int]) -> None:
    ask(two[0], "add", "mine")
    done = pooling.batch(2, *listed(*two))
    assert done.exit_code == 0, done.stderr
    found = ask(two[0], "look")
    assert (found["held"], found["opened"]) == (["mine"], 0)
    ask(two[1], "clear")
    ask(two[1], "add", "mine too")
    Path("tasks.jsonl").unlink()
    done = pooling.batch(3, *listed(*two), "--out", "other")
    assert done.exit_code == 1 and f"127.0.0.1:{two[0]} holds 1 foreign texts" in done.stderr
    assert not Path("other").exists()


def test_what_cannot_be_meant_is_refused(pooling: Any) -> None:
    done = pooling.batch(1, *listed(1))
    assert done.exit_code == 1 and "no tiny server answers at 127.0.0.1:1" in done.stderr
    assert "lists a server twice" in pooling.batch(1, *listed(7, 7)).stderr
    assert "both set" in pooling.batch(1, *listed(7), "--pool", "default").stderr
    done = pooling.batch(1, "--set", "pool.networkx=a")
    assert done.exit_code == 2 and "there is no setting pool.networkx" in done.stderr
    assert "are there already" in pooling.pool("start", "--backend", "tiny", *listed(7)).stderr
