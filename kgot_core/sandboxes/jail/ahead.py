"""The process of the next job, forked before the job is there: what a fork costs is paid while nobody waits.

It has the worker's state of now and runs trusted code alone until its one job comes, through a pipe that only the
worker writes into. It is made when no process of an earlier job is left, and ended with those of its own.
"""

from __future__ import annotations

import contextlib
import json
import os
from typing import Any

from . import wire
from .lock import Kernel
from .script import run_child, settle, warm

_PART = 1 << 16


class Ahead:
    """A waiting process.

    Args:
        names: The worker's namespace, of which the process has its own copy.
        kernel: The kernel.

    Attributes:
        pid: Its number.
        output: Gives everything that it prints.
        result: Gives its outcome.
    """

    def __init__(self, names: dict[str, Any], kernel: Kernel) -> None:
        self.output, output_end = os.pipe()
        self.result, result_end = os.pipe()
        jobs, self._jobs = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            _wait(jobs, names, output_end, result_end, kernel)
        for end in (jobs, output_end, result_end):
            os.close(end)

    def give(self, job: dict[str, Any]) -> bool:
        """Gives it its job; false where it has ended meanwhile."""
        view = memoryview(wire.pack(job))
        try:
            while view:
                view = view[os.write(self._jobs, view) :]
        except BrokenPipeError:
            return False
        finally:
            os.close(self._jobs)
        return True

    def close(self) -> None:
        """Closes the worker's ends."""
        os.close(self.output)
        os.close(self.result)


def _wait(jobs: int, names: dict[str, Any], output: int, result: int, kernel: Kernel) -> None:
    """Waits for the job, runs it and never returns."""
    try:
        settle(output, result, jobs)
        warm(names)
        job = json.loads(_exactly(jobs, wire.LENGTH.unpack(_exactly(jobs, wire.LENGTH.size))[0]))
        os.close(jobs)
    except BaseException:
        os._exit(0)
    with contextlib.suppress(BaseException):
        run_child(job, names, result, kernel)
    os._exit(0)


def _exactly(file: int, size: int) -> bytes:
    data = bytearray()
    while len(data) < size:
        part = os.read(file, min(size - len(data), _PART))
        if not part:
            raise EOFError
        data += part
    return bytes(data)
