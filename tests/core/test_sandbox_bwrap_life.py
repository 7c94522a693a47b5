from __future__ import annotations

import gc
import os
import select
import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from kgot_core.contracts.sandbox import CodeJob, Prelude, Sandbox, SandboxLimits
from kgot_core.errors import SandboxError
from kgot_core.sandboxes.bwrap import check
from kgot_core.sandboxes.providers import BWRAP, BwrapSettings
from kgot_core.testing.sandbox_suite import ready_sandbox

ROOT = Path(__file__).parents[2]
LIMITS = SandboxLimits(seconds=20.0, memory_mb=256, output_chars=2_000, file_mb=8, processes=16)
STATEFUL = Prelude("state = 0")
ADD = CodeJob("state += 1", after="state", commit="state = value")


@pytest.fixture
def sandbox() -> Sandbox:
    return ready_sandbox(BWRAP, BwrapSettings())


@pytest.fixture
def session(sandbox):
    session = sandbox.open(STATEFUL, LIMITS)
    yield session
    session.close()


def descendants(pid: int) -> list[int]:
    """Gives all processes below a process."""
    found: list[int] = []
    waiting = [pid]
    while waiting:
        for thread in Path(f"/proc/{waiting.pop()}/task").glob("*/children"):
            children = [int(child) for child in thread.read_text().split()]
            found += children
            waiting += children
    return found


def gone(pids: list[int]) -> bool:
    """Waits until processes have ended, five seconds for each at most."""
    for pid in pids:
        try:
            handle = os.pidfd_open(pid)
        except ProcessLookupError:
            continue
        try:
            if not select.select([handle], [], [], 5)[0]:
                return False
        finally:
            os.close(handle)
    return True


def jail_of(session) -> list[int]:
    """Gives the processes of the session's jail, told apart from those of other tests by an answer of its own."""
    own = [pid for pid in descendants(os.getpid()) if b"jail.worker" in Path(f"/proc/{pid}/cmdline").read_bytes()]
    assert own, "no jail is running"
    return own


def test_killed_worker_is_told_once_and_replaced(session):
    assert session.run(ADD).value == 1
    jail = jail_of(session)
    os.kill(jail[-1], signal.SIGKILL)
    assert gone(jail)
    with pytest.raises(SandboxError, match="lost"):
        session.run(ADD)
    assert session.run(ADD).value == 1


def test_worker_lost_without_state_is_replaced_silently(session):
    jail = jail_of(session)
    os.kill(jail[-1], signal.SIGKILL)
    assert gone(jail)
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


def test_close_leaves_no_process(sandbox):
    session = sandbox.open(STATEFUL, LIMITS)
    jail = jail_of(session)
    session.close()
    assert not [pid for pid in jail if Path(f"/proc/{pid}").exists()]


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


def test_jail_dies_with_its_host():
    ready_sandbox(BWRAP, BwrapSettings())
    code = (
        "from kgot_core.sandboxes.providers import *\nfrom kgot_core.contracts.sandbox import *\n"
        "s = open_bwrap(BwrapSettings()).open(Prelude(), SandboxLimits())\nprint('ready', flush=True)\n"
        "s.run(CodeJob('import signal\\nsignal.signal(15, signal.SIG_IGN)\\nwhile True: pass'))"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, env=environment) as host:
        assert host.stdout and host.stdout.readline() == b"ready\n"
        below = descendants(host.pid)
        assert len(below) >= 2
        host.kill()
    assert gone(below)


def test_missing_program_is_named_with_the_way_to_get_it():
    problem = check(BwrapSettings(path="no-such-bwrap"))
    assert problem is not None and "no-such-bwrap" in problem.message
    assert "apt install bubblewrap" in problem.hint
    with pytest.raises(SandboxError, match="not installed"):
        BWRAP.open(BwrapSettings(path="no-such-bwrap")).open(Prelude(), LIMITS)


def test_other_platforms_are_told_what_to_use(monkeypatch):
    for platform in ("darwin", "win32"):
        monkeypatch.setattr(sys, "platform", platform)
        problem = check(BwrapSettings())
        assert problem is not None and "Linux" in problem.message and "monty" in problem.hint


def test_closed_user_namespaces_are_a_problem_not_a_crash(sandbox):
    code = "from kgot_core.sandboxes.providers import *\nprint(check_bwrap(BwrapSettings()))"
    closed = ["bwrap", "--unshare-user", "--disable-userns", "--uid", "1000", "--gid", "1000", "--dev-bind", "/", "/"]
    if subprocess.run([*closed, "true"], capture_output=True, check=False).returncode:
        pytest.skip("this bubblewrap cannot close user namespaces")
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    run = subprocess.run([*closed, sys.executable, "-c", code], capture_output=True, text=True, env=environment)
    assert "cannot build a jail here" in run.stdout and "user namespaces" in run.stdout, run.stderr


def test_ordinary_user_has_the_same_jail(sandbox):
    python = Path("/usr/bin/python3")
    if os.geteuid() or not python.exists() or not shutil.which("setpriv"):
        pytest.skip("only root can become another user")
    code = (
        "from kgot_core.sandboxes.providers import *\nfrom kgot_core.contracts.sandbox import *\n"
        "s = open_bwrap(BwrapSettings()).open(Prelude('state = 0'), SandboxLimits(processes=8))\n"
        "print(s.run(CodeJob('import os', after='[os.getuid(), os.getgid(), os.listdir(\"/tmp\")]')).value)\n"
        "print(s.run(CodeJob('import os\\nwhile True: os.fork()')).limit)\n"
        'print(s.run(CodeJob(\'open("/x", "w")\')).error[-27:])\ns.close()'
    )
    user = ["setpriv", "--reuid", "1234", "--regid", "1234", "--clear-groups", str(python), "-B", "-c", code]
    run = subprocess.run(
        user, capture_output=True, text=True, cwd="/", env={"PYTHONPATH": str(ROOT), "PATH": os.environ["PATH"]}
    )
    if "No module named" in run.stderr or "SyntaxError" in run.stderr:
        pytest.skip("the system's Python cannot read this checkout")
    assert run.stdout.splitlines() == [
        "[65534, 65534, ['shm', 'work']]",
        "processes",
        "Read-only file system: '/x'",
    ], run.stderr
