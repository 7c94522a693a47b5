"""A batch over a Ray cluster of several nodes on this machine, which loses some of them."""

from __future__ import annotations

import json
import os
import select
import signal
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.xdist_group("ray")
SYSTEM = {"health_check_initial_delay_ms": 0, "health_check_period_ms": 500, "health_check_failure_threshold": 4}


def parent(process: int) -> int:
    return int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])


class Nodes:
    """A head, on which the command's own actor lives, and nodes on which ranks run."""

    def __init__(self) -> None:
        from ray.cluster_utils import Cluster

        head = {"num_cpus": 0, "object_store_memory": 100_000_000, "include_dashboard": False}
        self.cluster = Cluster(initialize_head=True, head_node_args={**head, "_system_config": SYSTEM})
        self.nodes: list[Any] = []

    def add(self, processors: int) -> None:
        self.nodes.append(self.cluster.add_node(num_cpus=processors, object_store_memory=100_000_000))

    def lose(self, process: int) -> None:
        """Kills the node on which a process runs, with all that runs on it."""
        (node,) = [one for one in self.nodes if self._raylet(one) == parent(process)]
        self.nodes.remove(node)
        alive = os.pidfd_open(process)
        self.cluster.remove_node(node, allow_graceful=False)
        # It would live until it hears of the loss, and could go on working for a moment.
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(alive, signal.SIGKILL)
        select.select([alive], [], [])
        os.close(alive)

    @staticmethod
    def _raylet(node: Any) -> int:
        return int(node.all_processes["raylet"][0].process.pid)


@pytest.fixture
def nodes(command: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Nodes]:
    if not Path("/proc/self/stat").exists():
        pytest.skip("this machine does not show the parents of processes")
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    # The nodes find the test's model as they find kgot.
    monkeypatch.setenv("PYTHONPATH", command.environment["PYTHONPATH"])
    made = Nodes()
    yield made
    made.cluster.shutdown()


@pytest.fixture
def on_cluster(command: Any, nodes: Nodes) -> Any:
    """The options that send a batch to the cluster."""
    values = {"address": nodes.cluster.address, "environment": json.dumps(["DESK"])}
    return [part for name, value in values.items() for part in ("--set", f"schedulers.ray.{name}={value}")]


def test_a_lost_node_s_tasks_go_on_on_another(command, desk, helpers, nodes, on_cluster):
    nodes.add(2)
    nodes.add(2)
    process = command.batch(*on_cluster)
    # One request each is answered, so that something is paid for already.
    second = desk.after_one_answer_each()
    assert len({parent(call.said["pid"]) for call in second}) == 2, "the ranks are spread over the nodes"
    nodes.lose(second[0].said["pid"])
    for call in second:
        call.answer()
    desk.answer_all()
    code, _, errors = helpers.end(process)
    assert code == 0, errors
    assert command.answered() == helpers.ALL_TASKS
    lost = second[0].said["task"].replace("town", "t")
    assert [note["task"] for note in command.notes("took_over")] == [lost]
    # Of what was answered before the loss nothing is asked again.
    stage, asked = desk.asked[0]["stage"], [(said["task"], said["stage"]) for said in desk.asked]
    assert len({asked.count((f"town{number}", stage)) for number in range(8)}) == 1


def test_without_room_the_batch_ends_with_the_reason_and_resume_goes_on(command, desk, helpers, nodes, on_cluster):
    nodes.add(2)
    process = command.batch(*on_cluster, "--set", "schedulers.ray.room_seconds=0")
    calls = [desk.next(), desk.next()]
    nodes.lose(calls[0].said["pid"])
    code, _, errors = helpers.end(process)
    assert code == 1, errors
    assert "no rank has been heard of" in errors and "there is no room for a rank in the cluster" in errors
    assert "kgot resume goes on" in errors
    nodes.add(2)
    desk.answer_all()
    code, _, errors = helpers.end(command.start("resume", "out"))
    assert code == 0, errors
    assert command.answered() == helpers.ALL_TASKS


def test_what_a_lost_rank_has_spent_counts_towards_the_cap_of_the_batch(command, desk, helpers):
    process = command.batch("--ranks", "1", "--batch-max-tokens", "30000")
    seen = 0
    while True:
        call = desk.next()
        seen += call.said["task"] not in {said["task"] for said in desk.asked[:-1]}
        if seen == 2:
            # The first task has ended, and the second has just begun.
            os.kill(call.said["pid"], signal.SIGKILL)
            break
        call.answer()
    desk.answer_all()
    code, _, errors = helpers.end(process)
    assert code == 0, errors
    used = json.loads((command.folder / "out" / "batch.json").read_text())["totals"]["usage"]
    assert used["requests"] > 0 and used["input_tokens"] + used["output_tokens"] <= 30_000
    rows = [json.loads(line) for line in (command.folder / "out" / "results.jsonl").read_text().splitlines()]
    assert "answered" in {row["status"] for row in rows} and "failed" in {row["status"] for row in rows}, rows
