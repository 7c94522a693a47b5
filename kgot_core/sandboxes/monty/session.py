"""A session of the sandbox ``monty``: one interpreter process, from which each job gets a fresh interpreter."""

from __future__ import annotations

import threading

from pydantic_monty import Monty

from kgot_core.contracts.sandbox import CodeJob, CodeResult, Prelude, SandboxLimits, SandboxSession
from kgot_core.errors import SandboxError
from kgot_core.sandboxes.files import given_files
from kgot_core.sandboxes.monty.errors import Failure
from kgot_core.sandboxes.monty.job import MontyJob
from kgot_core.sandboxes.providers import MontySettings


class MontySession(SandboxSession):
    """Jobs one after another; nothing is kept between them, so nothing is lost when the process is replaced.

    There are no processes or threads to limit. Files and printed text are held by the host, within their limits.
    Where the host is killed, a script runs on until its time limit.
    """

    def __init__(self, pool: Monty, settings: MontySettings, prelude: Prelude, limits: SandboxLimits) -> None:
        self._pool, self._settings, self._limits = pool, settings, limits
        self._prelude = "".join(f"import {name}\n" for name in prelude.modules) + prelude.code
        self._lock = threading.Lock()
        self._closed = False
        self._current: MontyJob | None = None
        try:
            self.run(CodeJob("None"))
        except BaseException:
            self.close()
            raise

    def run(self, job: CodeJob) -> CodeResult:
        """Runs a job.

        Raises:
            SandboxError: The session is closed, the interpreter failed, or the prelude did in it.
            ValueError: The job has a ``commit``, or a file that it is given has an unsafe name, is none or too large.
        """
        if job.commit:
            raise ValueError("the sandbox monty keeps nothing between scripts: use 'after', and give it back as input")
        given_files(job.files, self._settings.input_mb)
        with self._lock:
            if self._closed:
                raise SandboxError("the sandbox session is closed")
            self._current = current = MontyJob(job, job.limits or self._limits)
            try:
                return current.run(self._pool, self._prelude)
            finally:
                self._current = None

    def cancel(self) -> None:
        """Ends a running job at once by ending its process; the next job gets another."""
        current = self._current
        if current is not None:
            current.stop(Failure("the script was cancelled", limit="time"))

    def close(self) -> None:
        """Ends the process; a job that runs in another thread ends as cancelled."""
        if self._closed:
            return
        self._closed = True
        while not self._lock.acquire(timeout=0.1):
            self.cancel()
        try:
            self._pool.__exit__(None, None, None)
        finally:
            self._lock.release()
