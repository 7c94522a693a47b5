"""A run that was broken off, reopened to go on."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from kgot_core.contracts.backend import GraphScope, OpenContext
from kgot_core.contracts.sink import Sink
from kgot_core.contracts.task import Answer, Task
from kgot_core.errors import UsageError
from kgot_core.events import CodeRan, Event, RunResumed, RunStarted, ToolCalled, from_record, to_fields
from kgot_core.plugins import PluginRegistry
from kgot_core.run.broken_off import final_answer, superseded
from kgot_core.run.concurrency.threads import in_thread
from kgot_core.run.desks.files import FileShelf
from kgot_core.run.ending import answer_from_json
from kgot_core.run.given import GivenGraph
from kgot_core.run.lifecycle import run_task, started
from kgot_core.run.parts import Parts
from kgot_core.run.record.folder import ANSWER, RunWriter, read_records
from kgot_core.run.record.journal import Journal, unicode_text
from kgot_core.run.record.restoring import FORCE
from kgot_core.sandboxes.files import safe_form
from kgot_core.session.changes import changes
from kgot_core.session.started import read_start


@dataclass(frozen=True)
class Ready:
    """What a run needs to go on.

    Attributes:
        task: The task.
        files: Its attachments by their names in the run.
        versions: Versions by package, now.
        changed: What has changed and was let pass.
        force: Recorded answers stay, also where something else would be asked now.
    """

    task: Task
    files: Mapping[str, Path]
    versions: Mapping[str, str]
    changed: tuple[str, ...]
    force: bool


class BrokenRun:
    """The run in a folder; this process holds it until it is closed.

    Args:
        writer: Writes on into the folder.
        records: What is recorded.
        redact: Takes secrets out of a text.

    Attributes:
        answer: The answer of a run that is at its end for good; ``None`` where it may go on.

    Raises:
        UsageError: The record has no beginning.
    """

    def __init__(self, writer: RunWriter, records: Sequence[Mapping[str, Any]], redact: Callable[[str], str]) -> None:
        self.folder = writer.folder
        self._writer = writer
        self._records = records
        self._redact = redact
        self._start = read_start(self.folder, records)
        self.run = str(records[0]["run"])
        known = final_answer(records)
        self.answer = None if known is None else answer_from_json(known, self.folder)
        if known is not None and not (self.folder / ANSWER).exists():
            # It was killed between the last event and this file.
            writer.write_answer(known)

    @classmethod
    async def reopen(cls, folder: Path, redact: Callable[[str], str]) -> BrokenRun:
        """Takes the hold on a run's folder; may wait for a process on another host that held it.

        Raises:
            UsageError: There is no run that can be read, or it is still running.
        """
        left = threading.Event()
        held: list[RunWriter] = []

        def work() -> BrokenRun:
            # Nothing is touched that is no run.
            read_start(folder, list(read_records(folder)))
            writer, records = RunWriter.reopen(folder.absolute(), left.wait)
            held.append(writer)
            if left.is_set():
                writer.close()
            return cls(writer, records, redact)

        try:
            return await in_thread(work)
        except BaseException:
            left.set()
            for writer in held:
                writer.close()
            raise

    def ready(
        self,
        parts: Parts,
        question: str | None,
        attachments: Iterable[Path | str],
        registry: PluginRegistry,
        force: bool,
    ) -> Ready:
        """Finds the task once more, and what has changed since the run began.

        Raises:
            UsageError: An attachment is missing, or something that matters has changed and ``force`` is not set.
        """
        files = _attachments(self._start, attachments)
        paths = tuple(files.values())
        wanted = self._start.question if question is None else self._redact(unicode_text(question))
        shelf = FileShelf.named(files, self.folder / "files")
        plain = Journal(self.run, redact=self._redact).plain
        now = from_record(plain(to_fields(started(parts, Task(wanted, paths), shelf))))
        assert isinstance(now, RunStarted)
        changed = changes(self._start, now, registry)
        if changed and not force:
            told = "; ".join(changed)
            raise UsageError(f"since the run in {self.folder} began, this has changed: {told}", hint=FORCE)
        return Ready(Task(self._start.question, paths), files, now.versions, changed, force)

    async def go_on(self, ready: Ready, parts: Parts, sinks: Sequence[Sink], slot: str = "") -> Answer:
        """Goes on with the run to its end, in a slot that was leased for it.

        Raises:
            ReplayDiverged: It would ask something else than its record holds.
            asyncio.CancelledError: The run was cancelled; what it had is on disk.
        """
        journal = Journal(
            self.run, self._writer, sinks, self._records, "go on", strict=not ready.force, redact=self._redact
        )
        try:
            shelf = FileShelf.named(ready.files, self.folder / "files")
            events = [from_record(record) for record in self._records]
            shelf.find_made(_files(events, ToolCalled), _files(events, CodeRan))
            (self.folder / ANSWER).unlink(missing_ok=True)
            journal.go_on(
                RunResumed(versions=ready.versions, changed=ready.changed, superseded=superseded(self._records))
            )
            scope = GraphScope(parts.graph_name or self.run, parts.graph_mode)
            context = OpenContext(scope, parts.sandbox, self.folder, slot=slot, run=self.run)
            parts = replace(parts, given=_given(self._start, parts.given))
            return await run_task(parts, ready.task, shelf, self._start, journal, self._writer, context)
        finally:
            journal.close()

    def close(self) -> None:
        """Gives the folder back. Idempotent."""
        self._writer.close()


def _given(start: RunStarted, now: GivenGraph | None) -> GivenGraph | None:
    """Gives the graph that the run started from: what its record says of it, with its content where it is at hand."""
    recorded: Any = start.plan.get("graph")
    if not recorded:
        return None
    return now if now is not None and now.digest == recorded["digest"] else GivenGraph(**recorded)


def _attachments(start: RunStarted, given: Iterable[Path | str]) -> dict[str, Path]:
    """Finds the attachments by their names in the run; those given are where they have been moved to."""
    names = [str(item["name"]) for item in start.files]
    moved = {_name_in_run(Path(path).name, names): Path(path).absolute() for path in given}
    if unknown := moved.keys() - set(names):
        raise UsageError(f"this run has no attachment {min(unknown)}", hint=f"its attachments: {', '.join(names)}")
    found: dict[str, Path] = {}
    for item in start.files:
        name = str(item["name"])
        place = moved.get(name) or Path(str(item.get("path", "")))
        if not place.is_file():
            raise UsageError(
                f"the attachment {name} is not at {place} any more", hint=f"give it with --file .../{name}"
            )
        found[name] = place
    return found


def _name_in_run(name: str, names: Sequence[str]) -> str:
    return name if name in names else safe_form(name)


def _files(events: Iterable[Event | None], kind: type[ToolCalled | CodeRan]) -> list[str]:
    """Gives the files that events of a kind name, oldest first."""
    return [name for event in events if isinstance(event, kind) for name in event.files]
