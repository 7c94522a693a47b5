"""Files of one JSON object a line that grow while others read them, and files that are replaced as a whole."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from kgot_core.run.record.whole import write_whole as write_whole


def to_lines(rows: Iterable[Mapping[str, Any]]) -> str:
    """Gives rows as JSON lines."""
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


class Appender:
    """Appends rows to a file; what was torn when it was broken off stays behind as a line of its own.

    Args:
        path: The file; made where it is not there.

    Raises:
        OSError: It cannot be written.
    """

    def __init__(self, path: Path) -> None:
        self._file = path.open("ab+")
        if self._file.tell():
            self._file.seek(-1, os.SEEK_END)
            if self._file.read(1) != b"\n":
                self._file.write(b"\n")

    def append(self, row: Mapping[str, Any]) -> None:
        """Appends a row, in one piece.

        Raises:
            OSError: The disk is full.
        """
        self._file.write(json.dumps(row, ensure_ascii=False, separators=(",", ":")).encode() + b"\n")
        self._file.flush()

    def close(self) -> None:
        """Closes the file. Idempotent."""
        self._file.close()


class Tail:
    """Reads on in a file of JSON lines: each call gives the rows that have come since the last one.

    A line that is none is passed over: it was torn when its writer was killed.

    Args:
        path: The file, which need not be there yet.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._place = 0

    def rows(self) -> list[dict[str, Any]]:
        """Gives the new rows; of a line that is still being written nothing."""
        try:
            with self._path.open("rb") as file:
                file.seek(self._place)
                data = file.read()
        except OSError:
            return []
        whole = data[: data.rfind(b"\n") + 1]
        self._place += len(whole)
        return [row for line in whole.split(b"\n") if (row := _row(line)) is not None]


def read_lines(path: Path) -> list[dict[str, Any]]:
    """Gives all rows of a file; none where there is no file."""
    return Tail(path).rows()


def _row(line: bytes) -> dict[str, Any] | None:
    try:
        row = json.loads(line)
    except ValueError:
        return None
    return row if isinstance(row, dict) else None
