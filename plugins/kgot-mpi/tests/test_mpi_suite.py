"""The scheduler kit, with one rank: this process."""

from __future__ import annotations

import pytest

from kgot_core.testing.scheduler_suite import SchedulerSuite
from kgot_mpi.plugin import kgot_schedulers

# MPI is started once a process.
pytestmark = pytest.mark.xdist_group("mpi")


class TestMpi(SchedulerSuite):
    provider = next(iter(kgot_schedulers()))
