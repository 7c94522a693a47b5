"""A batch's folder: its tasks, its plan, its results. Each task has a folder of its own below it, as a single run."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from kgot_core.batch.lines import read_lines, to_lines, write_whole
from kgot_core.contracts.task import Task
from kgot_core.errors import UsageError

BATCH = "batch.json"
TASKS = "tasks.jsonl"
TRUTH = "truth.jsonl"
RESULTS = "results.jsonl"
FORMAT = 1
FOLDER_HINT = "name a new folder with --out"


@dataclass(frozen=True)
class BatchTask:
    """A task of a batch, as the process that solves it sees it.

    Attributes:
        id: Its id.
        question: Its question.
        files: Absolute paths of its attachments.
        folder: Name of its folder.
        estimate: Expected seconds.
        digest: Tells it from another task of the same id.
    """

    id: str
    question: str
    files: tuple[str, ...]
    folder: str
    estimate: float
    digest: str

    def to_json(self) -> dict[str, Any]:
        """Gives its line of the file of tasks."""
        return {**asdict(self), "files": list(self.files)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> BatchTask:
        """Reads a line of the file of tasks."""
        return cls(**{**data, "files": tuple(data["files"])})

    @property
    def task(self) -> Task:
        """The task as a scheduler passes it on."""
        return Task(self.question, tuple(Path(path) for path in self.files), self.id)


def is_batch(folder: Path) -> bool:
    """Tells whether a folder is that of a batch."""
    return (folder / BATCH).is_file()


def read_tasks(folder: Path) -> list[BatchTask]:
    """Reads the tasks of a batch in the order of their file; none where there are none yet.

    Raises:
        UsageError: The file is damaged, or a newer version wrote it.
    """
    try:
        return [BatchTask.from_json(row) for row in read_lines(folder / TASKS)]
    except (TypeError, LookupError):
        raise UsageError(f"the tasks of the batch in {folder} cannot be read: {TASKS} is damaged") from None


def write_tasks(folder: Path, tasks: Iterable[BatchTask]) -> None:
    """Writes the tasks of a batch."""
    write_whole(folder / TASKS, to_lines(task.to_json() for task in tasks))


def read_batch(folder: Path) -> dict[str, Any]:
    """Reads what is written of a batch: its plan, its sessions, its totals.

    Raises:
        UsageError: There is no batch, it is damaged, or a newer version wrote it.
    """
    try:
        found = json.loads((folder / BATCH).read_text(encoding="utf-8"))
        newer = int(found["format"]) > FORMAT
    except OSError as error:
        raise UsageError(f"there is no batch in {folder}: {BATCH}: {error.strerror}") from None
    except (ValueError, LookupError, TypeError):
        raise UsageError(f"the batch in {folder} cannot be read: {BATCH} is damaged") from None
    if newer:
        raise UsageError(f"a newer version of kgot wrote the batch in {folder}", hint="pip install -U kgot-core")
    return dict(found)


def write_batch(folder: Path, batch: Mapping[str, Any]) -> None:
    """Writes what is to be known of a batch."""
    write_whole(folder / BATCH, json.dumps(batch, ensure_ascii=False, indent=2) + "\n")


def refuse_other_folder(folder: Path) -> None:
    """Refuses a folder that holds something else than a batch.

    Raises:
        UsageError: It does, or it is a file.
    """
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{folder} is a file, and no folder for a batch", hint=FOLDER_HINT)
    if folder.is_dir() and not is_batch(folder) and any(folder.iterdir()):
        raise UsageError(f"the folder {folder} is not empty, and no batch is in it", hint=FOLDER_HINT)
