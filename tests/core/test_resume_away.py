"""A run whose store went away while facts were written: it goes on once the store is back, or in another one."""

from __future__ import annotations

import asyncio
import runpy
from pathlib import Path
from typing import Any

import pytest

from kgot_core.contracts.backend import Call, GraphBackend, OpenContext
from kgot_core.errors import StoreUnavailable
from kgot_core.graph.elements import GraphChange
from kgot_core.testing.memory_backend import MemoryBackend

_story = runpy.run_path(str(Path(__file__).parents[1] / "fixtures" / "library" / "story.py"))
quick, opened, QUESTION, ANSWER, ENHANCE = (
    _story[name] for name in ("quick", "opened", "QUESTION", "ANSWER", "ENHANCE")
)
SOLVE = "SOLVE\nBoth.\n```facts\nFIND ?m\n(Hill: Alderkop) height_m = ?m\n```"


class Away(MemoryBackend):
    def apply(self, change: GraphChange, call: Call) -> None:
        raise StoreUnavailable("connection refused")


async def test_facts_that_found_no_store_are_written_when_the_run_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    slept = asyncio.sleep
    monkeypatch.setattr(asyncio, "sleep", lambda seconds: slept(0))
    kind: Any = Away

    def store(context: OpenContext) -> GraphBackend:
        made: GraphBackend = kind(context)
        return made

    def story() -> Any:
        decide = lambda prompt: SOLVE if "Alderkop" in prompt else ENHANCE  # noqa: E731 - what the story takes
        return quick(decide=decide, extract=_story["FACTS"])

    settings = {"extract.form": "facts"}
    async with opened(story(), settings, backend=store) as session:
        failed = await session.solve(QUESTION, folder=tmp_path / "run")
    assert failed.status == "failed" and "connection refused" in failed.reason
    kind = MemoryBackend
    again = story()
    async with opened(again, settings, backend=store) as session:
        answer = await session.resume(tmp_path / "run")
    assert (answer.status, answer.text) == ("answered", ANSWER)
    assert "extract" not in again.asked, "the reply that brought the facts is not asked for again"
