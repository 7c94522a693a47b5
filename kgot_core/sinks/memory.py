"""Keeps records in memory: for a replay, a notebook or a test."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kgot_core.contracts.sink import Sink


class MemorySink(Sink):
    """Collects records in ``records``, oldest first."""

    def __init__(self) -> None:
        self.records: list[Mapping[str, Any]] = []

    def emit(self, record: Mapping[str, Any]) -> None:
        """Keeps one record."""
        self.records.append(record)

    def resumed(self, records: Sequence[Mapping[str, Any]]) -> None:
        """Keeps what was recorded before the run went on."""
        self.records.extend(records)


class LastSink(Sink):
    """Keeps the last record of a kind in ``record``.

    Args:
        kind: The kind.
    """

    def __init__(self, kind: str) -> None:
        self.record: Mapping[str, Any] | None = None
        self._kind = kind

    def emit(self, record: Mapping[str, Any]) -> None:
        """Keeps the record where it is of the kind."""
        if record["kind"] == self._kind:
            self.record = record
