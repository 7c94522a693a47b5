"""Runs a recorded run again, from its record alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from kgot_core.contracts.backend import GraphScope, OpenContext
from kgot_core.contracts.sink import Sink
from kgot_core.contracts.task import Answer, Task
from kgot_core.errors import ReplayDiverged
from kgot_core.plugins import PluginRegistry
from kgot_core.run.desks.files import FileShelf
from kgot_core.run.lifecycle import run_task
from kgot_core.run.record.folder import read_records
from kgot_core.run.record.journal import Journal
from kgot_core.session.opening import recorded_parts
from kgot_core.session.started import read_start
from kgot_core.settings import Settings


async def replay_run(
    registry: PluginRegistry, folder: Path, *, env: Mapping[str, str], sinks: Sequence[Sink] = ()
) -> Answer:
    """Runs a recorded run again without model, tool, store or network, in memory.

    Args:
        registry: The plugins; only solver, strategy and voters are taken from it.
        folder: The run's folder.
        env: The environment, for the settings' form; no secret is read.
        sinks: Who is told of the events; they are closed at the end.

    Raises:
        ReplayDiverged: The run would now ask something else than its record holds.
        RecordEnds: It would ask more than its record holds, as that of a cancelled run does.
        UsageError: There is no readable run in the folder.
    """
    records = list(read_records(folder))
    start = read_start(folder, records)
    settings = Settings.from_json(start.plan["settings"], env=env)  # type: ignore[arg-type]
    parts = recorded_parts(registry, settings, start.plan)
    if parts.prompts.digest != start.prompts:
        raise ReplayDiverged("the prompts have changed since this run, so it cannot be repeated from its record")
    task = Task(start.question, tuple(Path(_name(item)) for item in start.files))
    files = FileShelf.recorded([_name(item) for item in start.files])
    if any(record["kind"] == "run_resumed" and record["changed"] for record in records):
        raise ReplayDiverged("the run went on although something had changed, so it cannot be repeated from its record")
    journal = Journal(records[0]["run"], None, sinks, records, mode="repeat")
    context = OpenContext(GraphScope(records[0]["run"], parts.graph_mode), parts.sandbox)
    try:
        return await run_task(parts, task, files, start, journal, None, context)
    finally:
        journal.close()


def _name(item: Mapping[str, Any]) -> str:
    return str(item["name"])
