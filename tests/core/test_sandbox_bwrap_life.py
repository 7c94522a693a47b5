from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from kgot_core.contracts.sandbox import CodeJob, Prelude, Sandbox, SandboxLimits
from kgot_core.errors import SandboxError
from kgot_core.sandboxes.bwrap.sandbox import check
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


def test_close_leaves_no_process(sandbox, processes):
    session = sandbox.open(STATEFUL, LIMITS)
    jail = processes.jail_of(os.getpid())
    session.close()
    assert not [pid for pid in jail if Path(f"/proc/{pid}").exists()]


def test_jail_dies_with_its_host(processes):
    ready_sandbox(BWRAP, BwrapSettings())
    code = (
        "from kgot_core.sandboxes.providers import *\nfrom kgot_core.contracts.sandbox import *\n"
        "s = open_bwrap(BwrapSettings()).open(Prelude(), SandboxLimits())\nprint('ready', flush=True)\n"
        "s.run(CodeJob('import signal\\nsignal.signal(15, signal.SIG_IGN)\\nwhile True: pass'))"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, env=environment) as host:
        assert host.stdout and host.stdout.readline() == b"ready\n"
        below = processes.descendants(host.pid)
        assert len(below) >= 2
        host.kill()
    assert processes.gone(below)


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


def test_a_job_whose_waiting_process_was_lost_gets_another(session, processes):
    assert session.run(ADD).value == 1
    waiting = processes.waiting_in(processes.jail_of(os.getpid()))
    os.kill(waiting, signal.SIGKILL)
    assert processes.gone([waiting])
    assert session.run(ADD).value == 2
