"""Reads task files: JSON lines, CSV and Parquet, each row with the place where it stands."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from kgot_core.errors import UsageError

SEPARATOR = ";"


@dataclass(frozen=True)
class Row:
    """A row of a task file.

    Attributes:
        place: Where it stands, for a message: ``line 3``.
        data: Its fields; empty where it could not be read.
        problem: Why it could not be read; empty where it could.
    """

    place: str
    data: Mapping[str, Any]
    problem: str = ""


def read_rows(path: Path) -> list[Row]:
    """Reads a task file; its ending tells its form.

    Raises:
        UsageError: It cannot be read at all, or has an unknown ending.
    """
    reader = _READERS.get(path.suffix.lower())
    if reader is None:
        raise UsageError(
            f"{path} is no task file that can be read", hint=f"its name ends with one of {', '.join(_READERS)}"
        )
    try:
        return list(reader(path.read_bytes()))
    except OSError as error:
        raise UsageError(f"the task file {path} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise UsageError(f"the task file {path} is not UTF-8 text (byte {error.start})") from None


def _json_lines(data: bytes) -> Iterator[Row]:
    for number, line in enumerate(data.removeprefix(b"\xef\xbb\xbf").split(b"\n"), start=1):
        if line.strip():
            yield _json_row(f"line {number}", line)


def _json_row(place: str, line: bytes) -> Row:
    try:
        found = json.loads(line)
    except UnicodeDecodeError:
        return Row(place, {}, "not UTF-8 text")
    except (ValueError, RecursionError) as error:
        return Row(place, {}, f"not JSON: {getattr(error, 'msg', 'nested too deeply')}")
    return Row(place, found) if isinstance(found, dict) else Row(place, {}, "not a JSON object")


def _csv(data: bytes) -> Iterator[Row]:
    csv.field_size_limit(2**31 - 1)  # a question may be as long as it likes
    reader = csv.reader(io.StringIO(data.decode("utf-8-sig"), newline=""), strict=True)
    head: list[str] | None = None
    while True:
        place = f"line {reader.line_num + 1}"
        try:
            cells = next(reader, None)
        except csv.Error as error:
            yield Row(place, {}, f"not CSV: {error}")
            return
        if cells is None:
            return
        if not any(cell.strip() for cell in cells):
            continue
        if head is None:
            head = [cell.strip() for cell in cells]
        elif len(cells) != len(head):
            yield Row(place, {}, f"{len(cells)} fields where the first line names {len(head)}")
        else:
            yield Row(place, _typed(dict(zip(head, cells, strict=True))))


def _typed(cells: Mapping[str, str]) -> dict[str, Any]:
    """Takes the text of cells for what it stands for: files are parted by ``;`` and meta is JSON."""
    row: dict[str, Any] = {name: text for name, text in cells.items() if text != ""}
    if "files" in row:
        row["files"] = [part.strip() for part in row["files"].split(SEPARATOR) if part.strip()]
    try:
        row["meta"] = json.loads(row.get("meta", "{}"))
    except ValueError:
        row["meta"] = {"meta": row["meta"]}
    return row


def _parquet(data: bytes) -> Iterator[Row]:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise UsageError("Parquet files need pyarrow", hint='pip install "kgot-core[parquet]"') from None
    try:
        rows = pyarrow.parquet.read_table(io.BytesIO(data)).to_pylist()
    except pyarrow.ArrowException as error:
        raise UsageError(f"the task file is not Parquet: {error}") from None
    for number, row in enumerate(rows, start=1):
        yield Row(f"row {number}", {name: value for name, value in row.items() if value is not None})


_READERS: Mapping[str, Callable[[bytes], Iterator[Row]]] = MappingProxyType(
    {".jsonl": _json_lines, ".ndjson": _json_lines, ".csv": _csv, ".parquet": _parquet}
)
