from __future__ import annotations

import os
import re
import socket
from pathlib import Path

import pytest

from kgot_core.contracts.sandbox import CodeJob, SandboxLimits

LIMITS = SandboxLimits(seconds=20.0, memory_mb=256, output_chars=2_000, file_mb=8, processes=12)
MARK = Path("/var/tmp/kgot-escaped")
CALL = (
    "import ctypes, os, platform\nlibc = ctypes.CDLL(None, use_errno=True)\narm = platform.machine() == 'aarch64'\n"
    "def call(x86, on_arm, *rest):\n    if libc.syscall(on_arm if arm else x86, *rest) < 0:\n"
    "        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))\n    print('escaped')\n"
)
DENIED = "PermissionError|No such file|Read-only|not permitted"

# Name, script, what the result must say.
ESCAPES = [
    ("passwords", "print(open('/etc/passwd').read())", "No such file"),
    ("other users' files", "import os\nprint(os.listdir('/home'), os.listdir('/root'))", "No such file"),
    ("project", f"import os\nprint(os.listdir({str(Path(__file__).parent)!r}))", "No such file"),
    ("host's environment", "print(open('/proc/1/environ').read())", "PermissionError"),
    ("worker's memory", "open('/proc/1/mem', 'r+b')", "PermissionError"),
    ("worker's files", "import os\nprint(os.listdir('/proc/1/fd'))", "PermissionError"),
    ("worker's root", "import os\nprint(os.listdir('/proc/1/root'))", "PermissionError"),
    ("worker's limits", "import resource\nresource.prlimit(1, resource.RLIMIT_NOFILE, (0, 0))", "PermissionError"),
    ("worker's priority", "import os\nos.setpriority(os.PRIO_PROCESS, 1, 19)", "PermissionError"),
    ("worker's program", "open('/proc/1/exe', 'r+b')", "PermissionError"),
    ("worker's source", "open('/opt/kgot/jail/worker.py', 'a')", DENIED),
    ("own limits", "import resource\nresource.setrlimit(resource.RLIMIT_AS, (-1, -1))", "not allowed"),
    ("loopback", "import socket\nsocket.create_connection(('127.0.0.1', 22), 2)", "refused|family not supported"),
    (
        "metadata",
        "import urllib.request as u\nu.urlopen('http://169.254.169.254/')",
        "unreachable|family not supported",
    ),
    (
        "six",
        "import socket\nsocket.create_connection(('2001:db8::1', 80), 2)",
        "unreachable|Cannot assign|family not supported",
    ),
    ("name look-up", "import socket\nsocket.gethostbyname('example.org')", "gaierror"),
    ("metadata by name", "import socket\nsocket.getaddrinfo('metadata.google.internal', 80)", "gaierror"),
    (
        "raw socket",
        "import socket\nsocket.socket(socket.AF_INET, socket.SOCK_RAW, 1)",
        "PermissionError|family not supported",
    ),
    ("packet socket", "import socket\nsocket.socket(17, 3)", "family not supported"),
    ("virtual machine's host", "import socket\nsocket.socket(40, 1)", "family not supported"),
    (
        "Docker's socket",
        "import socket\nsocket.socket(socket.AF_UNIX).connect('/var/run/docker.sock')",
        "No such file|family not supported",
    ),
    ("shell", f"import os\nprint(os.system('touch {MARK}'))", "No such file"),
    ("write to root", "open('/escaped', 'w')", "Read-only|PermissionError"),
    ("write to system", "open('/usr/bin/escaped', 'w')", "Read-only|PermissionError"),
    ("write to devices", "open('/dev/escaped', 'w')", "Read-only|PermissionError"),
    ("write to packages", "import os\nopen(os.path.dirname(os.__file__) + '/escaped.py', 'w')", DENIED),
    ("disk", "import os\nos.open('/dev/vda', 0)\nos.open('/dev/sda', 0)", DENIED),
    ("terminal", "open('/dev/tty', 'w')", "No such|Read-only|PermissionError"),
    ("control groups", "open('/sys/fs/cgroup/cgroup.procs', 'w')", DENIED),
    ("release agent", "open('/sys/fs/cgroup/memory/release_agent', 'w')", DENIED),
    ("kernel settings", "open('/proc/sys/kernel/core_pattern', 'w')", "PermissionError|Read-only"),
    ("reboot trigger", "open('/proc/sysrq-trigger', 'w')", DENIED),
    ("kernel log", CALL + "call(103, 116, 3, 0, 0)", "not permitted"),
    ("link out", "import os\nos.symlink('/etc/shadow', 'link')\nprint(open('link').read())", "No such file"),
    ("hard link", "import os\nos.link('/usr/bin/env', 'env')", "OSError|PermissionError"),
    ("device node", "import os, stat\nos.mknod('disk', 0o600 | stat.S_IFBLK, os.makedev(8, 0))", "PermissionError"),
    ("become root", "import os\nos.setuid(0)", "PermissionError|Invalid argument"),
    ("set-user-id program", "import subprocess\nsubprocess.run(['su', '-c', 'id'], check=True)", "Error"),
    ("change root", "import os\nos.chroot('.')", "PermissionError"),
    ("mount", CALL + "call(165, 40, b'none', b'/tmp', b'tmpfs', 0, None)", "not permitted"),
    ("unshare", CALL + "call(272, 97, 0x10000000)", "not permitted"),
    ("clone with namespaces", CALL + "call(56, 220, 0x10000011, 0, 0, 0, 0)", "not permitted"),
    ("newer clone", CALL + "call(435, 435, 0, 0)", "not implemented"),
    ("join namespaces", CALL + "call(308, 268, 3, 0)", "not permitted"),
    ("trace the worker", CALL + "call(101, 117, 16, 1, 0, 0)", "not permitted"),
    ("write to the worker", CALL + "call(311, 271, 1, 0, 0, 0, 0, 0)", "not permitted"),
    ("memory nobody counts", "import os\nos.memfd_create('m')", "PermissionError"),
    ("System V memory", CALL + "call(29, 194, 0, 1 << 30, 0o1600)", "not permitted"),
    ("kernel programs", CALL + "call(321, 280, 0, 0, 0)", "not permitted"),
    ("kernel module", CALL + "call(313, 273, 3, b'', 0)", "not permitted"),
    ("file by its handle", CALL + "call(304, 265, 3, 0, 0)", "not permitted"),
    ("ring of calls", CALL + "call(425, 425, 8, 0)", "not permitted"),
    ("keys of the kernel", CALL + "call(250, 219, 0, -3, 0)", "not permitted"),
    (
        "subclasses",
        "import subprocess\nP = [c for c in ().__class__.__base__.__subclasses__() if c.__name__ == 'Popen'][0]\n"
        f"print(P(['touch', '{MARK}']).wait())",
        "No such file",
    ),
]


@pytest.mark.parametrize(("name", "code", "says"), ESCAPES, ids=[name for name, *_ in ESCAPES])
def test_escape_is_denied_by_name(jail, unaffected, name, code, says):
    result = jail.run(CodeJob(code))
    text = result.output + result.error
    assert result.limit == "" and "escaped\n" not in result.output
    assert re.search(says, text), text
    assert not MARK.exists()
    unaffected(jail)


def test_server_of_the_host_hears_nothing_in_any_way(jail, unaffected, tmp_path):
    path = str(tmp_path / "socket")
    with socket.create_server(("0.0.0.0", 0)) as server, socket.socket(socket.AF_UNIX) as local:
        server.setblocking(False)
        local.setblocking(False)
        local.bind(path)
        local.listen()
        abstract = socket.socket(socket.AF_UNIX)
        abstract.bind("\0kgot-test-" + str(os.getpid()))
        abstract.setblocking(False)
        abstract.listen()
        for family, address in (
            (2, ("127.0.0.1", server.getsockname()[1])),
            (2, (socket.gethostname(), server.getsockname()[1])),
            (1, path),
            (1, abstract.getsockname()),
        ):
            result = jail.run(
                CodeJob(f"import socket\ns = socket.socket({family})\ns.settimeout(2)\ns.connect({address!r})")
            )
            assert result.error
        for listener in (server, local, abstract):
            with pytest.raises(BlockingIOError):
                listener.accept()
        abstract.close()


@pytest.mark.parametrize(("name", "code", "says"), ESCAPES, ids=[name for name, *_ in ESCAPES])
def test_escape_ends_in_an_error_in_monty(subset, name, code, says):
    result = subset.run(CodeJob(code))
    assert result.error and not result.output and not MARK.exists()
    assert subset.run(CodeJob("6 * 7")).value == "42"
