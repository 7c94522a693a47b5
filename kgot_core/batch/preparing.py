"""The short process that reads a task file, so that the process that solves never holds answers and levels.

``python -m kgot_core.batch.preparing check TASKS FOLDER`` looks for what is wrong with a task file;
``python -m kgot_core.batch.preparing take TASKS FOLDER [EARLIER...]`` also writes the tasks, and their truth aside,
into the folder of a batch. Either writes one JSON object with what it found to standard output.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from kgot_core.batch.checking import GivenTask, check_rows
from kgot_core.batch.estimates import earlier_seconds, estimate
from kgot_core.batch.folder import TRUTH, BatchTask, read_tasks, write_tasks
from kgot_core.batch.lines import read_lines, to_lines, write_whole
from kgot_core.batch.names import folder_names
from kgot_core.batch.task_files import read_rows
from kgot_core.errors import UsageError
from kgot_core.run.record.kept import EVENTS


def main(arguments: Sequence[str]) -> None:
    """Checks a task file or prepares a batch, and says how it went."""
    path, folder, *earlier = map(Path, arguments[1:])
    try:
        if arguments[0] == "check":
            said: dict[str, Any] = {"problems": read_given(path, folder)[1]}
        else:
            said = prepare(path, folder, earlier)
    except UsageError as error:
        said = {"error": error.message, "hint": error.hint}
    except OSError as error:
        said = {"error": f"cannot write to {folder}: {error.strerror}", "hint": ""}
    sys.stdout.write(json.dumps(said))


def prepare(path: Path, folder: Path, earlier: Iterable[Path] = ()) -> dict[str, Any]:
    """Writes the tasks of a file into the folder of a batch; those that are there already stay.

    Args:
        path: The task file.
        folder: The batch's folder.
        earlier: Folders of earlier batches, for the estimates.

    Returns:
        ``tasks``: how many the batch has now; ``problems``: what is wrong with rows; nothing is written then.

    Raises:
        UsageError: The file cannot be read or has no task.
        OSError: The folder cannot be written.
    """
    given, problems = read_given(path, folder)
    if problems:
        return {"problems": problems}
    known = _known(folder)
    tasks = _merged(given, known, earlier_seconds([folder, *earlier]))
    truth = {str(row.get("id")): row for row in read_lines(folder / TRUTH)}
    truth |= {task.id: {"id": task.id, **task.truth} for task in given if task.truth}
    text = to_lines(json.loads(json.dumps(row, default=str)) for row in truth.values())
    write_whole(folder / TRUTH, text, private=True)
    write_tasks(folder, tasks)
    return {"tasks": len(tasks), "problems": []}


def read_given(path: Path, folder: Path) -> tuple[list[GivenTask], list[str]]:
    """Reads a task file, also in the light of the tasks that its batch has already; writes nothing.

    Args:
        path: The task file.
        folder: The batch's folder, which need not be there yet.

    Returns:
        The tasks, and what is wrong with rows.

    Raises:
        UsageError: The file cannot be read or has no task.
    """
    given, problems = check_rows(read_rows(path), path.parent)
    if not given and not problems:
        raise UsageError(f"the task file {path} has no task", hint='each line is a task: {"id": ..., "question": ...}')
    known = _known(folder)
    problems += [
        f"the task {task.id[:60]!r} has another question or other files than when the batch began: give it a new id"
        for task in given
        if task.id in known and known[task.id].digest != task.digest and _begun(folder, known[task.id])
    ]
    return given, problems


def _known(folder: Path) -> dict[str, BatchTask]:
    return {task.id: task for task in read_tasks(folder)}


def _merged(
    given: Iterable[GivenTask], known: Mapping[str, BatchTask], seconds: Mapping[str, float]
) -> list[BatchTask]:
    listed = {task.id: task for task in given}
    names = folder_names(listed, {task.id: task.folder for task in known.values()})
    new = {
        task.id: BatchTask(task.id, task.question, task.files, names[task.id], estimate(task, seconds), task.digest)
        for task in listed.values()
    }
    return list({**known, **new}.values())


def _begun(folder: Path, task: BatchTask) -> bool:
    return (folder / task.folder / EVENTS).exists()


if __name__ == "__main__":
    main(sys.argv[1:])
