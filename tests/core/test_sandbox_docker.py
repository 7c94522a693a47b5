from __future__ import annotations

import pytest

from kgot_core.contracts.sandbox import Sandbox
from kgot_core.sandboxes.providers import DOCKER
from kgot_core.testing.sandbox_suite import SandboxSuite, ready_sandbox

pytestmark = pytest.mark.xdist_group("docker")


class TestDocker(SandboxSuite):
    @pytest.fixture
    def sandbox(self, docker_settings) -> Sandbox:
        return ready_sandbox(DOCKER, docker_settings)
