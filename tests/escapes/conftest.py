"""One open session of every sandbox, and what has to hold after each job in it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kgot_core.contracts.sandbox import CodeJob, Prelude, SandboxLimits, SandboxSession
from kgot_core.sandboxes.docker.engine import connect
from kgot_core.sandboxes.providers import BWRAP, DOCKER, MONTY, SARUS, BwrapSettings, MontySettings
from kgot_core.testing.sandbox_suite import ready_sandbox

LIMITS = SandboxLimits(seconds=20.0, memory_mb=256, output_chars=2_000, file_mb=8, processes=12)


DOCKER_HERE = pytest.param("docker", marks=pytest.mark.xdist_group("docker"))


@pytest.fixture(scope="module", params=["bwrap", DOCKER_HERE, "sarus"])
def jail(request: pytest.FixtureRequest) -> Iterator[SandboxSession]:
    """A session with full Python; when it is closed, nothing of it is left on the host."""
    if request.param == "bwrap":
        sandbox, left = ready_sandbox(BWRAP, BwrapSettings()), workers
    elif request.param == "sarus":
        sandbox, left = ready_sandbox(SARUS, request.getfixturevalue("sarus_settings")), workers
    else:
        settings = request.getfixturevalue("docker_settings")
        sandbox = ready_sandbox(DOCKER, settings)

        def left() -> list[str]:
            return [str(one.name) for one in connect(settings).containers.list(all=True, filters={"label": LABEL})]

    session = sandbox.open(Prelude("kept = 'untouched'"), LIMITS)
    assert left()
    yield session
    session.close()
    assert not left()


LABEL = f"kgot.sandbox={os.getpid()}"


def workers() -> list[str]:
    """Gives the processes of jails below this one."""
    found = []
    for status in Path("/proc").glob("[0-9]*/status"):
        try:
            lines = dict(line.split(":\t", 1) for line in status.read_text().splitlines() if ":\t" in line)
            command = (status.parent / "cmdline").read_bytes()
        except OSError:
            continue
        if lines["PPid"] == str(os.getpid()) and b"jail.worker" in command:
            found.append(status.parent.name)
    return found


@pytest.fixture(scope="module")
def subset() -> Iterator[SandboxSession]:
    """A session with a part of Python."""
    session = ready_sandbox(MONTY, MontySettings()).open(Prelude(), LIMITS)
    yield session
    session.close()


@pytest.fixture
def unaffected() -> Callable[[SandboxSession], None]:
    """Checks that the next job finds the jail as it was."""

    def check(session: SandboxSession) -> None:
        code = "import os\npids = [name for name in os.listdir('/proc') if name.isdigit()]"
        after = "[kept, pids == ['1', str(os.getpid())], *map(sorted, map(os.listdir, ('/tmp', '/dev/shm', '.')))]"
        result = session.run(CodeJob(code, after=after))
        assert result.value == ["untouched", True, ["shm", "work"], [], []], result

    return check
