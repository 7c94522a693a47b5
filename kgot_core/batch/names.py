"""A folder name for each task, whatever its id is."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping

LONGEST = 80
_SAFE = re.compile(rf"[A-Za-z0-9][A-Za-z0-9_.-]{{0,{LONGEST - 1}}}")
_ENDINGS = (".json", ".jsonl", ".part", ".tmp", ".")
# Names of devices on Windows, whatever follows a dot.
_DEVICES = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)


def folder_names(ids: Iterable[str], known: Mapping[str, str] | None = None) -> dict[str, str]:
    """Gives each task a folder name: its id where that is one, else a readable part of it with a digest.

    Names differ by more than case, since not every file system tells cases apart.

    Args:
        ids: Distinct ids.
        known: Names that were given before, by id; they stay.
    """
    names = dict(known or {})
    taken = {name.casefold() for name in names.values()}
    for task in ids:
        if task not in names:
            names[task] = next(name for name in _candidates(task) if name.casefold() not in taken)
            taken.add(names[task].casefold())
    return names


def _candidates(task: str) -> Iterable[str]:
    if _SAFE.fullmatch(task) and not task.lower().endswith(_ENDINGS) and not _DEVICES.fullmatch(task):
        yield task
    digest = hashlib.sha256(task.encode("utf-8", "surrogatepass")).hexdigest()
    readable = re.sub(r"[^A-Za-z0-9]+", "-", task[: LONGEST // 2]).strip("-") or "task"
    for length in range(12, len(digest) + 1):
        yield f"{readable}-{digest[:length]}"
