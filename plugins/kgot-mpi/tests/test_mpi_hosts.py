"""Batches over two and three hosts that only a network connects."""

from __future__ import annotations

import importlib.util
import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

_spec = importlib.util.spec_from_file_location("kgot_tests_hosts", Path(__file__).with_name("hosts.py"))
assert _spec is not None and _spec.loader is not None
hosts_kit = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(hosts_kit)

# Their addresses are the same for every test.
pytestmark = pytest.mark.xdist_group("mpi-hosts")
CUT = 2.0
EVERY_MPI = ["openmpi", "openmpi-survives", "mpich"]


@pytest.fixture(params=[2, 3], ids=["two hosts", "three hosts"])
def hosts(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Any]:
    try:
        with hosts_kit.connected_hosts(tmp_path, request.param) as made:
            yield made
    except hosts_kit.NotHere as error:
        pytest.skip(str(error))


three_hosts = pytest.mark.parametrize("hosts", [3], indirect=True, ids=["three hosts"])


def options(name: str, hosts: Any) -> str:
    listed = ",".join(f"{address}:2" for address in hosts.addresses)
    if name == "mpich":
        return f"-launcher ssh -launcher-exec {hosts.agent} -localhost {hosts.addresses[0]} -hosts {listed}"
    network = "--mca btl_tcp_if_include eth0 --mca pml ob1 --mca btl self,sm,tcp --mca osc ^ucx"
    return f"--prtemca plm_ssh_agent {hosts.agent} {network} --host {listed}"


def on(mpi: Any, name: str, hosts: Any) -> Any:
    library = mpi(name, options=options(name, hosts))
    library.prefix = (hosts.enter, "1")
    if name == "mpich":
        library.environment["UCX_TLS"] = "tcp,self"
    return library


def start(library: Any, hosts: Any, tasks: int, **more: Any) -> Any:
    """Starts a batch with two ranks on each host."""
    return library.start(tasks, ranks=2 * len(hosts.addresses), **more)


def started(library: Any, hosts: Any) -> dict[int, Any]:
    """Waits until each rank runs a task; gives its call by rank."""
    return {call.said["rank"]: call for call in (library.desk.next() for _ in range(2 * len(hosts.addresses)))}


def names(count: int) -> list[str]:
    return sorted(f"t{number}" for number in range(count))


@pytest.mark.parametrize("name", EVERY_MPI)
def test_ranks_of_all_hosts_share_a_batch(mpi, hosts, name):
    library = on(mpi, name, hosts)
    job = start(library, hosts, 16)
    held = library.desk.next()
    library.desk.answer_all()
    library.desk.wait_for(16)
    held.answer()
    job.succeeds()
    assert sorted(job.records()) == names(16)
    said = job.ranks()
    assert {each["host"] for each in said.values()} == {hosts.host(n) for n in range(1, len(hosts.addresses) + 1)}
    # Over TCP no claim is served while the other rank is busy, and the probe has found that out.
    assert len(said) == 2 * len(hosts.addresses) and {each["transport"] for each in said.values()} == {"messages"}
    assert [note for note in job.notes("stole") if note["peer"] == held.said["rank"]]


@pytest.mark.parametrize("name", EVERY_MPI)
def test_a_cable_that_is_pulled_for_two_seconds_costs_nothing(mpi, hosts, name):
    library = on(mpi, name, hosts)
    job = start(library, hosts, 18)
    calls = started(library, hosts)
    hosts.cable("down", len(hosts.addresses))
    library.desk.answer_all()
    for call in calls.values():
        call.answer()
    threading.Event().wait(CUT)
    hosts.cable("up", len(hosts.addresses))
    job.succeeds()
    assert sorted(job.records()) == names(18)
    assert len(library.desk.tasks) == 18


@three_hosts
@pytest.mark.parametrize("lost_of_host", [1, 2], ids=["one rank", "both ranks of a host"])
def test_others_take_over_from_a_host_that_loses_ranks(mpi, hosts, lost_of_host):
    library = on(mpi, "openmpi-survives", hosts)
    job = start(library, hosts, 24)
    calls = started(library, hosts)
    last = [rank for rank, call in sorted(calls.items()) if call.said["host"] == hosts.host(3)]
    assert len(last) == 2
    lost = {rank: calls.pop(rank) for rank in last[:lost_of_host]}
    for call in lost.values():
        os.kill(call.said["pid"], signal.SIGKILL)
    for call in calls.values():
        call.answer()
    library.desk.answer_all()
    job.succeeds()
    assert sorted(job.ranks()) == sorted(calls)
    assert sorted(job.records()) == names(24)
    asked = library.desk.tasks
    assert {task for task in asked if asked.count(task) > 1} == {call.said["task"] for call in lost.values()}
    assert {note["peer"] for note in job.notes("lost")} == set(lost)


@three_hosts
@pytest.mark.parametrize("name", ["openmpi", "mpich"])
def test_a_rank_lost_on_one_host_has_the_batch_started_anew(mpi, hosts, name):
    library = on(mpi, name, hosts)
    job = start(library, hosts, 12, restarts=1)
    calls = started(library, hosts)
    lost = next(call for call in calls.values() if call.said["host"] == hosts.host(2))
    os.kill(lost.said["pid"], signal.SIGKILL)
    library.desk.answer_all()
    code, errors = job.end()
    assert code == 0, errors
    assert "a rank was lost" in errors and "restart 1 of 1" in errors
    assert sorted(job.records()) == names(12)
