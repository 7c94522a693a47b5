"""Hosts on one machine: network namespaces, each with a cable to one switch, its own name and its own shared memory."""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
import threading
from collections.abc import Callable, Iterator, Sequence
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
    """Hosts with a cable each to a switch.

    Args:
        folder: Where their scripts lie.
        count: How many there are.
    """

    def __init__(self, folder: Path, count: int) -> None:
        self.name = f"kgot{os.getpid()}"
        self.addresses = [f"10.123.45.{number}" for number in range(1, count + 1)]
        self.enter, self.agent = str(folder / "enter"), str(folder / "agent")
        for path, text in ((self.enter, ENTER), (self.agent, AGENT)):
            Path(path).write_text(text.format(name=self.name, enter=self.enter))
            Path(path).chmod(stat.S_IRWXU)
        self._switch = f"{self.name}-switch"

    def host(self, number: int) -> str:
        """Gives the name of a host; they are counted from 1."""
        return f"{self.name}-{number}"

    def up(self) -> None:
        _ip("netns", "add", self._switch)
        _ip("-n", self._switch, "link", "add", "switch", "type", "bridge")
        _ip("-n", self._switch, "link", "set", "switch", "up")
        for number, address in enumerate(self.addresses, 1):
            host, port = self.host(number), f"port{number}"
            _ip("netns", "add", host)
            _ip("link", "add", "eth0", "netns", host, "type", "veth", "peer", "name", port, "netns", self._switch)
            _ip("-n", self._switch, "link", "set", port, "master", "switch", "up")
            _ip("-n", host, "address", "add", f"{address}/24", "dev", "eth0")
            _ip("-n", host, "link", "set", "lo", "up")
            _ip("-n", host, "link", "set", "eth0", "up")
        # MPI passes over a network that is not there yet, and a switch learns who is where first.
        for number in range(1, len(self.addresses) + 1):
            _until(lambda number=number: _state(self.host(number), "eth0") == "UP")  # type: ignore[misc]
            _until(lambda number=number: _forwards(self._switch, f"port{number}"))  # type: ignore[misc]

    def cable(self, state: str, number: int) -> None:
        """Pulls the cable of a host (``down``) or puts it in again (``up``)."""
        _ip("-n", self.host(number), "link", "set", "eth0", state)

    def down(self) -> None:
        names = [self._switch, *(self.host(number) for number in range(1, len(self.addresses) + 1))]
        for name in names:
            subprocess.run(["ip", "netns", "delete", name], capture_output=True, check=False)


def _until(reached: Callable[[], bool]) -> None:
    while not reached():
        threading.Event().wait(PAUSE)


def _state(host: str, link: str) -> str:
    return str(json.loads(_ip("-json", "-n", host, "link", "show", link))[0]["operstate"])


def _forwards(switch: str, port: str) -> bool:
    told = json.loads(_ip("-json", "-details", "-n", switch, "link", "show", port))[0]
    return bool(told["linkinfo"]["info_slave_data"]["state"] == "forwarding")


def _ip(*arguments: str) -> str:
    command: Sequence[str] = ("ip", *arguments)
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise NotHere(f"this machine does not let hosts be made: {' '.join(command)}: {done.stderr.strip()}")
    return done.stdout


@contextmanager
def connected_hosts(folder: Path, count: int) -> Iterator[Hosts]:
    """Gives hosts that reach each other.

    Raises:
        NotHere: They cannot be made.
    """
    if os.geteuid():
        raise NotHere("only root can make network namespaces")
    if not shutil.which("ip"):
        raise NotHere("there is no command ip: apt install iproute2")
    hosts = Hosts(folder, count)
    try:
        hosts.up()
        yield hosts
    finally:
        hosts.down()
