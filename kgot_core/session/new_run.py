"""The id of a new run, and where its folder may be."""

from __future__ import annotations

import secrets
import time
from pathlib import Path

from kgot_core.errors import UsageError
from kgot_core.run.record.kept import EVENTS


def new_id() -> str:
    """Gives a run id that sorts by time and is unique without asking anybody."""
    seconds, rest = divmod(time.time_ns(), 1_000_000_000)
    return f"{time.strftime('%Y%m%d-%H%M%S', time.localtime(seconds))}-{rest // 1_000_000:03d}{secrets.token_hex(2)}"


def refuse_run_folder(folder: Path) -> None:
    """Refuses to put runs into the folder of one.

    Raises:
        UsageError: It is one.
    """
    if (folder / EVENTS).exists():
        raise UsageError(
            f"{folder} is the folder of a run, and would hold another", hint="name the folder that holds the runs"
        )
