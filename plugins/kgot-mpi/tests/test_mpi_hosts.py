"""Batches over two hosts that only a network connects."""

from __future__ import annotations

import importlib.util
import threading
from pathlib import Path

import pytest

_spec = importlib.util.spec_from_file_location("kgot_tests_hosts", Path(__file__).with_name("hosts.py"))
assert _spec is not None and _spec.loader is not None
hosts_kit = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(hosts_kit)

# Their addresses are the same for every test.
pytestmark = pytest.mark.xdist_group("mpi-hosts")
CUT = 2.0


@pytest.fixture
def hosts(tmp_path):
    try:
        with hosts_kit.two_hosts(tmp_path) as made:
            yield made
    except hosts_kit.NotHere as error:
        pytest.skip(str(error))


def options(name, hosts):
    listed = ",".join(f"{address}:2" for address in hosts.addresses)
    if name == "mpich":
        return f"-launcher ssh -launcher-exec {hosts.agent} -localhost {hosts.addresses[0]} -hosts {listed}"
    network = "--mca btl_tcp_if_include eth0 --mca pml ob1 --mca btl self,sm,tcp --mca osc ^ucx"
    return f"--prtemca plm_ssh_agent {hosts.agent} {network} --host {listed}"


def on(mpi, name, hosts):
    library = mpi(name, options=options(name, hosts))
    library.prefix = (hosts.enter, "1")
    if name == "mpich":
        library.environment["UCX_TLS"] = "tcp,self"
    return library


@pytest.mark.parametrize("name", ["openmpi", "openmpi-survives", "mpich"])
def test_ranks_of_two_hosts_share_a_batch(mpi, hosts, name):
    library = on(mpi, name, hosts)
    job = library.start(16)
    held = library.desk.next()
    library.desk.answer_all()
    library.desk.wait_for(16)
    held.answer()
    job.succeeds()
    assert sorted(job.records()) == sorted(f"t{number}" for number in range(16))
    said = job.ranks()
    # Over TCP no claim is served while the other rank is busy, and the probe has found that out.
    assert len(said) == 4 and {each["transport"] for each in said.values()} == {"messages"}
    assert [note for note in job.notes("stole") if note["peer"] == held.said["rank"]]


@pytest.mark.parametrize("name", ["openmpi", "mpich"])
def test_a_cable_that_is_pulled_for_two_seconds_costs_nothing(mpi, hosts, name):
    library = on(mpi, name, hosts)
    job = library.start(12)
    calls = [library.desk.next() for _ in range(4)]
    hosts.cable("down")
    library.desk.answer_all()
    for call in calls:
        call.answer()
    threading.Event().wait(CUT)
    hosts.cable("up")
    job.succeeds()
    assert sorted(job.records()) == sorted(f"t{number}" for number in range(12))
    assert len(library.desk.tasks) == 12
