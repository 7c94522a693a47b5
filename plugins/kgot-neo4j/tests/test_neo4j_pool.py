"""A pool of four real Neo4j processes: eight tasks, each in an empty database of its own; a server that is killed."""

from __future__ import annotations

import json
import runpy
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

pytestmark = pytest.mark.xdist_group("neo4j")
LIBRARY = Path(__file__).parents[3] / "tests" / "fixtures" / "library"
_command = runpy.run_path(str(LIBRARY / "command.py"))

# Waits until they have ended, so that no run can get by without them.
KILL_THE_HELD = """
import json, os, select, signal
from pathlib import Path
for lease in sorted(Path("pool").glob("slot-*.lease.json"))[:2]:
    slot = json.loads(Path("pool", lease.name.replace(".lease", "")).read_text())
    process = int(slot["server"].split()[1])
    handle = os.pidfd_open(process)
    os.kill(process, signal.SIGKILL)
    select.select([handle], [], [], 30)
    Path("killed").open("a").write(slot["name"] + "\\n")
"""


def kgot(*arguments: str) -> Any:
    return _command["kgot"](*arguments)


def events(run: str, kind: str) -> list[dict[str, Any]]:
    rows = [json.loads(line) for line in Path("out", run, "events.jsonl").read_text().splitlines()]
    return [row for row in rows if row["kind"] == kind]


@pytest.fixture
def options(folder: Path, monkeypatch: pytest.MonkeyPatch, servers: ModuleType, or_skip: Any) -> Iterator[list[str]]:
    """What each command needs; the pool is stopped at the end."""
    values = or_skip(servers.NotHere, servers.pool_settings)
    monkeypatch.syspath_prepend(str(LIBRARY))
    made = ["--pool", "./pool", "--backend", "neo4j"]
    made += [part for name, value in values.items() for part in ("--set", f"{name}={value}")]
    yield made
    kgot("pool", "stop", "--force", "--pool", "./pool")


def test_four_slots_serve_eight_tasks_each_in_an_empty_database_and_a_killed_server_costs_nothing(
    options: list[str],
) -> None:
    done = kgot("pool", "start", "--slots", "4", *options)
    assert done.exit_code == 0, done.stderr
    rows = [{"id": f"t{number}", "question": f"How high are the hills of place {number}?"} for number in range(8)]
    Path("tasks.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    Path("once.py").write_text(KILL_THE_HELD)
    given = ["--out", "out", "--jobs", "6", "--model", "import:neo4j_pools:model", "--set", "extract.form=facts"]
    done = kgot("batch", "tasks.jsonl", *given, *options)
    assert done.exit_code == 0, done.stderr
    results = [json.loads(line) for line in Path("out/results.jsonl").read_text().splitlines()]
    assert {row["task"]: row["reason"] for row in results if row["status"] != "answered"} == {}
    empty = {"version": 1, "nodes": [], "edges": []}
    assert all([row["snapshot"] for row in events(name["id"], "graph_opened")] == [empty] for name in rows)
    killed = set(Path("killed").read_text().split())
    assert killed
    resumed = [name["id"] for name in rows if events(name["id"], "run_resumed")]
    assert resumed, "a run whose server was killed goes on in another slot"
    for name in resumed:
        # What was asked before is not asked again.
        asked = [row["step"] for row in events(name, "model_called")]
        assert len(asked) == len(set(asked))
    password = Path("pool/password").read_text()
    assert not any(password in path.read_text() for path in Path("out").rglob("*") if path.is_file())

    status = kgot("pool", "status", "--json", "--pool", "./pool", "--set", "backend=neo4j")
    told = json.loads(status.stdout)["slots"]
    # They start one after another, so that some may still wait for their turn.
    replaced = {slot["slot"] for slot in told if slot["servers_so_far"] > 1 or slot["state"] != "ready"}
    assert replaced == killed
    assert all(slot["holder"] is None for slot in told)
    assert kgot("pool", "stop", "--pool", "./pool").exit_code == 0
    assert {path.name for path in Path("pool").iterdir()} == {"logs"}
    assert "Started." in Path("pool/logs/slot-1.log").read_text(), "Neo4j's own log is kept"


def test_listed_servers_are_taken_as_they_are_and_foreign_content_stays(
    options: list[str], database: str, servers: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    from neo4j import GraphDatabase

    monkeypatch.setenv("KGOT_BACKENDS__NEO4J__PASSWORD", servers.PASSWORD)
    own = [part for pair in zip(options[::2], options[1::2], strict=True) if pair[0] != "--pool" for part in pair]
    own += ["--set", f"pool.neo4j={database}", "--model", "import:neo4j_pools:model", "--set", "extract.form=facts"]
    Path("tasks.jsonl").write_text('{"id": "a", "question": "How high?"}\n{"id": "b", "question": "How high is it?"}\n')
    with GraphDatabase.driver(database, auth=("neo4j", servers.PASSWORD)) as driver:
        driver.execute_query("MATCH (n) DETACH DELETE n")
        done = kgot("batch", "tasks.jsonl", "--out", "out", "--jobs", "2", *own)
        assert done.exit_code == 0, done.stderr
        results = [json.loads(line) for line in Path("out/results.jsonl").read_text().splitlines()]
        assert [row["status"] for row in results] == ["answered"] * 2, results

        driver.execute_query("CREATE (:Mine {name: 'kept'})")
        done = kgot("batch", "tasks.jsonl", "--out", "other", *own)
        assert done.exit_code == 1 and "kgot did not make" in done.stderr, done.stderr
        found = driver.execute_query("MATCH (n:Mine) RETURN count(n) AS n").records[0]["n"]
        driver.execute_query("MATCH (n) DETACH DELETE n")
    assert found == 1
