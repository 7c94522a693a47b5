"""Other users of the machine: what they see of a pool, and what they could put in its way."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kgot_core.errors import UsageError
from kgot_core.pool.place import private_folder, refuse_foreign
from kgot_core.pool.server import STRANGER, stranger_at
from kgot_core.pool.starting import keeper_environment

NOBODY = 65534
ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="only root can act as another user")
LISTEN = """
import os, socket, sys
os.setgid({nobody}); os.setuid({nobody})
server = socket.create_server(({host!r}, {port}), family=socket.AF_INET6 if ":" in {host!r} else socket.AF_INET)
print(server.getsockname()[1], flush=True)
server.settimeout({patience})
try:
    print("told: " + repr(server.accept()[0].recv(1000)), flush=True)
except TimeoutError:
    pass
"""


class Stranger:
    """Another user, who listens on a port."""

    def __init__(self, port: int = 0, host: str = "127.0.0.1") -> None:
        code = LISTEN.format(nobody=NOBODY, port=port, host=host, patience=300)
        # Debian's own, since nobody may read the folders of this one.
        self._process = subprocess.Popen(["/usr/bin/env", "-i", _python(), "-I", "-c", code], stdout=-1, text=True)
        assert self._process.stdout is not None
        self.port = int(self._process.stdout.readline())

    def close(self) -> str:
        """Gives what he was told."""
        self._process.kill()
        return str(self._process.communicate()[0])


def _python() -> str:
    return os.path.realpath(sys.executable)


@pytest.fixture(params=["127.0.0.1", "::1"])
def stranger(request: pytest.FixtureRequest) -> Iterator[Stranger]:
    made = Stranger(host=request.param)
    yield made
    made.close()


@ROOT
def test_a_listener_of_another_user_is_known(stranger: Stranger) -> None:
    assert stranger_at(stranger.port)


def test_one_s_own_listener_is_none_and_neither_is_nobody() -> None:
    with socket.create_server(("127.0.0.1", 0)) as own:
        port = own.getsockname()[1]
        assert not stranger_at(port)
    assert not stranger_at(port)


@ROOT
def test_whoever_takes_the_port_of_a_dead_server_is_not_told_the_password(pooling: Any) -> None:
    (slot,) = pooling.start(1)["slots"]
    folder = Path(pooling.status()["folder"])
    keeper = int(json.loads((folder / "keeper.json").read_text())["process"])
    os.kill(keeper, signal.SIGSTOP)  # nobody looks after it for now
    os.kill(int(slot["server"].split()[1]), signal.SIGKILL)
    taker = Stranger(int(slot["address"].rpartition(":")[2]))
    try:
        done = pooling.batch(1, "--pool", "default", "--set", "pool.patience=0")
        assert done.exit_code != 0 or pooling.results()["t0"]["status"] == "failed"
        assert STRANGER in done.stderr
    finally:
        os.kill(keeper, signal.SIGCONT)
        told = taker.close()
    assert told == ""


@ROOT
def test_a_folder_or_a_link_of_another_user_is_refused(tmp_path: Path) -> None:
    own, foreign, link = (tmp_path / name for name in ("own", "foreign", "link"))
    own.mkdir()
    foreign.mkdir()
    os.chown(foreign, NOBODY, NOBODY)
    link.symlink_to(own)
    os.chown(link, NOBODY, NOBODY, follow_symlinks=False)
    mine = tmp_path / "mine"
    mine.symlink_to(foreign)
    for path in (foreign, link, mine):
        with pytest.raises(UsageError, match="belongs to another user"):
            private_folder(path)
    refuse_foreign(own)
    refuse_foreign(tmp_path / "not there yet")


@ROOT
@pytest.mark.parametrize("command", ["status", "stop", "start"])
def test_a_pool_that_another_user_has_laid_out_is_not_looked_at(command: str, pooling: Any, tmp_path: Path) -> None:
    trap = tmp_path / "trap"
    trap.mkdir()
    # Whoever stopped it would end a process of his own that the stranger has chosen.
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as victim:
        (trap / "pool.json").write_text(
            '{"id": "x", "host": "h", "backend": "tiny", "how": "process", "slots": 1,'
            ' "sandbox": "monty", "began": 1.0, "engine": ""}'
        )
        (trap / "keeper.json").write_text(f'{{"host": "h", "process": {victim.pid}, "born": "", "token": "t"}}')
        os.chown(trap, NOBODY, NOBODY)
        done = pooling.pool(command, "--pool", str(trap), "--set", "backend=tiny")
        assert done.exit_code == 2 and "belongs to another user" in done.stderr, done.stderr
        assert victim.poll() is None and (trap / "pool.json").exists()
        victim.communicate()


def test_the_keeper_has_no_key_and_nothing_secret_on_its_command_line(pooling: Any, monkeypatch: Any) -> None:
    if not Path("/proc/self/environ").exists():
        pytest.skip("this machine does not show environments")
    for name in ("OPENAI_API_KEY", "KGOT_MODELS__GRAPH__API_KEY", "HF_TOKEN"):
        monkeypatch.setenv(name, "the-secret-of-all")
    told = pooling.start(1, "--set", "backends.tiny.password=another-secret")
    keeper = Path("/proc", str(json.loads(Path(told["folder"], "keeper.json").read_text())["process"]))
    server = Path("/proc", told["slots"][0]["server"].split()[1])
    for process in (keeper, server):
        assert b"the-secret-of-all" not in (process / "environ").read_bytes()
        assert b"another-secret" not in (process / "cmdline").read_bytes()


def test_settings_of_servers_reach_the_keeper() -> None:
    given = {"PATH": "/bin", "KGOT_BACKENDS__X__LICENSE_KEY": "a", "AWS_SECRET_ACCESS_KEY": "b", "KGOT_SANDBOX": "c"}
    assert keeper_environment(given).keys() == {"PATH", "KGOT_BACKENDS__X__LICENSE_KEY", "KGOT_SANDBOX"}
