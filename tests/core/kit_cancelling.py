"""Runs that are cancelled at a place, for the tests of cancelling."""

from __future__ import annotations

import asyncio
import contextlib
import json
import runpy
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kgot_core.run.record.folder import read_records

_story = runpy.run_path(str(Path(__file__).parents[1] / "fixtures" / "library" / "story.py"))
QUESTION = _story["QUESTION"]

SECONDS = 5.0


class Stuck:
    """Stops a model's reply until the run is cancelled, and tells that it did."""

    def __init__(self) -> None:
        self.reached = asyncio.Event()

    async def __call__(self, prompt: str) -> str:
        self.reached.set()
        await asyncio.Event().wait()
        raise AssertionError("a cancelled request went on")


def _children() -> set[str]:
    found = set()
    for task in Path("/proc/self/task").glob("*/children"):
        with contextlib.suppress(OSError):
            for child in task.read_text().split():
                found.add(Path(f"/proc/{child}/comm").read_text().strip())
    return {name for name in found if name in ("bwrap", "monty")}


@pytest.fixture(autouse=True)
def nothing_is_left() -> Iterator[None]:
    """Waits until every thread and process that a run started has ended."""
    before = set(threading.enumerate())
    yield
    for thread in set(threading.enumerate()) - before:
        if thread.name.startswith("kgot-"):
            thread.join(SECONDS)
            assert not thread.is_alive(), f"{thread.name} is still there"
    assert _children() == set()


async def cancelled(session: Any, reached: asyncio.Event, folder: Path, **options: Any) -> list[dict[str, Any]]:
    """Cancels a run once it has reached a place, and gives its record."""
    running = asyncio.create_task(session.solve(QUESTION, folder=folder, **options))
    await asyncio.wait_for(reached.wait(), 30)
    running.cancel()
    done, _ = await asyncio.wait({running}, timeout=SECONDS)
    assert done, "the run goes on"
    with pytest.raises(asyncio.CancelledError):
        running.result()
    records = list(read_records(folder))
    assert records[-1]["kind"] == "run_finished"
    assert records[-1]["answer"]["status"] == "cancelled"
    assert json.loads((folder / "answer.json").read_text()) == records[-1]["answer"]
    return records
