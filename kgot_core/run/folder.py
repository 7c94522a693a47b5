"""A run on disk: ``events.jsonl`` written live, ``blobs.txt`` for long texts, ``answer.json`` at the end."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any

from kgot_core.contracts.sink import Sink
from kgot_core.errors import KgotError, UsageError
from kgot_core.events import SCHEMA_VERSION
from kgot_core.graph.values import JsonValue

EVENTS = "events.jsonl"
BLOBS = "blobs.txt"
ANSWER = "answer.json"
LONG_TEXT = 400
MARK = "@blob"


class RunWriter(Sink):
    """Writes the records of one run into its folder; the journal gives it plain JSON without secrets.

    A text of more than 400 characters goes to the blob file once, however often it comes, and its place in the record
    holds ``{"@blob": [offset, length]}`` in bytes.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._places: dict[bytes, tuple[int, int]] = {}
        try:
            folder.mkdir(parents=True, exist_ok=False)
            self._blobs: IO[bytes] = (folder / BLOBS).open("ab")
            self._events: IO[bytes] = (folder / EVENTS).open("ab")
        except FileExistsError:
            raise UsageError(f"the run folder {folder} exists already", hint="name another with --out") from None
        except OSError as error:
            raise UsageError(
                f"cannot write the run to {folder}: {error.strerror}", hint="name another folder with --out"
            ) from None

    def emit(self, record: Mapping[str, JsonValue]) -> None:
        """Writes one record.

        Raises:
            KgotError: The disk is full or the folder has gone.
        """
        try:
            line = json.dumps(self._shorten(record), ensure_ascii=False, separators=(",", ":"))
            self._blobs.flush()
            self._events.write(line.encode() + b"\n")
            self._events.flush()
        except OSError as error:
            raise _disk_error(self.folder, error) from None

    def sync(self) -> None:
        """Makes sure that all records are on the disk.

        Raises:
            KgotError: The disk is full or the folder has gone.
        """
        try:
            os.fsync(self._blobs.fileno())
            os.fsync(self._events.fileno())
        except OSError as error:
            raise _disk_error(self.folder, error) from None

    def write_answer(self, answer: Mapping[str, JsonValue]) -> None:
        """Writes ``answer.json`` in one step: it is there whole or not at all."""
        try:
            part = self.folder / f"{ANSWER}.part"
            part.write_text(json.dumps(answer, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
            part.replace(self.folder / ANSWER)
        except OSError as error:
            raise _disk_error(self.folder, error) from None

    def close(self) -> None:
        """Closes the files. Idempotent."""
        for file in (self._blobs, self._events):
            try:
                file.close()
            except OSError:
                # The failure to write was raised where it happened; here only the handle is given back.
                continue

    def _shorten(self, value: Any) -> Any:
        if isinstance(value, str):
            return self._blob(value) if len(value) > LONG_TEXT else value
        if isinstance(value, Mapping):
            found = {name: self._shorten(item) for name, item in value.items()}
            # Data may look like the place of a long text by chance, or by intent.
            return {MARK: {"data": found[MARK]}} if found.keys() == {MARK} else found
        if isinstance(value, list):
            return [self._shorten(item) for item in value]
        return value

    def _blob(self, text: str) -> dict[str, list[int]]:
        data = text.encode()
        digest = hashlib.sha256(data).digest()
        if digest not in self._places:
            self._places[digest] = (self._blobs.tell(), len(data))
            self._blobs.write(data + b"\n")
        return {MARK: list(self._places[digest])}


def read_records(folder: Path) -> Iterator[dict[str, Any]]:
    """Reads a run's records, long texts put back. A torn last line is dropped.

    Raises:
        UsageError: There is no run in the folder, it is damaged before its end, or a newer version wrote it.
    """
    path = folder / EVENTS
    if not path.is_file():
        raise UsageError(f"there is no run in {folder}", hint="kgot runs lists the runs")
    try:
        # Events first: a long text is written before the event that holds it.
        lines = [line for line in path.read_bytes().split(b"\n") if line.strip()]
        blobs = (folder / BLOBS).read_bytes() if (folder / BLOBS).exists() else b""
    except OSError as error:
        raise UsageError(f"the run in {folder} cannot be read: {error.strerror}") from None
    for number, line in enumerate(lines, start=1):
        try:
            record = _restore(json.loads(line), blobs)
            newer = record["kind"] == "run_started" and int(record.get("schema", 0)) > SCHEMA_VERSION
        except (ValueError, LookupError, TypeError, RecursionError) as error:
            if number == len(lines):
                return
            raise UsageError(f"{path} is damaged at line {number}: {error}") from None
        if newer:
            raise UsageError(
                f"the run in {folder} was written by a newer version (format {record['schema']})",
                hint="update kgot-core",
            )
        yield record


def _restore(value: Any, blobs: bytes) -> Any:
    if isinstance(value, dict):
        if value.keys() == {MARK} and isinstance(value[MARK], dict):
            return {MARK: _restore(value[MARK]["data"], blobs)}
        if value.keys() == {MARK}:
            offset, length = value[MARK]
            data = blobs[offset : offset + length]
            if len(data) != length:
                raise ValueError("a long text is missing")
            return data.decode()
        return {name: _restore(item, blobs) for name, item in value.items()}
    if isinstance(value, list):
        return [_restore(item, blobs) for item in value]
    return value


def _disk_error(folder: Path, error: OSError) -> KgotError:
    return KgotError(
        f"cannot write to {folder}: {error.strerror or error}",
        hint="free some space or set runs_dir to another folder; what was written so far is kept",
    )
