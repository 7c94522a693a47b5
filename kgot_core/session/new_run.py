"""The id of a new run, its task, the files that its tools may read, and where its folder may be."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

from kgot_core.contracts.task import Task
from kgot_core.errors import UsageError
from kgot_core.run.desks.files import FileShelf
from kgot_core.run.record.journal import unicode_text
from kgot_core.run.record.kept import EVENTS
from kgot_core.settings.schema import FilesSettings


def new_id() -> str:
    """Gives a run id that sorts by time and is unique without asking anybody."""
    seconds, rest = divmod(time.time_ns(), 1_000_000_000)
    return f"{time.strftime('%Y%m%d-%H%M%S', time.localtime(seconds))}-{rest // 1_000_000:03d}{secrets.token_hex(2)}"


def refuse_run_folder(folder: Path) -> None:
    """Refuses to put runs into the folder of one.

    Raises:
        UsageError: It is one.
    """
    if (folder / EVENTS).exists():
        raise UsageError(
            f"{folder} is the folder of a run, and would hold another", hint="name the folder that holds the runs"
        )


def new_task(task: Task | str, attachments: Iterable[Path | str], redact: Callable[[str], str]) -> Task:
    """Gives the task of a new run.

    Raises:
        UsageError: Its question is empty, or it is none.
    """
    if isinstance(task, str):
        task = Task(task)
    if not isinstance(task, Task):
        raise UsageError(f"a task is a Task or its question, not {type(task).__name__}")
    if not task.question.strip():
        raise UsageError("the question is empty")
    files = (*task.files, *(Path(path) for path in attachments))
    # The record is what a repeated run begins with, so the run begins with what the record can hold.
    return replace(task, question=redact(unicode_text(task.question)), files=files)


def new_shelf(task: Task, folder: Path | None, opened: FilesSettings) -> FileShelf:
    """Gives the files that the tools of a new run may read, and the place for those that they make.

    Args:
        task: The task, for its attachments.
        folder: The run's folder; without one nothing that is made stays.
        opened: The settings ``files.*``.

    Raises:
        UsageError: A file or folder is not there or cannot be read.
    """
    made = folder / "files" if folder is not None else None
    return FileShelf(task.files, made, [Path(path) for path in opened.folders], [Path(path) for path in opened.allow])
