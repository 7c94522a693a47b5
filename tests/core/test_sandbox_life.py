"""How sessions with full Python end, are ended, and go on after a lost worker: the same in every sandbox."""

from __future__ import annotations

import gc
import os
import signal
import threading
from collections.abc import Callable

import pytest

from kgot_core.contracts.sandbox import CodeJob, Prelude, Sandbox, SandboxLimits
from kgot_core.errors import SandboxError
from kgot_core.sandboxes.docker.engine import connect
from kgot_core.sandboxes.providers import BWRAP, DOCKER, SARUS, BwrapSettings
from kgot_core.testing.sandbox_suite import ready_sandbox

LIMITS = SandboxLimits(seconds=20.0, memory_mb=256, output_chars=2_000, file_mb=8, processes=16)
STATEFUL = Prelude("state = 0")
ADD = CodeJob("state += 1", after="state", commit="state = value")


DOCKER_HERE = pytest.param("docker", marks=pytest.mark.xdist_group("docker"))


@pytest.fixture(params=["bwrap", DOCKER_HERE, "sarus"])
def sandbox(request: pytest.FixtureRequest) -> Sandbox:
    if request.param == "bwrap":
        return ready_sandbox(BWRAP, BwrapSettings())
    if request.param == "sarus":
        return ready_sandbox(SARUS, request.getfixturevalue("sarus_settings"))
    return ready_sandbox(DOCKER, request.getfixturevalue("docker_settings"))


@pytest.fixture
def session(sandbox):
    session = sandbox.open(STATEFUL, LIMITS)
    yield session
    session.close()


@pytest.fixture
def kill_worker(session, sandbox, request, processes) -> Callable[[], None]:
    """Kills the session's worker from outside, and comes back when it has gone."""

    def kill_process() -> None:
        jail = processes.jail_of(os.getpid())
        os.kill(processes.first_of(jail), signal.SIGKILL)
        assert processes.gone(jail)

    def kill_container() -> None:
        client = connect(request.getfixturevalue("docker_settings"))
        for container in client.containers.list(filters={"label": f"kgot.sandbox={os.getpid()}"}):
            container.kill()
            container.wait(condition="removed")

    return kill_container if sandbox.name == "docker" else kill_process


def test_killed_worker_is_told_once_and_replaced(session, kill_worker):
    assert session.run(ADD).value == 1
    kill_worker()
    with pytest.raises(SandboxError, match="lost"):
        session.run(ADD)
    assert session.run(ADD).value == 1


def test_worker_lost_without_state_is_replaced_silently(session, kill_worker):
    kill_worker()
    assert session.run(ADD).value == 1


def test_worker_that_hangs_in_trusted_code_is_replaced(session):
    session.run(ADD)
    limits = SandboxLimits(seconds=0.2)
    with pytest.raises(SandboxError, match="does not answer"):
        session.run(CodeJob("1", commit="while True: pass", limits=limits))
    assert session.run(ADD).value == 1


def test_cancelling_keeps_the_state(session):
    session.run(ADD)
    ended = threading.Event()

    def keep_cancelling():
        while not ended.wait(0.02):
            session.cancel()

    thread = threading.Thread(target=keep_cancelling)
    thread.start()
    assert session.run(CodeJob("import time\ntime.sleep(60)")).limit == "time"
    ended.set()
    thread.join()
    session.cancel()
    assert session.run(ADD).value == 2


def test_close_during_a_job_ends_it(session):
    started = threading.Event()
    errors: list[str] = []

    def work():
        started.set()
        try:
            session.run(CodeJob("import time\ntime.sleep(60)"))
        except SandboxError as error:
            errors.append(error.message)

    thread = threading.Thread(target=work)
    thread.start()
    started.wait()
    session.close()
    thread.join(10)
    assert not thread.is_alive() and len(errors) == 1


def test_session_outlives_the_thread_that_opened_it(sandbox):
    sessions = []
    thread = threading.Thread(target=lambda: sessions.append(sandbox.open(STATEFUL, LIMITS)))
    thread.start()
    thread.join()
    gc.collect()
    values = [sessions[0].run(ADD).value, sessions[0].run(ADD).value]
    sessions[0].close()
    assert values == [1, 2]


def test_two_sessions_do_not_see_each_other(sandbox, session):
    other = sandbox.open(STATEFUL, LIMITS)
    try:
        session.run(ADD)
        assert other.run(CodeJob("state")).value == "0"
    finally:
        other.close()


def test_packages_of_the_run_are_seen_at_once_and_cannot_be_changed(sandbox, tmp_path):
    tmp_path.chmod(0o755)
    session = sandbox.open(Prelude(packages=tmp_path), LIMITS)
    try:
        (tmp_path / "late.py").write_text("answer = 42\n")
        assert session.run(CodeJob("import late\nlate.answer")).value == "42"
        assert "Read-only" in session.run(CodeJob("open('/opt/packages/late.py', 'w')")).error
    finally:
        session.close()
