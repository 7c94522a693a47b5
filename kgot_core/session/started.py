"""How a run began, as its record says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from kgot_core.errors import UsageError
from kgot_core.events import RunStarted, from_record

Records = Sequence[Mapping[str, Any]]


def read_start(folder: Path, records: Records) -> RunStarted:
    """Gives a run's first event.

    Raises:
        UsageError: The record does not begin with one.
    """
    start = from_record(records[0]) if records else None
    if not isinstance(start, RunStarted) or not {"settings", "backend", "models", "sandbox"} <= start.plan.keys():
        raise UsageError(f"the run in {folder} has no beginning")
    return start
