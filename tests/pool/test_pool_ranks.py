"""Ranks of a real MPI job that lease real Neo4j servers: those of a pool, and those that were listed."""

from __future__ import annotations

import json
import os
import runpy
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from multiprocessing.connection import Listener
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from neo4j import GraphDatabase
from neo4j.exceptions import AuthError

pytestmark = pytest.mark.xdist_group("neo4j")
LIBRARY = Path(__file__).parents[1] / "fixtures" / "library"
_command = runpy.run_path(str(LIBRARY / "command.py"))
EMPTY = {"version": 1, "nodes": [], "edges": []}

# At its first decision each rank waits for the other one, and at each it notes which process holds which slot.
MODEL = """
import json, os
from multiprocessing.connection import Client
from pathlib import Path
import neo4j_pools

def holders():
    found = {}
    for file in Path(os.environ["LEASES"]).glob("*.lease.json"):
        try:
            found[file.name.removesuffix(".lease.json")] = json.loads(file.read_text())["process"]
        except FileNotFoundError:  # just given back by the other rank
            pass
    return found

def meet():
    with Client(os.environ["MEETING"], "AF_UNIX") as line:
        line.send(os.getpid())
        line.recv()

met = []

def decide(prompt):
    if not met:
        met.append(meet())
    with open("held.jsonl", "a") as file:
        file.write(json.dumps({"process": os.getpid(), "holders": holders()}) + "\\n")
    return neo4j_pools.decide(prompt)

def model():
    return neo4j_pools.model_of(decide)
"""
# Ends the server of the slot that the rank which comes here first holds, and waits until it has ended.
KILL_ITS_OWN = """
import json, os, select, signal
from pathlib import Path
for lease in Path("pool").glob("slot-*.lease.json"):
    if json.loads(lease.read_text())["process"] == os.getpid():
        slot = json.loads(Path("pool", lease.name.replace(".lease", "")).read_text())
        process = int(slot["server"].split()[1])
        handle = os.pidfd_open(process)
        os.kill(process, signal.SIGKILL)
        select.select([handle], [], [], 30)
        Path("killed").write_text(json.dumps({"slot": slot["name"], "rank": os.getpid()}))
"""


class Ranks:
    """Commands in a folder, with a pool of real servers."""

    def __init__(self, options: list[str], environment: dict[str, str], doors: str) -> None:
        self.options, self.environment, self._doors = options, environment, doors
        self._listeners: list[Listener] = []

    def kgot(self, *arguments: str) -> Any:
        command = [sys.executable, "-m", "kgot_core", *arguments, *self.options]
        return subprocess.run(command, env=self.environment, capture_output=True, text=True, timeout=600, check=False)

    def batch(self, folder: str, leases: Path, *options: str) -> list[dict[str, Any]]:
        """Runs six tasks over two ranks; gives what was noted at each decision."""
        Path("held.jsonl").unlink(missing_ok=True)
        rows = [{"id": f"t{number}", "question": f"How high are the hills of place {number}?"} for number in range(6)]
        Path("tasks.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        self.environment |= {"LEASES": str(leases), "MEETING": self._meeting(folder)}
        given = ["--scheduler", "mpi", "--ranks", "2", "--jobs", "1", "--model", "import:pooled:model"]
        done = self.kgot("batch", "tasks.jsonl", "--out", folder, *given, "--set", "extract.form=facts", *options)
        assert done.returncode == 0, done.stderr
        results = [json.loads(line) for line in Path(folder, "results.jsonl").read_text().splitlines()]
        assert {row["task"]: row["reason"] for row in results if row["status"] != "answered"} == {}
        for row in rows:
            assert [one["snapshot"] for one in events(folder, row["id"], "graph_opened")] == [EMPTY]
        return [json.loads(line) for line in Path("held.jsonl").read_text().splitlines()]

    def close(self) -> None:
        """Ends the pool, and lets nobody wait any more."""
        self.kgot("pool", "stop", "--force", "--pool", "./pool")
        for listener in self._listeners:
            listener.close()

    def _meeting(self, name: str) -> str:
        """Gives the address at which two processes wait for each other."""
        door = str(Path(self._doors, name))
        listener = Listener(door, "AF_UNIX", backlog=50)
        self._listeners.append(listener)

        def let_in() -> None:
            waiting, here = [], set()
            while True:  # a rank may ask several times at once
                try:
                    waiting.append(listener.accept())
                except OSError:  # closed
                    return
                here.add(waiting[-1].recv())
                while len(here) > 1 and waiting:
                    waiting.pop().send("go")

        threading.Thread(target=let_in, daemon=True).start()
        return door


def events(folder: str, run: str, kind: str) -> list[dict[str, Any]]:
    rows = [json.loads(line) for line in Path(folder, run, "events.jsonl").read_text().splitlines()]
    return [row for row in rows if row["kind"] == kind]


def command(process: int) -> bytes:
    """Gives the command line of a process; empty where it has ended."""
    try:
        return Path(f"/proc/{process}/cmdline").read_bytes()
    except OSError:
        return b""


def each_rank_holds_one_of_two(notes: list[dict[str, Any]]) -> set[str]:
    """Holds that a rank which asks its model has exactly one slot; gives all slots that were held."""
    for note in notes:
        assert list(note["holders"].values()).count(note["process"]) == 1, note
    assert len({note["process"] for note in notes}) == 2, "both ranks took part"
    return {slot for note in notes for slot in note["holders"]}


def locks_nobody_out(address: str, password: str) -> None:
    """Tries wrong passwords, as anybody on the machine could, and then the right one."""
    for _ in range(5):
        with GraphDatabase.driver(address, auth=("neo4j", "a guess")) as driver, pytest.raises(AuthError):
            driver.verify_connectivity()
    with GraphDatabase.driver(address, auth=("neo4j", password)) as driver:
        driver.verify_connectivity()


@pytest.fixture
def ranks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, launcher: Callable[[str], ModuleType], or_skip: Any
) -> Iterator[Ranks]:
    servers = launcher("neo4j_server")
    values = {"backend": "neo4j", **or_skip(servers.NotHere, servers.pool_settings)}
    monkeypatch.chdir(tmp_path)
    Path("pooled.py").write_text(MODEL)
    path = os.pathsep.join([str(tmp_path), str(LIBRARY)])
    environment = _command["environment"](PYTHONPATH=path, XDG_STATE_HOME=str(tmp_path / "state"))
    options = [part for name, value in values.items() for part in ("--set", f"{name}={value}")]
    # A short path, as that of a socket has to be.
    with tempfile.TemporaryDirectory(prefix="kgot-meet-") as doors:
        made = Ranks(options, environment, doors)
        yield made
        made.close()


def test_each_rank_leases_one_server_and_a_broken_one_is_replaced_and_all_is_removed(ranks: Ranks) -> None:
    done = ranks.kgot("pool", "start", "--slots", "2", "--pool", "./pool")
    assert done.returncode == 0, done.stderr
    slots = json.loads(ranks.kgot("pool", "status", "--json", "--pool", "./pool").stdout)["slots"]

    locks_nobody_out(slots[0]["address"], Path("pool/password").read_text())
    # The same servers as somebody's own, which are listed.
    ranks.environment["KGOT_BACKENDS__NEO4J__PASSWORD"] = Path("pool/password").read_text()
    addresses = ",".join(slot["address"] for slot in slots)
    leases = Path("state/kgot/pools").absolute() / os.uname().nodename / ".listed"
    notes = ranks.batch("of-the-listed", leases, "--set", f"pool.neo4j={addresses}")
    assert len(each_rank_holds_one_of_two(notes)) == 2
    del ranks.environment["KGOT_BACKENDS__NEO4J__PASSWORD"]

    Path("once.py").write_text(KILL_ITS_OWN)
    notes = ranks.batch("of-the-pool", Path("pool").absolute(), "--pool", "./pool")
    assert each_rank_holds_one_of_two(notes) == {"slot-1", "slot-2"}
    killed = json.loads(Path("killed").read_text())
    resumed = [f"t{number}" for number in range(6) if events("of-the-pool", f"t{number}", "run_resumed")]
    assert len(resumed) == 1, "the run whose server was killed goes on in another slot"
    asked = [row["step"] for row in events("of-the-pool", resumed[0], "model_called")]
    assert len(asked) == len(set(asked)), "what was asked before is not asked again"
    now = json.loads(ranks.kgot("pool", "status", "--json", "--pool", "./pool").stdout)["slots"]
    assert {slot["slot"] for slot in now if slot["servers_so_far"] > 1 or slot["state"] != "ready"} == {killed["slot"]}
    assert all(slot["holder"] is None for slot in now)
    processes = [int(slot["server"].split()[1]) for slot in now if slot["server"]]

    assert ranks.kgot("pool", "stop", "--pool", "./pool").returncode == 0
    assert {path.name for path in Path("pool").iterdir()} == {"logs"}
    assert not any(b"CommunityEntryPoint" in command(process) for process in processes)
