"""Runs model-written Python apart from the graph: one sandbox session of the run, opened when first needed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from kgot_core.contracts.sandbox import CodeJob, CodeResult, Prelude, Sandbox, SandboxLimits, SandboxSession
from kgot_core.errors import SandboxError
from kgot_core.events import PARTS, CodeRan
from kgot_core.run.concurrency.held import Held
from kgot_core.run.concurrency.threads import in_thread
from kgot_core.run.record.journal import Journal

GRACE = 5.0
FAILED = "the sandbox failed"


class CodeDesk:
    """The run's sandbox for scripts.

    Args:
        journal: The run's journal.
        sandbox: The jail; never opened in a replay.
        limits: Limits of a script that names none.
        packages: Gives the folder of packages for scripts, where there is one.
    """

    def __init__(
        self,
        journal: Journal,
        sandbox: Sandbox,
        limits: SandboxLimits,
        packages: Callable[[], Path | None] = lambda: None,
    ) -> None:
        self._journal = journal
        self._sandbox = sandbox
        self._limits = limits
        self._packages = packages
        self._session: Held[SandboxSession] = Held()
        self._turn = asyncio.Lock()

    async def run(self, step: str, job: CodeJob, tool: str = "") -> CodeResult:
        """Runs a job; one at a time.

        Args:
            step: Place in the run.
            job: The job.
            tool: Tool that asks; empty for the loop's own calculation.

        Raises:
            SandboxError: The sandbox itself failed.
        """
        asked = {"code": job.code, "inputs": dict(job.inputs), "files": sorted(job.files)}
        stage = "tool" if tool else "compute"
        head = CodeRan(part=PARTS[stage], stage=stage, parent=tool, code=job.code)

        async def make() -> CodeRan:
            async with self._turn:
                try:
                    result = await in_thread(lambda: self._open().run(job), self._seconds(job) + GRACE)
                except TimeoutError:
                    self.cancel()
                    return replace(head, error=f"{FAILED}: it did not end the script in time")
                except SandboxError as error:
                    return replace(head, error=f"{FAILED}: {error}")
            return replace(
                head,
                output=result.output,
                value=result.value,
                error=result.error,
                limit=result.limit,
                exit_code=result.exit_code,
                line=result.line,
                files=result.files,
            )

        event = await self._journal.call(CodeRan, step, asked, make)
        if event.error.startswith(FAILED):
            raise SandboxError(event.error)
        return CodeResult(
            output=event.output,
            value=event.value,
            error=event.error,
            line=event.line,
            limit=event.limit,  # type: ignore[arg-type]
            exit_code=event.exit_code,
            files=event.files,
            seconds=event.seconds,
        )

    def close(self) -> None:
        """Ends the session. Idempotent."""
        self._session.close()

    def cancel(self) -> None:
        """Ends a running script."""
        self._session.cancel()

    def _open(self) -> SandboxSession:
        if self._session.thing is not None:
            return self._session.thing
        return self._session.keep(self._sandbox.open(Prelude(packages=self._packages()), self._limits))

    def _seconds(self, job: CodeJob) -> float:
        return (job.limits or self._limits).seconds
