"""A real Docker engine for tests: this machine's own, else a private one, with the image of the sandbox built once.

A private engine listens on a socket in a temporary folder, keeps everything there, and ends with the tests. Only root
can start one.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from kgot_core.errors import SandboxError
from kgot_core.sandboxes.docker.engine import connect
from kgot_core.sandboxes.image.build import build_from_host
from kgot_core.sandboxes.image.recipe import PACKAGES
from kgot_core.sandboxes.providers import DockerSettings

IMAGE = "kgot-sandbox-test"
# The first that starts is taken: one in a container often has no overlay of its own.
_DRIVERS = ("overlay2", "fuse-overlayfs", "vfs")
_START_SECONDS = 30.0
_STOP_SECONDS = 20.0
_GET = "start Docker, or as root: apt install docker.io iptables"


class NotHere(Exception):
    """No engine can be had on this machine; the message says how to get one."""


@contextlib.contextmanager
def running() -> Iterator[DockerSettings]:
    """Gives the settings of the sandbox for an engine that has the image.

    Raises:
        NotHere: No engine can be had.
    """
    if not shutil.which("ldd"):
        raise NotHere("the image is made from the running Python, on Linux only")
    with contextlib.ExitStack() as stack:
        settings = _own() or stack.enter_context(_private())
        try:
            build_from_host(connect(settings), IMAGE, PACKAGES)
        except SandboxError as error:
            raise NotHere(str(error)) from error
        yield settings


def _own() -> DockerSettings | None:
    settings = DockerSettings(image=IMAGE)
    try:
        connect(settings).close()
    except SandboxError:
        return None
    return settings


@contextlib.contextmanager
def _private() -> Iterator[DockerSettings]:
    if shutil.which("dockerd") is None:
        raise NotHere(f"no Docker engine answers, and dockerd is not installed: {_GET}")
    if os.geteuid():
        raise NotHere(f"no Docker engine answers, and only root can start one: {_GET}")
    folder = Path(tempfile.mkdtemp(prefix="kgot-docker-"))
    try:
        said = ""
        for driver in _DRIVERS:
            process = _start(folder, driver)
            try:
                if _answers(process, folder):
                    yield DockerSettings(host=_address(folder), image=IMAGE)
                    return
            finally:
                _stop(process, folder)
            said = (folder / "log").read_text(errors="replace").strip()[-500:]
        raise NotHere(f"dockerd does not start: {said}")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _address(folder: Path) -> str:
    return f"unix://{folder}/socket"


def _start(folder: Path, driver: str) -> subprocess.Popen[bytes]:
    command = ["dockerd", "--host", _address(folder), "--data-root", f"{folder}/data", "--exec-root", f"{folder}/run"]
    command += ["--pidfile", f"{folder}/pid", "--storage-driver", driver]
    if shutil.which("setpriv"):
        # Where the tests are killed, the engine ends all the same.
        command = ["setpriv", "--pdeathsig", "TERM", *command]
    with (folder / "log").open("wb") as log:
        return subprocess.Popen(command, stdout=log, stderr=log, stdin=subprocess.DEVNULL, start_new_session=True)


def _answers(process: subprocess.Popen[bytes], folder: Path) -> bool:
    deadline = time.monotonic() + _START_SECONDS
    while process.poll() is None and time.monotonic() < deadline:
        with contextlib.suppress(SandboxError):
            connect(DockerSettings(host=_address(folder))).close()
            return True
        time.sleep(0.1)
    return False


def _stop(process: subprocess.Popen[bytes], folder: Path) -> None:
    process.terminate()
    try:
        process.wait(_STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    for mounted in ("run/netns/default", "data"):
        subprocess.run(["umount", f"{folder}/{mounted}"], capture_output=True, check=False)
