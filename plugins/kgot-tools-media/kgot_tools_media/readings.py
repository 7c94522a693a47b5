"""What was read of files, so that the runs of a batch read a folder of documents once and not once each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

Messages: TypeAlias = Sequence[Mapping[str, Any]]
State: TypeAlias = tuple[str, int, int]


class Readings:
    """Messages of the readers by file; those of a file that has changed since are not given."""

    def __init__(self) -> None:
        self._read: dict[str, tuple[State, Messages]] = {}

    def of(self, path: Path) -> Messages | None:
        """Gives what was read of a file as it is now."""
        state, messages = self._read.get(str(path), (None, ()))
        return messages if state is not None and state == state_of(path) else None

    def keep(self, path: Path, state: State | None, messages: Messages) -> None:
        """Keeps what was read of a file.

        Args:
            path: The file.
            state: Its state before it was read.
            messages: What the reader said.
        """
        if state is not None:
            self._read[str(path)] = state, messages


def state_of(path: Path) -> State | None:
    """Gives what changes with a file's content: when it was written, and its size; ``None`` where it is gone."""
    try:
        found = path.stat()
    except OSError:
        return None
    return str(path.resolve()), found.st_mtime_ns, found.st_size
