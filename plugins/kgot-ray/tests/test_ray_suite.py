"""The scheduler kit: with the only rank's desk, and with one that is an actor of a real Ray."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kgot_core.testing.scheduler_suite import SchedulerSuite
from kgot_ray.cluster import connected
from kgot_ray.desk import Desk
from kgot_ray.lines import RayLine
from kgot_ray.plugin import kgot_schedulers
from kgot_ray.scheduler import RayScheduler
from kgot_ray.settings import RaySettings

# One Ray at a time: each takes some seconds and hundreds of megabytes.
pytestmark = pytest.mark.xdist_group("ray")


class TestAlone(SchedulerSuite):
    provider = next(iter(kgot_schedulers()))


class TestThroughRay(SchedulerSuite):
    @pytest.fixture(scope="class")
    def ray(self) -> Iterator[object]:
        with connected(RaySettings(ranks=1)):
            import ray

            yield ray

    @pytest.fixture
    def scheduler(self, ray) -> Iterator[RayScheduler]:
        scheduler = RayScheduler(RayLine(ray.remote(Desk).options(num_cpus=0).remote()))
        yield scheduler
        scheduler.close()
