"""A session of a sandbox with full Python: jobs go to the warm worker of one jail, their outcome comes back checked."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from kgot_core.contracts.sandbox import CodeJob, CodeResult, Prelude, SandboxLimits, SandboxSession
from kgot_core.errors import SandboxError
from kgot_core.sandboxes.files import given_files
from kgot_core.sandboxes.worker.answer import read_answer
from kgot_core.sandboxes.worker.line import JailLine, JailLost, Woken

_GRACE = 2.5
_CANCEL_GRACE = 0.8
_PART = 1 << 18
_LOST = "the sandbox's worker was lost, and with it what jobs had committed"


@dataclass(frozen=True)
class WorkerPlan:
    """How a sandbox makes its workers.

    Attributes:
        start: Starts a jail.
        path: What the worker adds to its module path.
        guard: What the worker has to do itself, since nothing around it does: ``filter`` puts the filter of system
            calls on; ``closed`` besides shuts out the network, drops the environment that it came with, and refuses to
            work beside foreign folders.
        start_seconds: How long a start may take.
        input_mb: How large the files given to one job may be, in MiB.
        counts_alone: The kernel counts the jail's processes apart from all others of the user.
    """

    start: Callable[[], JailLine]
    path: Sequence[str]
    guard: Literal["", "filter", "closed"]
    start_seconds: float
    input_mb: int
    counts_alone: bool = False


class WorkerSession(SandboxSession):
    """One jail with its warm worker.

    A worker can be lost: killed from outside, or hung in trusted code. What jobs committed is then gone. The job that
    was running raises :class:`SandboxError`; where none was running, the next job does, unless nothing had been
    committed. The job after that starts a new worker with the prelude alone. So a caller with state fills the session
    again after each SandboxError, and only then.

    A job's limits may be below or above the session's, but for ``file_mb``, which is at most the session's. A
    ``commit`` that raises makes its job a failure and is expected to have changed nothing.
    """

    def __init__(self, plan: WorkerPlan, prelude: Prelude, limits: SandboxLimits) -> None:
        self._plan, self._prelude, self._limits = plan, prelude, limits
        self._lock = threading.Lock()
        self._closed = self._running = self._committed = False
        self._jail: JailLine | None = self._start()
        self._wake, self._wake_end = os.pipe()
        for pipe in (self._wake, self._wake_end):
            os.set_blocking(pipe, False)

    def run(self, job: CodeJob) -> CodeResult:
        """Runs a job; the class says what a lost worker means.

        Raises:
            SandboxError: The session is closed, its worker was lost or cannot start, or collected files cannot be
                written.
            OSError: A file that the job is given cannot be read.
            ValueError: A file that the job is given has an unsafe name, is none, or is too large.
        """
        sizes = given_files(job.files, self._plan.input_mb)
        with self._lock:
            jail = self._worker()
            self._calm()
            self._running = True
            try:
                result = self._run(jail, job, sizes)
                if self._closed:
                    raise SandboxError("the sandbox session was closed")
                return result
            except JailLost as lost:
                self._drop()
                self._committed = False
                raise SandboxError("the sandbox session was closed" if self._closed else f"{_LOST}: {lost}") from None
            except (SandboxError, TypeError, ValueError):
                raise
            except BaseException:
                # Interrupted in the middle of a frame (Ctrl-C, a file that cannot be read): the pipes are of no use.
                self._drop()
                raise
            finally:
                self._running = False

    def cancel(self) -> None:
        """Ends a running job within a second. What earlier jobs committed stays."""
        if self._running:
            with contextlib.suppress(OSError):
                os.write(self._wake_end, b"!")

    def close(self) -> None:
        """Ends the jail; a job that runs in another thread raises SandboxError."""
        if self._closed:
            return
        self._closed = True
        # A job that holds the lock ends when its jail does; it may be about to start, so once may not be enough.
        while not self._lock.acquire(timeout=0.1):
            jail = self._jail
            if jail is not None:
                jail.kill()
                # A program that runs as root cannot be killed by its user, but its worker listens.
                self.cancel()
        try:
            self._drop(gently=True)
            os.close(self._wake)
            os.close(self._wake_end)
        finally:
            self._lock.release()

    def _start(self) -> JailLine:
        jail, seconds = self._plan.start(), self._plan.start_seconds
        try:
            config: dict[str, Any] = {"path": [*self._plan.path], "guard": self._plan.guard}
            config |= {"seconds": seconds, "modules": self._prelude.modules, "code": self._prelude.code}
            jail.send(config, seconds=seconds)
            error = str(jail.receive(time.monotonic() + seconds).get("error", ""))
        except JailLost as lost:
            error = jail.complaint() or str(lost)
        if error:
            jail.kill()
            jail.end()
            raise SandboxError(f"the sandbox's worker cannot start: {error}")
        return jail

    def _worker(self) -> JailLine:
        if self._closed:
            raise SandboxError("the sandbox session is closed")
        if self._jail is not None and not self._jail.running:
            self._drop()
        if self._jail is None:
            told, self._committed = not self._committed, False
            if not told:
                raise SandboxError(_LOST)
            self._jail = self._start()
        return self._jail

    def _drop(self, *, gently: bool = False) -> None:
        if self._jail is not None:
            if not gently:
                self._jail.kill()
            self._jail.end()
            self._jail = None

    def _run(self, jail: JailLine, job: CodeJob, sizes: dict[str, int]) -> CodeResult:
        limits = job.limits or self._limits
        given = {**asdict(limits), "file_mb": min(limits.file_mb, self._limits.file_mb)}
        given["process_limit"] = _process_limit(limits.processes, self._plan.counts_alone)
        header = {
            "op": "job",
            "limits": given,
            "collect": job.collect is not None,
            "files": [{"name": name, "size": size} for name, size in sizes.items()],
            **{key: getattr(job, key) for key in ("code", "inputs", "before", "after", "commit")},
        }
        jail.send(header, _contents(job, sizes))
        answer = self._answer(jail, time.monotonic() + limits.seconds + _GRACE)
        # A commit that raised may have changed something all the same.
        self._committed = self._committed or bool(job.commit)
        return read_answer(jail, answer, job, limits)

    def _answer(self, jail: JailLine, deadline: float) -> dict[str, Any]:
        while True:
            try:
                jail.wait(deadline, self._wake)
                return jail.receive(deadline)
            except Woken:
                self._calm()
                jail.send({"op": "cancel"}, seconds=_CANCEL_GRACE)
                deadline = min(deadline, time.monotonic() + _CANCEL_GRACE)

    def _calm(self) -> None:
        with contextlib.suppress(OSError):
            os.read(self._wake, 4096)


def _contents(job: CodeJob, sizes: dict[str, int]) -> Iterator[bytes]:
    """Gives exactly the announced number of bytes of each file, even where one changes meanwhile."""
    for name, path in job.files.items():
        left = sizes[name]
        with path.open("rb") as file:
            while left > 0:
                part = file.read(min(left, _PART)) or bytes(min(left, _PART))
                left -= len(part)
                yield part


def _process_limit(processes: int, counts_alone: bool) -> int:
    """Gives a limit that the kernel can keep.

    It counts all processes of a user: those of the jail alone only in a user namespace. Elsewhere the worker's own
    count has to do, with this limit far above it against a flood.
    """
    return processes + 1 if counts_alone else processes + 2048
