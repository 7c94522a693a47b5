"""Commands in processes that are forked from one that has imported all they need: a sweep of kills spares it each time.

What is killed is a process of its own, with its own working folder, environment and files, that ends as any other.
"""

from __future__ import annotations

import contextlib
import gc
import os
import signal
import subprocess
import sys
import tempfile
import threading
from importlib import import_module
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from multiprocessing.reduction import recv_handle, send_handle
from pathlib import Path
from typing import IO, Any, Self

import t3
from killing import ARGUMENTS, environment

from kgot_core.cli import main

USED = ("kgot_core.cli.batch", "kgot_core.cli.resume", "kgot_core.cli.run")


class Warm:
    """A process that has imported what commands need, and forks for each command, one at a time."""

    def __enter__(self) -> Self:
        self._requests, theirs = Pipe()
        with theirs:
            self._server = subprocess.Popen(
                [sys.executable, __file__, str(theirs.fileno())],
                env=environment(Path.cwd()),
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
            )
        return self

    def __exit__(self, *error: object) -> None:
        self._requests.close()
        self._server.wait(timeout=60)

    def start(self, folder: Path, *arguments: str, **variables: str) -> Forked:
        """Starts a command in a folder, with environment variables beside those of :func:`killing.environment`."""
        said, written = os.pipe()
        self._requests.send((str(folder), arguments, environment(folder, **variables)))
        send_handle(self._requests, written, self._server.pid)
        os.close(written)
        return Forked(self._requests, self._requests.recv(), os.fdopen(said))

    def run(self, folder: Path, *arguments: str, **variables: str) -> tuple[int, str]:
        """Runs a command to its end; gives its exit code and what it said."""
        return self.start(folder, *arguments, **variables).wait()


class Forked:
    """A command that was started.

    Attributes:
        said: What it writes as output and as errors.
    """

    def __init__(self, requests: Connection[Any, Any], process: int, said: IO[str]) -> None:
        self.said = said
        self._requests = requests
        self._process = process
        self._lock = threading.Lock()

    def kill(self) -> None:
        """Kills it. Until it has been waited for, no other process gets its number."""
        with self._lock:
            if self._process:
                os.kill(self._process, signal.SIGKILL)

    def wait(self) -> tuple[int, str]:
        """Waits for its end; gives its exit code, negative where a signal ended it, and what it said."""
        with self.said:
            said = self.said.read()
        with self._lock:
            process, self._process = self._process, 0
        self._requests.send(process)
        return self._requests.recv(), said


def serve(requests: Connection[Any, Any]) -> tuple[str, list[str], dict[str, str]] | None:
    """Forks for each request.

    Returns:
        The request, in the process that was forked for it; ``None`` where there are no more.
    """
    while True:
        try:
            request = requests.recv()
        except EOFError:
            return None
        if isinstance(request, int):
            requests.send(os.waitstatus_to_exitcode(os.waitpid(request, 0)[1]))
            continue
        written = recv_handle(requests)
        process = os.fork()
        if not process:
            os.dup2(written, 1)
            os.dup2(written, 2)
        os.close(written)
        if not process:
            requests.close()
            return request
        requests.send(process)


def imported_by_a_run() -> list[str]:
    """Gives the modules that a process has imported once it has done a run."""
    read, written = os.pipe()
    process = os.fork()
    if not process:
        with tempfile.TemporaryDirectory() as folder:
            os.environ.update(environment(Path(folder)))
            os.chdir(folder)
            with contextlib.suppress(SystemExit):
                main(["run", t3.QUESTION, *ARGUMENTS], prog_name="kgot")
            os.chdir("/")
        with os.fdopen(written, "w") as pipe:
            pipe.write("\n".join(sys.modules))
        os._exit(0)
    os.close(written)
    with os.fdopen(read) as pipe:
        names = pipe.read().splitlines()
    os.waitpid(process, 0)
    return names


if __name__ == "__main__":
    for name in (*USED, *imported_by_a_run()):
        with contextlib.suppress(ImportError):  # names that modules gave to objects of their own
            import_module(name)
    gc.freeze()
    if request := serve(Connection(int(sys.argv[1]))):
        folder, arguments, variables = request
        os.chdir(folder)
        os.environ.clear()
        os.environ.update(variables)
        sys.argv = ["kgot", *arguments]
        main(prog_name="kgot")
