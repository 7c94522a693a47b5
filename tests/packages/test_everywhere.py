"""kgot works where there is no bubblewrap and none of what only Unix has: hidden here, then the demo is run."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# Code of the jail: read as text and run on Linux, inside bubblewrap.
IN_THE_JAIL = ("kgot_core.sandboxes.jail.", "kgot_networkx.jail.")
HIDE = """
import asyncio, concurrent.futures, importlib, io, multiprocessing, os, select, signal, subprocess, sys
import tempfile, threading
import platformdirs.unix
# What the standard library and others do on Unix is their own affair: they have other ways elsewhere.
MODULES = ("fcntl", "resource", "pwd", "grp", "termios", "tty", "pty", "syslog", "posix", "_posixsubprocess")
NAMES = {
    os: ("fork", "forkpty", "setsid", "getuid", "geteuid", "getgid", "setuid", "killpg", "mkfifo", "wait4",
         "sched_getaffinity", "setpgid", "getpgid", "chroot", "pidfd_open", "memfd_create"),
    signal: ("SIGALRM", "SIGKILL", "SIGUSR1", "SIGCHLD", "SIGHUP", "alarm", "setitimer", "pthread_sigmask"),
    select: ("poll", "epoll"),
}
for name in MODULES:
    sys.modules[name] = None
for module, names in NAMES.items():
    for name in names:
        if hasattr(module, name):
            delattr(module, name)

def hide(event, arguments):
    if event in ("open", "os.listdir", "os.scandir") and str(arguments[0]).startswith("/proc"):
        raise FileNotFoundError(2, "hidden", arguments[0])
    if event in ("os.fork", "os.forkpty"):
        raise NotImplementedError("hidden")

sys.addaudithook(hide)
"""
EVERY_MODULE = """
import pkgutil
from importlib import import_module
import kgot_core, kgot_networkx
count = 0
for package in (kgot_core, kgot_networkx):
    for found in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        if not found.name.startswith(SKIPPED) and not found.name.endswith("__main__"):
            import_module(found.name)
            count += 1
print(count)
"""


def run(code: str, folder: Path) -> subprocess.CompletedProcess[str]:
    env = {"PATH": str(folder), "HOME": str(folder), "PYTHONPATH": os.pathsep.join(sys.path[1:]), "LANG": "C.UTF-8"}
    return subprocess.run(
        [sys.executable, "-c", HIDE + code], cwd=folder, env=env, capture_output=True, text=True, timeout=120
    )


def command(*arguments: str) -> str:
    return f"from kgot_core.cli import main\nmain({list(arguments)!r})"


def test_every_module_can_be_imported(tmp_path: Path) -> None:
    done = run(f"SKIPPED = {IN_THE_JAIL}\n{EVERY_MODULE}", tmp_path)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 150


def test_the_demo_runs_in_the_subset_of_python(tmp_path: Path) -> None:
    done = run(command("demo"), tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "sandbox: monty" in done.stdout
    assert "1066 metres higher" in done.stdout.rpartition("answer: ")[2]
    assert "Traceback" not in done.stderr


def test_doctor_says_how_to_get_the_whole_language(tmp_path: Path) -> None:
    done = run(command("doctor"), tmp_path)
    assert "Traceback" not in done.stderr
    (place,) = [number for number, line in enumerate(done.stdout.splitlines()) if "sandbox bwrap:" in line]
    said, hint = done.stdout.splitlines()[place : place + 2]
    assert "not installed" in said
    assert "apt install bubblewrap" in hint
    assert "monty is used" in done.stdout


def test_other_commands_work(tmp_path: Path) -> None:
    for arguments in (["plugins", "list"], ["config", "show"], ["runs"]):
        done = run(command(*arguments), tmp_path)
        assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    "code", ["import fcntl", "import resource", "os.fork()", "signal.SIGALRM", "open('/proc/stat')"]
)
def test_the_hiding_hides(code: str, tmp_path: Path) -> None:
    assert run(code, tmp_path).returncode != 0
