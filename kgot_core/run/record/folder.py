"""A run on disk: ``events.jsonl`` written live, ``blobs.txt`` for long texts, ``answer.json`` at the end.

While the run goes on, ``running.json`` says who writes it.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any

from kgot_core.contracts.sink import Sink
from kgot_core.errors import KgotError, UsageError
from kgot_core.graph.values import JsonValue
from kgot_core.run.record import lease
from kgot_core.run.record.kept import BLOBS, EVENTS, MARK, read_kept

ANSWER = "answer.json"
LONG_TEXT = 400


class RunWriter(Sink):
    """Writes the records of one run into its folder; the journal gives it plain JSON without secrets.

    A text of more than 400 characters goes to the blob file once, however often it comes, and its place in the record
    holds ``{"@blob": [offset, length]}`` in bytes.

    Args:
        folder: A folder that does not exist yet.
    """

    def __init__(self, folder: Path) -> None:
        try:
            folder.mkdir(parents=True, exist_ok=False)
        except FileExistsError:
            raise UsageError(f"the run folder {folder} exists already", hint="name another with --out") from None
        except OSError as error:
            raise _no_folder(folder, error) from None
        self._open(folder)

    @classmethod
    def reopen(
        cls, folder: Path, wait: Callable[[float], object] = time.sleep
    ) -> tuple[RunWriter, list[dict[str, Any]]]:
        """Goes on with a run, without what was torn when it was broken off.

        Args:
            folder: The run's folder.
            wait: Waits some seconds, see :func:`kgot_core.run.record.lease.take`.

        Returns:
            The writer, and the records so far.

        Raises:
            UsageError: There is no run that can be read, it is still running, or the folder cannot be written.
        """
        read_kept(folder)
        writer = cls.__new__(cls)
        writer._open(folder, wait)
        try:
            return writer, writer._cut()
        except OSError as error:
            writer.close()
            raise _no_folder(folder, error) from None
        except BaseException:
            writer.close()
            raise

    def _open(self, folder: Path, wait: Callable[[float], object] = time.sleep) -> None:
        self.folder = folder
        self._places: dict[bytes, tuple[int, int]] = {}
        try:
            self._lease = lease.take(folder, wait)
            self._blobs: IO[bytes] = (folder / BLOBS).open("ab")
            self._events: IO[bytes] = (folder / EVENTS).open("ab")
            for place in (folder, folder.parent):
                _sync_folder(place)
        except OSError as error:
            raise _no_folder(folder, error) from None

    def _cut(self) -> list[dict[str, Any]]:
        """Cuts off what was torn, and learns where long texts stand."""
        kept = read_kept(self.folder)
        self._events.truncate(kept.events)
        if not kept.ended:
            self._events.write(b"\n")
        blobs = (self.folder / BLOBS).read_bytes()
        for offset, length in kept.texts:
            self._places[hashlib.sha256(blobs[offset : offset + length]).digest()] = (offset, length)
        self._blobs.truncate(max((offset + length + 1 for offset, length in kept.texts), default=0))
        self._blobs.seek(0, os.SEEK_END)
        return kept.records

    def emit(self, record: Mapping[str, JsonValue]) -> None:
        """Writes one record; its long texts are on the disk before it.

        Raises:
            KgotError: The disk is full, the folder has gone, or another process goes on with the run.
        """
        self._lease.check()
        before = self._blobs.tell()
        try:
            line = json.dumps(self._shorten(record), ensure_ascii=False, separators=(",", ":"))
            if self._blobs.tell() != before:
                self._blobs.flush()
                os.fsync(self._blobs.fileno())
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
            os.fsync(self._events.fileno())
        except OSError as error:
            raise _disk_error(self.folder, error) from None

    def write_answer(self, answer: Mapping[str, JsonValue]) -> None:
        """Writes ``answer.json`` in one step: it is there whole or not at all."""
        try:
            part = self.folder / f"{ANSWER}.part"
            with part.open("w", encoding="utf-8") as file:
                file.write(json.dumps(answer, ensure_ascii=False, indent=2) + "\n")
                file.flush()
                os.fsync(file.fileno())
            part.replace(self.folder / ANSWER)
            _sync_folder(self.folder)
        except OSError as error:
            raise _disk_error(self.folder, error) from None

    def close(self) -> None:
        """Closes the files and gives the folder back. Idempotent."""
        for file in (self._blobs, self._events):
            try:
                file.close()
            except OSError:
                # The failure to write was raised where it happened; here only the handle is given back.
                continue
        self._lease.release()

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
    yield from read_kept(folder).records


def _sync_folder(folder: Path) -> None:
    """Makes sure that the names in a folder are on the disk, where a folder can be opened for that."""
    if os.name == "posix":
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _no_folder(folder: Path, error: OSError) -> UsageError:
    return UsageError(f"cannot write the run to {folder}: {error.strerror}", hint="name another folder with --out")


def _disk_error(folder: Path, error: OSError) -> KgotError:
    return KgotError(
        f"cannot write to {folder}: {error.strerror or error}",
        hint="free some space or set runs_dir to another folder; what was written so far is kept",
    )
