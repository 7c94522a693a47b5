"""Turns the rows of a task file into tasks, and names every row that is none."""

from __future__ import annotations

import difflib
import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kgot_core.batch.task_files import Row

FIELDS = ("id", "question", "files", "answer", "level", "meta")


@dataclass(frozen=True)
class GivenTask:
    """A task as its file gives it.

    Attributes:
        id: Its name within the batch.
        question: Its question.
        files: Absolute paths of its attachments.
        truth: What only scoring may see: ``answer``, ``level`` and ``meta``, as far as they are given.
    """

    id: str
    question: str
    files: tuple[str, ...] = ()
    truth: Mapping[str, Any] = field(default_factory=dict)

    @property
    def digest(self) -> str:
        """Tells the task from another of the same id: 16 hexadecimal digits of question and names of files."""
        asked = json.dumps([self.question, [Path(path).name for path in self.files]])
        return hashlib.sha256(asked.encode()).hexdigest()[:16]


def check_rows(rows: Iterable[Row], folder: Path) -> tuple[list[GivenTask], list[str]]:
    """Checks the rows of a task file.

    Args:
        rows: The rows.
        folder: Where relative paths of attachments start.

    Returns:
        The tasks of the rows that are good, and what is wrong with each of the others, after its place.
    """
    tasks: list[GivenTask] = []
    problems: list[str] = []
    places: dict[str, str] = {}
    for row in rows:
        found = [row.problem] if row.problem else list(_problems(row.data, folder))
        name = _text(row.data.get("id"))
        if name and name in places:
            found.append(f"the id {name[:60]!r} is that of {places[name]} too")
        places.setdefault(name, row.place)
        problems += [f"{row.place}: {problem}" for problem in found]
        if not found:
            tasks.append(_task(name, row.data, folder))
    return tasks, problems


def _problems(data: Mapping[str, Any], folder: Path) -> Iterable[str]:
    for name in sorted(data.keys() - set(FIELDS)):
        if near := difflib.get_close_matches(name.lower(), FIELDS, n=1, cutoff=0.75):
            yield f"there is no field {name!r}: did you mean {near[0]!r}?"
    if not _text(data.get("id")):
        yield "no id"
    if not isinstance(question := data.get("question"), str) or not question.strip():
        yield "no question"
    files = data.get("files") or []
    if not isinstance(files, list) or not all(isinstance(path, str) for path in files):
        yield "files is not a list of paths"
        return
    for path in files:
        if not (folder / path).is_file():
            yield f"the file {path} is not there ({folder / path})"


def _task(name: str, data: Mapping[str, Any], folder: Path) -> GivenTask:
    truth = {key: data[key] for key in ("answer", "level") if data.get(key) not in (None, "")}
    others = {key: value for key, value in data.items() if key not in FIELDS}
    given = data.get("meta") or {}
    meta = {**(given if isinstance(given, dict) else {"meta": given}), **others}
    files = tuple(str((folder / path).absolute()) for path in data.get("files") or [])
    return GivenTask(name, data["question"].strip(), files, {**truth, **({"meta": meta} if meta else {})})


def _text(value: Any) -> str:
    """Gives an id as text; numbers are ids too."""
    if isinstance(value, bool) or not isinstance(value, str | int):
        return ""
    return str(value).strip()
