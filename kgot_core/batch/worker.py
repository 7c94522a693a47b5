"""Runs the tasks of one process: one session on an event loop of its own, asked from any thread."""

from __future__ import annotations

import asyncio
import shutil
import threading
from collections.abc import Coroutine, Sequence
from pathlib import Path
from typing import Any, TypeVar

from kgot_core.contracts.sink import Sink
from kgot_core.contracts.task import Answer, Task
from kgot_core.run.concurrency.threads import DaemonExecutor
from kgot_core.run.ending import answer_from_json
from kgot_core.run.faults import said
from kgot_core.run.purse import Purse
from kgot_core.run.record.kept import EVENTS
from kgot_core.run.record.lease import is_running
from kgot_core.session.session import Session
from kgot_core.sinks.memory import LastSink

T = TypeVar("T")
STOPPED = Answer("The batch was interrupted", "cancelled")


class Worker:
    """Runs tasks, each in its folder: begins it, goes on with it, or gives the answer that it has.

    Args:
        session: The session, not open yet.
        force: Goes on with a task although something has changed since it began.
        purse: What all tasks may spend together: none begins beyond it.
    """

    def __init__(self, session: Session, *, force: bool = False, purse: Purse | None = None) -> None:
        self._purse = purse or Purse()
        self._session = session
        self._force = force
        self._running: set[asyncio.Task[Answer]] = set()
        self._stopped = False
        self._open = False
        self._loop = asyncio.new_event_loop()
        self._loop.set_default_executor(DaemonExecutor())
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True, name="kgot-batch-loop")
        self._thread.start()

    def open(self) -> None:
        """Opens the session. Idempotent.

        Raises:
            KgotError: Something that all runs need is not ready.
        """
        if not self._open:
            self._wait(self._session.__aenter__())
            self._open = True

    def run(self, task: Task, folder: Path, sinks: Sequence[Sink] = ()) -> Answer:
        """Runs a task to its end and never raises; every way in which it may end is an answer.

        Args:
            task: The task.
            folder: Its folder.
            sinks: Who else is told of its events.
        """
        try:
            return self._wait(self._run(task, folder, *sinks))
        except RuntimeError as error:  # the loop has ended: the process is on its way out
            return Answer("The batch has ended", "cancelled", reason=said(error))

    def interrupt(self) -> None:
        """Lets every run come to its end as interrupted; a task that begins later ends at once."""
        self._stopped = True
        self._loop.call_soon_threadsafe(self._cancel)

    def close(self) -> None:
        """Closes the session and the loop. Idempotent."""
        if self._loop.is_closed():
            return
        try:
            if self._open:
                self._open = False
                self._wait(self._session.__aexit__(None, None, None))
        finally:
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()

    def _wait(self, work: Coroutine[Any, Any, T]) -> T:
        if self._loop.is_closed():
            work.close()
            raise RuntimeError("the worker is closed")
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    def _cancel(self) -> None:
        for running in self._running:
            running.cancel()

    def _not_begun(self, folder: Path) -> Answer:
        """Gives the answer of a task that the batch's cap left no request, so that it begins anew with a higher one."""
        shutil.rmtree(folder, ignore_errors=True)
        return Answer("The task has not begun", "failed", reason=f"the batch stopped at {self._purse.closed}")

    async def _run(self, task: Task, folder: Path, *sinks: Sink) -> Answer:
        if self._stopped:
            return STOPPED
        running = asyncio.create_task(self._begin_or_go_on(task, folder, sinks))
        self._running.add(running)
        try:
            return await running
        finally:
            self._running.discard(running)

    async def _begin_or_go_on(self, task: Task, folder: Path, sinks: tuple[Sink, ...]) -> Answer:
        ended = LastSink("run_finished")
        try:
            if begun(folder):
                moved = task.files if len({path.name for path in task.files}) == len(task.files) else ()
                return await self._session.resume(folder, attachments=moved, sinks=[ended, *sinks], force=self._force)
            if self._purse.closed:
                return self._not_begun(folder)
            # Nothing had been accepted, so nothing had been asked.
            shutil.rmtree(folder, ignore_errors=True)
            answer = await self._session.solve(task, folder=folder, sinks=[ended, *sinks])
            if answer.status == "no_solution" and not answer.usage.requests and self._purse.closed:
                return self._not_begun(folder)
            return answer
        except asyncio.CancelledError:
            return STOPPED if ended.record is None else answer_from_json(ended.record["answer"], folder)
        except Exception as error:
            return Answer("The run failed", "failed", reason=said(error))


def begun(folder: Path) -> bool:
    """Tells whether a run in a folder has recorded its first event, or another process is about to."""
    if is_running(folder):
        return True
    try:
        with (folder / EVENTS).open("rb") as file:
            return file.readline().endswith(b"\n")
    except OSError:
        return False
