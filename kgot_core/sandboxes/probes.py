"""Tries a sandbox out: a small job, then a few harmless attempts that it has to deny; host and network see nothing."""

from __future__ import annotations

import os
import socket
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from kgot_core.contracts.sandbox import CodeJob, CodeResult, Prelude, Sandbox, SandboxLimits, SandboxSession
from kgot_core.errors import SandboxError

_LIMITS = SandboxLimits(seconds=5.0, memory_mb=256, output_chars=2_000, file_mb=4, processes=16)
_SHORT = SandboxLimits(seconds=0.5, memory_mb=256, output_chars=2_000, file_mb=4, processes=16)
_SECRET = "kgot-sandbox-check"
_JOBS = 5


@dataclass(frozen=True)
class Finding:
    """What one attempt showed.

    Attributes:
        what: What was tried.
        fault: What is wrong, empty where nothing is.
        detail: A figure, where there is one.
    """

    what: str
    fault: str = ""
    detail: str = ""


@dataclass(frozen=True)
class _Probe:
    what: str
    code: str
    fault: Callable[[CodeResult], str]
    limits: SandboxLimits = _LIMITS
    good: str = "denied"


def try_out(sandbox: Sandbox) -> Iterator[Finding]:
    """Opens a session and tries it; the first finding with a fault may be the last.

    Raises:
        SandboxError: The sandbox cannot be started.
    """
    began = time.monotonic()
    session = sandbox.open(Prelude(), _LIMITS)
    try:
        yield Finding("start", detail=f"{(time.monotonic() - began) * 1000:.0f} ms")
        yield _first_job(session)
        with tempfile.TemporaryDirectory() as name, socket.create_server(("127.0.0.1", 0)) as server:
            secret = Path(name, "secret.txt")
            secret.write_text(_SECRET)
            for probe in _probes(secret, server.getsockname()[1]):
                yield _try(session, probe)
        yield _first_job(session, "the job after them")
    finally:
        session.close()


def _first_job(session: SandboxSession, what: str = "a job") -> Finding:
    times = []
    for _ in range(_JOBS):
        began = time.monotonic()
        result = session.run(CodeJob("print(sum(range(10)))\n6 * 7"))
        times.append(time.monotonic() - began)
        if (result.output, result.value) != ("45\n", "42"):
            return Finding(what, result.error or "it gives a wrong result")
    return Finding(what, detail=f"{min(times) * 1000:.1f} ms")


def _try(session: SandboxSession, probe: _Probe) -> Finding:
    try:
        result = session.run(CodeJob(probe.code, limits=probe.limits))
    except SandboxError as error:
        return Finding(probe.what, error.message)
    return Finding(probe.what, probe.fault(result), "" if probe.fault(result) else probe.good)


def _probes(secret: Path, port: int) -> Iterator[_Probe]:
    yield _Probe("a file of the host", f"print(open({str(secret)!r}).read())", _shows(_SECRET))
    home = str(Path.home())
    yield _Probe("the home folder", f"import os\nprint('listed', os.listdir({home!r}))", _shows("listed"))
    yield _Probe("writing beside the file", f"open({str(secret) + '.new'!r}, 'w').write('x')", _wrote(secret))
    yield _Probe("the environment", "import os\nprint('\\n'.join(os.environ.values()))", _environment)
    connect = f"import socket\nsocket.create_connection(('127.0.0.1', {port}), 2)\nprint('connected')"
    yield _Probe("a server on this machine", connect, _shows("connected"))
    look_up = "import socket\nprint('found', socket.gethostbyname('localhost.localdomain.invalid'))"
    yield _Probe("a name look-up", look_up, _shows("found"))
    program = "import subprocess\nprint('status', subprocess.run(['mount', '-t', 'tmpfs', 'none', '/']).returncode)"
    yield _Probe("mounting", program, _shows("status 0"))
    fill = "rows = []\nwhile True:\n    rows.append('x' * 10**6)"
    write = "with open('big', 'w') as f:\n    while True:\n        f.write('x' * 10**5)"
    flood = "while True:\n    print('x' * 10**4)"
    yield _Probe("the time limit", "while True:\n    pass", _limit("time"), _SHORT, "holds")
    yield _Probe("the memory limit", fill, _limit("memory"), good="holds")
    yield _Probe("the limit of files", write, _limit("files"), good="holds")
    yield _Probe("the limit of output", flood, _limit("output", "time"), good="holds")


def _shows(text: str) -> Callable[[CodeResult], str]:
    return lambda result: "the script reached it" if text in f"{result.output}{result.value}" else ""


def _wrote(secret: Path) -> Callable[[CodeResult], str]:
    return lambda result: "the script wrote there" if secret.with_name(f"{secret.name}.new").exists() else ""


def _limit(*names: str) -> Callable[[CodeResult], str]:
    return lambda result: (
        "" if result.limit in names else f"it is not limited: {result.error or 'the script ended well'}"
    )


def _environment(result: CodeResult) -> str:
    """Looks for values that are long enough to be this process's own and nobody else's."""
    seen = set(result.output.split("\n"))
    told = [name for name, value in os.environ.items() if len(value) > 12 and value in seen and name != "PATH"]
    return f"the script sees {', '.join(sorted(told))}" if told else ""
