"""Two hosts on one machine: network namespaces with a cable between them, each with its own name and shared memory."""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

PAUSE = 0.02
ENTER = """#!/bin/sh
# enter HOST COMMAND...: runs a command on a host.
host=$1
shift
exec ip netns exec "{name}-$host" unshare --uts sh -c \\
    "hostname {name}-$host && mount -t tmpfs none /dev/shm && exec \\"\\$@\\"" sh "$@"
"""
AGENT = """#!/bin/sh
# agent [OPTIONS] ADDRESS COMMAND...: what launchers take for ssh.
while case "$1" in -*) true ;; *) false ;; esac do shift; done
host=${{1##*.}}
shift
exec {enter} "$host" sh -c "$*"
"""


class NotHere(Exception):
    """Hosts cannot be made on this machine."""


class Hosts:
    """Two hosts.

    Args:
        folder: Where their scripts lie.
    """

    def __init__(self, folder: Path) -> None:
        self.name = f"kgot{os.getpid()}"
        self.addresses = ("10.123.45.1", "10.123.45.2")
        self.enter, self.agent = str(folder / "enter"), str(folder / "agent")
        for path, text in ((self.enter, ENTER), (self.agent, AGENT)):
            Path(path).write_text(text.format(name=self.name, enter=self.enter))
            Path(path).chmod(stat.S_IRWXU)

    def up(self) -> None:
        first, second = (f"{self.name}-{number}" for number in (1, 2))
        _ip("netns", "add", first)
        _ip("netns", "add", second)
        _ip("link", "add", "eth0", "netns", first, "type", "veth", "peer", "name", "eth0", "netns", second)
        for host, address in zip((first, second), self.addresses, strict=True):
            _ip("-n", host, "address", "add", f"{address}/24", "dev", "eth0")
            _ip("-n", host, "link", "set", "lo", "up")
            _ip("-n", host, "link", "set", "eth0", "up")
        # MPI passes over a network that is not there yet.
        for host in (first, second):
            while json.loads(_ip("-json", "-n", host, "link", "show", "eth0"))[0]["operstate"] != "UP":
                threading.Event().wait(PAUSE)

    def cable(self, state: str) -> None:
        """Pulls the cable (``down``) or puts it in again (``up``)."""
        _ip("-n", f"{self.name}-2", "link", "set", "eth0", state)

    def down(self) -> None:
        for number in (1, 2):
            subprocess.run(["ip", "netns", "delete", f"{self.name}-{number}"], capture_output=True, check=False)


def _ip(*arguments: str) -> str:
    command: Sequence[str] = ("ip", *arguments)
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise NotHere(f"this machine does not let hosts be made: {' '.join(command)}: {done.stderr.strip()}")
    return done.stdout


@contextmanager
def two_hosts(folder: Path) -> Iterator[Hosts]:
    """Gives two hosts that are connected.

    Raises:
        NotHere: They cannot be made.
    """
    if os.geteuid():
        raise NotHere("only root can make network namespaces")
    if not shutil.which("ip"):
        raise NotHere("there is no command ip: apt install iproute2")
    hosts = Hosts(folder)
    try:
        hosts.up()
        yield hosts
    finally:
        hosts.down()
