"""What commands that run a task have in common: progress, signals, the answer, and how to go on."""

from __future__ import annotations

import asyncio
import json
import os
import shlex
import sys
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from kgot_core.cli.interrupts import ended_by_signals
from kgot_core.cli.output import echo
from kgot_core.errors import FAILED, INTERRUPTED

if TYPE_CHECKING:
    from kgot_core.contracts.sink import Sink
    from kgot_core.contracts.task import Answer
    from kgot_core.session.session import Session

EXIT_CODES = {"answered": 0, "capped": 0, "no_solution": 3, "abstained": 3, "failed": FAILED, "cancelled": INTERRUPTED}


def run_to_its_end(
    session: Session,
    work: Callable[[Sequence[Sink]], Awaitable[Answer]],
    folder_of: Callable[[str], Path | None],
    *,
    as_json: bool,
    quiet: bool,
) -> int:
    """Runs a task in a session, prints its answer and says where it is kept, or how to go on.

    Args:
        session: The session, not open yet.
        work: Runs the task with these sinks.
        folder_of: Gives the folder of a run by its id.
        as_json: Print the whole answer.
        quiet: Show no progress.

    Returns:
        The exit code.
    """
    answer = asyncio.run(_run(session, work, folder_of, quiet))
    show_answer(answer, as_json)
    if answer.folder is not None and answer.status in ("cancelled", "failed"):
        echo(f"      to go on with it: kgot resume {shlex.quote(_short(answer.folder))}", err=True)
    elif answer.folder is not None and not quiet:
        echo(f"kept in {answer.folder}", err=True)
    return EXIT_CODES[answer.status]


def show_answer(answer: Answer, as_json: bool) -> None:
    """Prints an answer: its text alone, or all of it as JSON. Why there is none goes to standard error."""
    from kgot_core.run.ending import answer_to_json

    if as_json:
        echo(json.dumps(answer_to_json(answer), ensure_ascii=False, indent=2))
    elif answer.status in ("answered", "capped"):
        echo(answer.text)
    else:
        said = answer.text + (f": {answer.reason}" if answer.reason else "")
        echo(f"kgot: {' '.join(said.split())}", err=True)


async def _run(
    session: Session,
    work: Callable[[Sequence[Sink]], Awaitable[Answer]],
    folder_of: Callable[[str], Path | None],
    quiet: bool,
) -> Answer:
    from kgot_core.contracts.task import Answer
    from kgot_core.run.concurrency.threads import DaemonExecutor
    from kgot_core.run.ending import answer_from_json
    from kgot_core.sinks.memory import LastSink

    running = asyncio.current_task()
    assert running is not None
    asyncio.get_running_loop().set_default_executor(DaemonExecutor())
    ended = LastSink("run_finished")
    sinks: list[Sink] = [ended] if quiet else [ended, _progress()]
    with ended_by_signals(running):
        try:
            async with session:
                return await work(sinks)
        except asyncio.CancelledError:
            if ended.record is None:
                return Answer("The run was interrupted", "cancelled", reason="it had not begun")
            return answer_from_json(ended.record["answer"], folder_of(ended.record["run"]))
        finally:
            for sink in sinks:
                sink.close()


def _progress() -> Sink:
    from kgot_core.sinks.progress import ProgressSink

    return ProgressSink(sys.stderr, live=sys.stderr.isatty())


def _short(folder: Path) -> str:
    """Gives a folder as one would type it here."""
    near = os.path.relpath(folder)
    return str(folder) if near.startswith("..") else near
