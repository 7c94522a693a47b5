from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
HIDE = """
import sys, os, signal, select
for name in ("fcntl", "resource", "pwd", "grp", "termios", "tty", "pty", "_posixsubprocess"):
    sys.modules[name] = None
for module, names in ((os, ("fork", "setsid", "getuid", "geteuid", "uname")), (signal, ("SIGALRM", "SIGKILL", "alarm")),
                      (select, ("poll", "epoll"))):
    for name in names:
        if hasattr(module, name):
            delattr(module, name)
import builtins
real = builtins.open
def no_proc(path, *more, **named):
    if str(path).startswith("/proc"):
        raise FileNotFoundError(path)
    return real(path, *more, **named)
builtins.open = no_proc
"""


def run(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_modules_can_be_imported_where_unix_is_missing():
    names = (
        "providers",
        "auto",
        "bwrap.sandbox",
        "worker.session",
        "worker.process",
        "bwrap.command",
        "jail.seccomp",
        "files",
        "monty.sandbox",
        "jail.wire",
    )
    imports = "".join(f"import kgot_core.sandboxes.{name}\n" for name in names)
    subprocess_first = "import subprocess, threading, tempfile\n"
    assert run(subprocess_first + HIDE + imports + "print('imported')") == "imported\n"


def test_listing_the_providers_loads_nothing_heavy():
    code = (
        "import sys\nfrom kgot_core.sandboxes.providers import SANDBOXES\n"
        "heavy = {'pydantic_monty', 'subprocess', 'ctypes', 'networkx', 'pydantic', 'kgot_core.sandboxes.bwrap'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    assert run(code) == "[]\n"


def test_jail_s_code_needs_nothing_of_the_project():
    folder = ROOT / "kgot_core/sandboxes/jail"
    for source in folder.glob("*.py"):
        assert "kgot_core" not in source.read_text().replace(":class:`kgot_core", ""), source.name
