"""The warm process of a session: first process of the jail, runs the prelude once and forks for every job.

It talks to the host through what it finds as standard input and output, and lives until the host closes them.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import types
from collections.abc import Iterator
from functools import partial
from typing import Any

from . import files, wire
from .ahead import Ahead
from .lock import Kernel, give_up_rights, guard
from .run import Outcome, finish, run_job
from .script import describe

_GRACE = 5.0


class Host:
    """The worker's side of the two pipes."""

    def __init__(self) -> None:
        self.inlet = os.dup(0)
        self._outlet = os.dup(1)
        nothing = os.open("/dev/null", os.O_RDWR)
        for target in (0, 1, 2):
            os.dup2(nothing, target)
        os.close(nothing)

    def read(self, size: int) -> Iterator[bytes]:
        """Gives exactly ``size`` bytes in parts.

        Raises:
            EOFError: The host has gone.
        """
        while size > 0:
            part = os.read(self.inlet, min(size, 1 << 18))
            if not part:
                raise EOFError
            size -= len(part)
            yield part

    def receive(self) -> dict[str, Any]:
        """Gives the header of the next frame."""
        import json

        (length,) = wire.LENGTH.unpack(b"".join(self.read(wire.LENGTH.size)))
        header: dict[str, Any] = json.loads(b"".join(self.read(length)))
        return header

    def send(self, header: dict[str, Any], *blobs: bytes) -> None:
        """Sends a header and bytes."""
        self.write(wire.pack(header))
        for blob in blobs:
            self.write(blob)

    def write(self, data: bytes) -> None:
        """Sends bytes."""
        view = memoryview(data)
        while view:
            view = view[os.write(self._outlet, view) :]


@contextlib.contextmanager
def bounded(seconds: float) -> Iterator[None]:
    """Ends the worker where trusted code does not come back: not every host can kill it."""
    signal.signal(signal.SIGALRM, lambda *_: os._exit(1))
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        # Scripts that set an alarm find it as it always is.
        signal.signal(signal.SIGALRM, signal.SIG_DFL)


def prepare(config: dict[str, Any]) -> dict[str, Any]:
    """Imports the prelude's modules and runs its code; gives its namespace."""
    sys.path.extend(config["path"])
    import site

    site.setquit()
    main = types.ModuleType("__main__")
    sys.modules["__main__"] = main
    for name in config["modules"]:
        __import__(name)
    exec(compile(config["code"], "<prelude>", "exec"), main.__dict__)  # noqa: S102
    return main.__dict__


def serve(host: Host, names: dict[str, Any], kernel: Kernel, places: list[str]) -> None:
    """Runs jobs until the host goes."""

    def fork() -> Ahead:
        return Ahead(names, kernel)

    def commit(job: dict[str, Any], outcome: Outcome) -> None:
        with bounded(job["limits"]["seconds"] + _GRACE):
            finish(job, outcome, names)

    ahead = fork()
    while True:
        job = host.receive()
        if job["op"] != "job":
            continue
        given = {file["name"]: files.write_file(file["name"], host.read(file["size"])) for file in job["files"]}
        outcome = run_job(job, ahead, host.inlet, fork, partial(commit, job), places)
        found: list[dict[str, Any]] = []
        note = ""
        if job["collect"] and outcome.limit != "files":
            found, note = files.new_files(given, job["limits"]["file_mb"] * 1024 * 1024)
        host.send(outcome.header(found, note), outcome.value, outcome.head, bytes(outcome.tail))
        for file in found:
            for part in files.read_file(file["name"], file["size"]):
                host.write(part)
        files.empty(places)
        files.make_folders()
        ahead = fork()


def main() -> None:
    """Serves one session."""
    kernel = give_up_rights()
    host = Host()
    try:
        config = host.receive()
        try:
            guard(config["guard"], kernel)
            files.make_folders()
            with bounded(config["seconds"]):
                names = prepare(config)
        except BaseException as error:
            host.send({"error": describe(error)[0]})
            return
        host.send({"error": ""})
        serve(host, names, kernel, files.roots(shared_memory=config["guard"] == "filter"))
    except (EOFError, BrokenPipeError):
        return


if __name__ == "__main__":
    main()
