"""What a process that reads files may not do, whatever a file makes a library do."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from kgot_tools_media.process import environment

TRIES = {
    "connect": "import socket; socket.create_connection(('127.0.0.1', 9))",
    "look up a name": "import socket; socket.getaddrinfo('example.org', 80)",
    "start a program": "import subprocess; subprocess.run(['true'])",
    "start a shell": "import os; os.system('true')",
    "fork": "import os; os.fork()",
}


def tried(code: str, write_mb: int = 0) -> str:
    """Runs code in a process with the limits, and gives what came of it."""
    whole = (
        "from kgot_tools_media.child.limits import limit\n"
        f"limit(256, {write_mb})\n"
        f"try:\n    exec({code!r})\n    print('done')\n"
        "except BaseException as error:\n    print(type(error).__name__)"
    )
    done = subprocess.run([sys.executable, "-c", whole], capture_output=True, text=True, env=environment(), timeout=60)
    return done.stdout.strip()


@pytest.mark.parametrize("name", TRIES)
def test_it_reaches_no_network_and_starts_nothing(name: str) -> None:
    assert tried(TRIES[name]) == "PermissionError"


def test_it_writes_no_file_unless_it_unpacks(tmp_path: Path) -> None:
    code = f"open({str(tmp_path / 'file')!r}, 'w', buffering=1).write('x' * 10 + chr(10))"
    assert tried(code) == "OSError"
    assert tried(code, write_mb=1) == "done"


def test_its_memory_is_limited() -> None:
    if sys.platform != "linux":
        pytest.skip("this machine does not limit the memory of a process")
    assert tried("bytearray(1 << 30)") == "MemoryError"


def test_it_is_given_no_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "key-4417")
    code = "import os, json; print(json.dumps(dict(os.environ)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment(), timeout=60)
    assert "4417" not in done.stdout and "PYTHONPATH" in json.loads(done.stdout)
    assert os.environ["OPENAI_API_KEY"] == "key-4417"
