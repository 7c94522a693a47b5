"""What a run's folder holds: its records, long texts put back, and where they stand in its files."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kgot_core.errors import UsageError
from kgot_core.events import SCHEMA_VERSION

EVENTS = "events.jsonl"
BLOBS = "blobs.txt"
MARK = "@blob"
_LINE = re.compile(rb"[^\n]*\n|[^\n]+")


@dataclass
class Kept:
    """What a run's folder holds.

    Attributes:
        records: The records, oldest first.
        events: Bytes of the lines that are whole.
        ended: The last of them ends with a line break.
        texts: Places of long texts in the blob file: offset and length.
    """

    records: list[dict[str, Any]] = field(default_factory=list)
    events: int = 0
    ended: bool = True
    texts: set[tuple[int, int]] = field(default_factory=set)


def read_kept(folder: Path) -> Kept:
    """Reads a run's folder. A torn last line is dropped.

    Raises:
        UsageError: There is no run in the folder, it is damaged before its end, or a newer version wrote it.
    """
    path, kept = folder / EVENTS, Kept()
    if not path.is_file():
        raise UsageError(f"there is no run in {folder}", hint="kgot runs lists the runs")
    try:
        # Events first: a long text is written before the event that holds it.
        lines = _LINE.findall(path.read_bytes())
        blobs = (folder / BLOBS).read_bytes() if (folder / BLOBS).exists() else b""
    except OSError as error:
        raise UsageError(f"the run in {folder} cannot be read: {error.strerror}") from None
    last = max((number for number, line in enumerate(lines, start=1) if line.strip()), default=0)
    for number, line in enumerate(lines[:last], start=1):
        texts: set[tuple[int, int]] = set()
        try:
            record = _restore(json.loads(line), blobs, texts) if line.strip() else {"kind": ""}
            newer = record["kind"] == "run_started" and int(record.get("schema", 0)) > SCHEMA_VERSION
        except (ValueError, LookupError, TypeError, RecursionError) as error:
            if number == last:
                break
            raise UsageError(f"{path} is damaged at line {number}: {error}") from None
        if newer:
            raise UsageError(
                f"the run in {folder} was written by a newer version (format {record['schema']})",
                hint="update kgot-core",
            )
        kept.records += [record] if line.strip() else []
        kept.texts |= texts
        kept.events += len(line)
        kept.ended = line.endswith(b"\n")
    return kept


def _restore(value: Any, blobs: bytes, texts: set[tuple[int, int]]) -> Any:
    """Puts long texts back, and notes their places in ``texts``."""
    if isinstance(value, dict):
        if value.keys() == {MARK} and isinstance(value[MARK], dict):
            return {MARK: _restore(value[MARK]["data"], blobs, texts)}
        if value.keys() == {MARK}:
            offset, length = value[MARK]
            data = blobs[offset : offset + length]
            if len(data) != length:
                raise ValueError("a long text is missing")
            texts.add((offset, length))
            return data.decode()
        return {name: _restore(item, blobs, texts) for name, item in value.items()}
    if isinstance(value, list):
        return [_restore(item, blobs, texts) for item in value]
    return value
