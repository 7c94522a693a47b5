"""How a run ends: its outcome, whatever it was, becomes the last event, ``answer.json`` and the answer."""

from __future__ import annotations

import asyncio
import logging
import traceback
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, get_args

from kgot_core.contracts.strategy import Strategy
from kgot_core.contracts.task import NO_SOLUTION, Answer, Evidence, Outcome, Status, Usage
from kgot_core.errors import CapReached, KgotError, PluginError, StoreUnavailable
from kgot_core.events import RunFinished
from kgot_core.graph.values import JsonValue
from kgot_core.run.faults import said
from kgot_core.run.record.folder import RunWriter
from kgot_core.run.record.journal import Journal

log = logging.getLogger(__name__)


def checked(outcome: object, strategy: Strategy) -> Outcome:
    """Gives what a strategy gave, where it is an outcome.

    Raises:
        PluginError: It is none.
    """
    name = type(strategy).__name__
    if not isinstance(outcome, Outcome):
        raise PluginError(f"{name} gave a {type(outcome).__name__}, which is no outcome")
    if outcome.status not in get_args(Status):
        raise PluginError(f"{name} gave an outcome of the unknown status {outcome.status!r}")
    texts = (outcome.text, outcome.how, outcome.reason)
    if not all(isinstance(text, str) for text in texts) or not all(isinstance(e, Evidence) for e in outcome.evidence):
        raise PluginError(f"{name} gave an outcome whose text is no text, or whose evidence is none")
    if outcome.agreement is not None and not 0 <= outcome.agreement <= 1:
        raise PluginError(f"{name} gave an outcome whose agreement is not within 0 and 1")
    return outcome


def was_cancelled() -> bool:
    """Tells whether somebody outside cancelled the run; otherwise a plugin raised what only looks like it."""
    task = asyncio.current_task()
    return task is None or task.cancelling() > 0


def failure(journal: Journal, error: BaseException) -> Outcome:
    """Gives the end of a run that failed: a cause that kgot knows, or anything at all that a plugin raised."""
    if isinstance(error, CapReached):
        return Outcome(NO_SOLUTION, "no_solution", reason=f"stopped at {error}")
    if isinstance(error, StoreUnavailable):
        cause = f"{said(error)}; what was written so far is in the run's folder"
    elif isinstance(error, KgotError):
        cause = said(error)
    else:
        cause = f"unexpected {said(error)}"
        log.error("run %s failed: %s", journal.run, journal.redact("".join(traceback.format_exception(error))))
    return Outcome("The run failed", "failed", reason=cause)


def finish(journal: Journal, writer: RunWriter | None, outcome: Outcome) -> Answer:
    """Records how the run ended, and gives it as its record says it."""
    folder = writer.folder if writer else None
    answer = Answer(
        text=outcome.text,
        status=outcome.status,
        how=outcome.how,
        value=outcome.value,
        reason=outcome.reason,
        evidence=outcome.evidence,
        iterations=outcome.iterations,
        agreement=outcome.agreement,
        usage=journal.usage,
        run=journal.run,
        folder=folder,
    )
    try:
        recorded: Any = journal.emit("", RunFinished(answer=answer_to_json(answer)))["answer"]
        if writer is not None:
            writer.write_answer(recorded)
        return answer_from_json(recorded, folder)
    except KgotError as error:  # the disk is full: the caller learns it, with the answer if there was one
        return replace(answer, status="failed", reason=journal.redact(said(error)))


def answer_to_json(answer: Answer) -> dict[str, JsonValue]:
    """Gives an answer as ``answer.json`` and ``--json`` show it; the run's folder is not part of it."""
    return {
        "run": answer.run,
        "status": answer.status,
        "text": answer.text,
        "value": answer.value,
        "how": answer.how,
        "reason": answer.reason,
        "iterations": answer.iterations,
        "agreement": answer.agreement,
        "evidence": [_evidence_to_json(item) for item in answer.evidence],
        "usage": asdict(answer.usage),
        "cost": answer.cost,
    }


def _evidence_to_json(item: Evidence) -> dict[str, JsonValue]:
    return {**asdict(item), "sources": list(item.sources), "unsupported": list(item.unsupported)}


def answer_from_json(data: Mapping[str, Any], folder: Path | None = None) -> Answer:
    """Reads an answer from its JSON form."""
    return Answer(
        text=data["text"],
        status=data["status"],
        how=data["how"],
        value=data["value"],
        reason=data["reason"],
        evidence=tuple(
            Evidence(
                item["element"],
                item["text"],
                tuple(item["sources"]),
                item["iteration"],
                tuple(item.get("unsupported", ())),
            )
            for item in data["evidence"]
        ),
        iterations=data["iterations"],
        agreement=data.get("agreement"),
        usage=Usage(**data["usage"]),
        run=data["run"],
        folder=folder,
    )
